"""How long Jobs take, as a metric."""

from __future__ import annotations

from collections.abc import Callable

from bernstein.core import labels
from bernstein.core.pods import parse_time
from bernstein.kube.resource import Object
from bernstein.observe.metrics import Metrics


def observer(metrics: Metrics) -> Callable[[Object | None, Object | None], None]:
    """A handler for the Jobs' informer: counts each Job once, when it is seen to finish."""

    def handle(old: Object | None, new: Object | None) -> None:
        # A Job first seen finished was counted by an earlier process.
        if old is None or new is None or _end(old) is not None:
            return
        end = _end(new)
        begun = new.get("status", {}).get("startTime")
        if end is None or begun is None:
            return
        meta = new["metadata"]
        kind = meta.get("labels", {}).get(labels.JOB, "")
        result, at = end
        seconds = (parse_time(at) - parse_time(begun)).total_seconds()
        metrics.job_finished(meta["namespace"], kind, result, seconds)

    return handle


def _end(job: Object) -> tuple[str, str] | None:
    """Result and time of a Job that has finished."""
    for condition in job.get("status", {}).get("conditions", ()):
        if condition.get("status") == "True" and condition["type"] in ("Complete", "Failed"):
            result = "succeeded" if condition["type"] == "Complete" else "failed"
            return result, condition["lastTransitionTime"]
    return None
