"""What an operator has seen of a pod that it has watched from the beginning."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from bernstein.core import pods

Object = dict[str, Any]


def seen(pod: Object | None, main: str) -> Object:
    """When an operator saw what, that was there all the time."""
    if pod is None:
        return {}
    meta, found = pod["metadata"], {c["type"]: c for c in pod["status"].get("conditions", ())}
    bound = found.get("PodScheduled", {}).get("lastTransitionTime")
    until = pods.parse_time(meta["deletionTimestamp"]) if pods.is_deleting(pod) else None
    grace = timedelta(seconds=meta.get("deletionGracePeriodSeconds") or 0)
    return {
        "bound_since": pods.parse_time(bound) if bound else None,
        "running_since": pods.running_since(pod, main),
        "ending_since": until - grace if until is not None else None,
    }
