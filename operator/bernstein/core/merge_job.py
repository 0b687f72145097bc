"""Jobs that move refs: how they ended, and whether they may have moved one."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from bernstein.api.pod import load
from bernstein.core import pods
from bernstein.core.pods import Diagnosis, JobView

T = TypeVar("T")

_NOT_LANDED = frozenset(
    {
        "BranchProtected",
        "CredentialRefused",
        "NotOnBase",
        "PushRejected",
        "RefMoved",
        "TreeMismatch",
    }
)
"""Failures that the land program reports only after it has seen that nothing landed."""


def result_of(kind: type[T], job: JobView, program: str, now: datetime) -> T | Diagnosis | None:
    """What the program left, why it left nothing, or None while the Job runs."""
    end = _end_of(job, program, now)
    if not isinstance(end, str):
        return end
    try:
        return load(kind, end)
    except ValueError as error:
        return Diagnosis("InfrastructureError", f"{program} left no result: {error}")


def _end_of(job: JobView, container: str, now: datetime) -> str | Diagnosis | None:
    if not job.ended:
        return pods.diagnose_waiting(job, now)
    if job.pod is None:
        return Diagnosis("PodLost", "the pod is gone")
    problem = pods.failure_of(job.pod, container)
    unexplained = problem is not None and problem.reason == "InfrastructureError"
    cut_off = pods.is_disrupted(job.pod) or pods.is_deleting(job.pod)
    if problem is not None and not (unexplained and cut_off):
        return problem
    ended = pods.terminated(job.pod, container)
    if ended is None or problem is not None or pods.reason(job.pod):
        return Diagnosis("Disrupted", f"the {container} pod did not finish")
    return str(ended.get("message") or "")


def may_have_landed(job: JobView, problem: Diagnosis) -> bool:
    """Whether only another look at the remote can tell: the Job may have pushed before it ended."""
    if problem.reason in _NOT_LANDED:
        return False
    return job.pod is None or pods.is_running(job.pod, "land")
