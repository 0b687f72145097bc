"""What a Project's Jobs have in common of which there is one at a time for each repository, such as
the watch of pull requests; its probe skips names of others as they do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

from bernstein.api.encoding import load
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.core import diagnosis, labels, pods
from bernstein.core.actions import DeleteJobs
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.reasons.waits import longest_wait

_MOST_SKIPPED = 20
"""Names that others have, of which one decision goes on to the next."""
MOST_SECONDS = 3600
"""That one waits at most for the next Job."""
OUT_OF_REACH = (Reason.FORGE_GONE, Reason.PULL_REQUEST_MISSING)
"""Why a pull request stays open that no Job can be asked to close."""

T = TypeVar("T")


def is_its(project: Workplace, job: JobView) -> bool:
    """Whether the Job is, or was, at work in this repository."""
    name = job.labels.get(labels.REPOSITORY)
    return project.spec.place == 0 if name is None else name == project.spec.repository.name


def mark(project: Workplace) -> str | None:
    """The repository as names of its Jobs have it; None: it is the Project's first."""
    return project.spec.repository.name if project.spec.place else None


def seconds_left(until: datetime | None, now: datetime, reason: str | None = None) -> float:
    """Until the next Job; 0: it is time. A time that is too far away was set before the time of day
    went back: it is over. `reason`: why the last one could not; a forge may ask for much."""
    if until is None:
        return 0.0
    left = (until - now).total_seconds()
    most = max(longest_wait(reason), MOST_SECONDS) if reason is not None else MOST_SECONDS
    return left if left <= most else 0.0


def may_skip(jobs: Mapping[str, JobView], job: JobView) -> bool:
    """Whether another number is taken at once, since something of somebody else's has this name."""
    return job.taken and sum(each.taken for each in jobs.values()) <= _MOST_SKIPPED


def refused(job: JobView, message: str) -> Diagnosis:
    """Why there is no such Job."""
    return Diagnosis(Reason.NAME_CONFLICT if job.taken else Reason.POD_REJECTED, message)


def all_but(name: str, jobs: Mapping[str, JobView]) -> tuple[DeleteJobs, ...]:
    """Deletes all but the Job of this name."""
    left = tuple(
        job
        for job in jobs.values()
        if job.name != name and not job.deleting and job.refused is None
    )
    return (DeleteJobs(left),) if left else ()


def result_of(kind: type[T], job: JobView, program: str, now: datetime) -> T | Diagnosis:
    """What the program of a Job that is over has told, or why it has told nothing."""
    problem = diagnosis.without_end(job, now)
    if problem is not None:
        return problem
    assert job.pod is not None
    failure = diagnosis.failure_of(job.pod, program)
    if failure is not None:
        return failure
    ended = pods.terminated(job.pod, program)
    try:
        return load(kind, (ended or {}).get("message") or "")
    except ValueError as error:
        return Diagnosis(Reason.INFRASTRUCTURE_ERROR, f"{program} left no result: {error}")
