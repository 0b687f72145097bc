"""How far a run is: a Job of ours with its pod, from the wish for it to its certain end.

    WANTED ──▶ SEEN ──▶ RUNNING ──┬──────────▶ ENDED   its containers have ended
                 │         │      │
                 └────┬────┘      │
                      ▼           │
                  ABANDONED ──────┼──────────▶ GONE    it has no pod, and gets none
                                  └──────────▶ LOST    it was told to end, and its node is silent

An abandoned run may still act, and another one must not take its place. Whatever a run is for, its
result is read only after ENDED, GONE or LOST, and nothing else asks its pod whether it is over.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum, auto

from bernstein.api.pod import FENCE
from bernstein.core import pods
from bernstein.core.jobs import JobView

LOST_SECONDS = 60
"""A node that has not ended a pod so long after the pod's grace is taken for dead."""


class State(Enum):
    WANTED = auto()
    """Its Job was not made yet, or is gone for certain."""
    SEEN = auto()
    RUNNING = auto()
    """Its main container runs."""
    ABANDONED = auto()
    """Told to end, by whomever."""
    ENDED = auto()
    GONE = auto()
    LOST = auto()


OVER = frozenset({State.ENDED, State.GONE, State.LOST})


def state(job: JobView | None, now: datetime) -> State:
    """How far the run is that this Job is for."""
    if job is None:
        return State.WANTED
    if job.refused is not None or is_fence(job):
        return State.GONE
    if job.pod is None:
        return _without_pod(job)
    found = _of_pod(job, job.pod, now)
    return State.ABANDONED if job.another and found in OVER else found


def _of_pod(job: JobView, pod: pods.Object, now: datetime) -> State:
    if job.pod_has_ended:
        return State.ENDED
    if pods.is_deleting(pod) or job.removed:
        return _told_to_end(job, pod, now)
    return State.RUNNING if pods.has_started(pod, job.main) else State.SEEN


def is_fence(job: JobView) -> bool:
    """Whether it only takes the name of a Job that must not be made any more."""
    return job.main == FENCE


def is_fenced(job: JobView) -> bool:
    """Whether a fence has its name; there may be a pod still of the Job that had it before."""
    return is_fence(job) or (job.orphan and job.fenced)


def is_over(job: JobView | None, now: datetime) -> bool:
    """Whether the run does nothing any more; a Job that was never made does nothing."""
    return job is None or state(job, now) in OVER


def is_overdue(job: JobView, now: datetime) -> bool:
    """Whether its node should have ended the pod long ago, so that it has to be abandoned."""
    if job.pod is None or job.removed or pods.is_deleting(job.pod) or job.pod_has_ended:
        return False
    spec = job.pod.get("spec", {})
    limit = spec.get("activeDeadlineSeconds")
    if job.bound_since is None or limit is None:
        return False
    grace = spec.get("terminationGracePeriodSeconds", 0)
    return now > job.bound_since + timedelta(seconds=limit + grace + LOST_SECONDS)


def may_have_pod(job: JobView) -> bool:
    """Whether only the API server can tell that an ended Job has no pod.

    Jobs and pods come from two streams: no pod in the cache is not yet no pod.
    """
    return job.pod is None and _has_ended(job) and not job.deleting and not job.no_pod


def _has_ended(job: JobView) -> bool:
    return job.complete or job.failed is not None


def _without_pod(job: JobView) -> State:
    if job.deleting or may_have_pod(job):
        return State.ABANDONED  # while a Job is being deleted, its pods go before it
    return State.GONE if _has_ended(job) else State.SEEN


def _told_to_end(job: JobView, pod: pods.Object, now: datetime) -> State:
    if not pods.is_scheduled(pod):
        return State.GONE  # a pod that is being deleted gets no node any more
    if job.ending_since is None:
        return State.ABANDONED
    grace = pod["metadata"].get("deletionGracePeriodSeconds") or 0
    until = job.ending_since + timedelta(seconds=grace + LOST_SECONDS)
    return State.LOST if now > until else State.ABANDONED
