"""Jobs that move refs: how they ended, and whether they may have moved one.

One that does not get on is given up. It is judged once its run is over: until then it may still
move a ref, and no other one is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from bernstein.api.encoding import load
from bernstein.api.pod import LAND
from bernstein.api.reasons import Reason
from bernstein.api.waiting import Abandoned
from bernstein.core import diagnosis, pods, runs
from bernstein.core.actions import DeleteJobs, RunFence, give_up
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView, LateRequests, gone
from bernstein.core.pods import Object
from bernstein.core.reasons import policy
from bernstein.core.sanitise import text as sanitise
from bernstein.core.waiting import MESSAGE

T = TypeVar("T")


@dataclass(frozen=True)
class Unfinished:
    """Its run is not over: it is waited for."""

    abandoned: Abandoned | None
    """Why it is given up, to be remembered; None: it is not."""
    actions: tuple[RunFence | DeleteJobs, ...] = ()


def job_of(
    jobs: Mapping[str, JobView], name: str, abandoned: Abandoned | None, now: datetime
) -> JobView | None:
    """None: it is to be made. One that was given up is never made anew."""
    job = jobs.get(name)
    return gone(name, now) if job is None and abandoned is not None else job


def result_of(
    kind: type[T],
    job: JobView,
    program: str,
    abandoned: Abandoned | None,
    late: LateRequests,
    now: datetime,
) -> T | Diagnosis | Unfinished:
    """The program's result, or why it left none. `abandoned`: why it was given up, if it was.

    One that was given up is deleted. Where a late request may make it again, beside the next one, a
    fence takes its name first.
    """
    if not runs.is_over(job, now):
        why = abandoned or _to_abandon(job, now)
        gives_up = why is not None or job.another
        return Unfinished(why, give_up((job,)) if gives_up else ())
    end = _end_of(job, program, now)
    if isinstance(end, str):
        try:
            return load(kind, end)
        except ValueError as error:
            text = f"{program} left no result: {error}"
            end = Diagnosis(Reason.INFRASTRUCTURE_ERROR, text)
    if abandoned is None:
        return end
    if _may_come_again(job, late):
        return Unfinished(abandoned, (RunFence(job.name),) if job.is_name_free else ())
    return Diagnosis(abandoned.reason, abandoned.message)


def _may_come_again(job: JobView, late: LateRequests) -> bool:
    """Whether a request that had no answer makes the Job again once it is deleted."""
    return job.refused is None and not runs.is_fenced(job) and late.may_make(job.name)


def _to_abandon(job: JobView, now: datetime) -> Abandoned | None:
    problem = None
    if runs.state(job, now) is not runs.State.ABANDONED:
        problem = diagnosis.to_abandon(job, now)
    if problem is None:
        return None
    return Abandoned(reason=problem.reason, message=sanitise(problem.message, MESSAGE))


def _end_of(job: JobView, container: str, now: datetime) -> str | Diagnosis:
    """The container's termination message, or why there is none."""
    problem = diagnosis.without_end(job, now)
    if problem is not None:
        return problem
    assert job.pod is not None
    return _message(job.pod, container)


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
