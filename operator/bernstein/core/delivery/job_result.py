"""Jobs that move refs: how they ended, and whether they may have moved one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from bernstein.api.encoding import load
from bernstein.api.pod import LAND
from bernstein.api.reasons import Reason
from bernstein.core import diagnosis, pods, runs
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.pods import Object
from bernstein.core.reasons import policy

T = TypeVar("T")


@dataclass(frozen=True)
class Stuck:
    """It does not get on: its pod is to be ended, and judged once it has ended."""

    problem: Diagnosis


def result_of(
    kind: type[T], job: JobView, program: str, now: datetime
) -> T | Diagnosis | Stuck | None:
    """The program's result, or why it left none; None while it is to be waited for."""
    end = _end_of(job, program, now)
    if not isinstance(end, str):
        return end
    try:
        return load(kind, end)
    except ValueError as error:
        return Diagnosis(Reason.INFRASTRUCTURE_ERROR, f"{program} left no result: {error}")


def _end_of(job: JobView, container: str, now: datetime) -> str | Diagnosis | Stuck | None:
    """The container's termination message, or why there is none."""
    match runs.state(job, now):
        case runs.State.ENDED:
            assert job.pod is not None
            return _message(job.pod, container)
        case runs.State.GONE | runs.State.LOST:
            return diagnosis.without_end(job, now)
        case runs.State.SEEN | runs.State.RUNNING:
            problem = diagnosis.to_abandon(job, now)
            return Stuck(problem) if problem is not None else None
        case _:
            return None


def _message(pod: Object, container: str) -> str | Diagnosis:
    problem = diagnosis.failure_of(pod, container)
    unexplained = problem is not None and problem.reason == Reason.INFRASTRUCTURE_ERROR
    cut_off = pods.is_disrupted(pod) or pods.is_deleting(pod)
    if problem is not None and not (unexplained and cut_off):
        return problem
    ended = pods.terminated(pod, container)
    if ended is None or problem is not None or pods.reason(pod):
        return Diagnosis(Reason.DISRUPTED, f"the {container} pod did not finish")
    return str(ended.get("message") or "")


def may_have_landed(job: JobView, problem: Diagnosis, now: datetime) -> bool:
    """Whether the Job may have pushed before it failed, so that the remote must be read again."""
    if policy(problem.reason).not_landed or job.refused is not None:
        return False
    if job.pod is None or runs.state(job, now) is runs.State.LOST:
        return True
    return pods.has_started(job.pod, LAND)
