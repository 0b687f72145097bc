"""The span of a Job of ours: agent, check, merge and others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bernstein.core import labels
from bernstein.core.pods import parse_time
from bernstein.core.traces.span import Span, span, span_id


@dataclass(frozen=True)
class Owner:
    """Whom a Job is made for: a Plan, a Task or an AgentSession."""

    uid: str
    trace: bytes


def of_job(job: Mapping[str, Any], owner: Owner) -> list[Span]:
    """Its span, once it has finished; none where the Job itself never began, as a suspended one."""
    meta, status = job["metadata"], job.get("status") or {}
    end, begun = end_of(job), status.get("startTime")
    if end is None or begun is None:
        return []
    result, at, reason = end
    own = meta.get("labels", {})
    return [
        span(
            trace=owner.trace,
            of=span_id(meta["uid"]),
            parent=span_id(owner.uid),
            name=f"job {own.get(labels.JOB, '')}",
            start=parse_time(begun),
            end=parse_time(at),
            attributes={
                "k8s.namespace.name": meta["namespace"],
                "k8s.job.name": meta["name"],
                "bernstein.job": own.get(labels.JOB),
                "bernstein.check": own.get(labels.CHECK),
                "bernstein.repository": own.get(labels.REPOSITORY),
                "bernstein.project": own.get(labels.PROJECT),
            },
            error=None if result == "Complete" else reason or result,
        )
    ]


def end_of(job: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Complete or Failed, when, and why, of a Job that has finished."""
    for condition in (job.get("status") or {}).get("conditions", ()):
        if condition.get("status") == "True" and condition["type"] in ("Complete", "Failed"):
            return condition["type"], condition["lastTransitionTime"], condition.get("reason") or ""
    return None
