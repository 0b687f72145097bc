"""How a Plan begins: a ref for its work is made in each repository that it works in.

Asks ──▶ Next: its turn ──▶ the Job is at work ──┬──▶ begun there; all are: Running
  ▲                                              │
  └───────── another repository, or it failed ◀──┘
"""

from __future__ import annotations

from datetime import datetime

from bernstein.api.integration import Integration, RepositoryStatus
from bernstein.api.plan import ASKS, NEXT, Plan, PlanStatus
from bernstein.api.pod import BEGIN
from bernstein.api.programs.merge import BeginResult
from bernstein.api.project import Project
from bernstein.api.projects.repository import Repository
from bernstein.api.reasons import Reason
from bernstein.api.waiting import Waiting, WaitReason
from bernstein.core import names
from bernstein.core.actions import InRepository, PlanDecision, RunBegin, RunFence
from bernstein.core.delivery.job_result import Unfinished, job_of, result_of
from bernstein.core.delivery.retry import tried_again
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS
from bernstein.core.projects import repositories
from bernstein.core.sanitise import without_quotes
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.waiting import (
    goes_on,
    is_held,
    is_mended,
    is_stalled,
    is_trying,
    seconds_left,
    trying,
    waits,
    waits_for_jobs,
)


def step(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """One look at the Job that makes the integration ref, of one repository after another."""
    project, plan = snapshot.project, snapshot.plan
    assert project is not None
    leads, follows = not snapshot.resting, snapshot.follows
    seconds = seconds_left(status.waiting, project, now, leads=leads, follows=follows)
    if seconds is not None:
        return PlanDecision(status, (), seconds)
    number = status.jobs if _is_asked_for(status) else status.jobs + 1
    name = names.plan_job(plan.metadata.name, BEGIN, number)
    found = _place(plan, project, status)
    if found is None:
        return PlanDecision(_no_repository(plan, project, status, now))
    repository, place, status = found
    integration = names.integration_ref(plan.metadata.uid, place)
    target = names.branch_ref(repository.branch)
    if status.beginning != NEXT and name not in snapshot.jobs:
        return PlanDecision(_asks(status, project, now))
    foreign = _met_foreign(status.waiting)
    status = trying(status, project).model_copy(update={"jobs": number, "phase": "Starting"})
    job = job_of(snapshot.jobs, name, status.abandoned, now)
    if job is None:
        again = number > 0 and not foreign and (place is None or _may_have_pushed(status))
        run = RunBegin(name, target, integration, again)
        is_one = not status.repositories
        return PlanDecision(status, (run if is_one else InRepository(repository.name, run),))
    result = result_of(BeginResult, job, BEGIN, status.abandoned, snapshot.late, now)
    if isinstance(result, Unfinished):
        status = status.model_copy(update={"abandoned": result.abandoned})
        status = waits_for_jobs(status, (job,), now)
        return PlanDecision(status, result.actions, LOOK_AGAIN_SECONDS)
    status = status.model_copy(update={"abandoned": None, "beginning": None})
    if isinstance(result, Diagnosis):
        text = without_quotes(result.message, f"`kubectl logs job/{name}`")
        problem, resting = Diagnosis(result.reason, text), snapshot.resting
        tried = tried_again(status, problem, project, now, resting=resting)
        if tried.waiting is status.waiting:
            tried = goes_on(tried).model_copy(update={"jobs": number + 1})
        return PlanDecision(tried)
    if result.integration != integration and place is None:
        integration = names.old_integration_ref(plan.metadata.uid)
    per = project.spec.merge.delivers(plan.spec.merge)
    several = len(project.spec.repositories) > 1
    begun = Integration(
        repository=repository.name if several else None,
        ref=integration,
        target=target,
        target_sha=result.target_sha,
        since=now,
        per="Task" if per == "Task" else None,
        place=place,
    )
    return PlanDecision(_begun(goes_on(status), begun, number))


def _asks(status: PlanStatus, project: Project, now: datetime) -> PlanStatus:
    """The status of a Plan that asks for its turn to begin.

    Who needs a person goes on to say so until it is tried again.
    """
    status = status.model_copy(update={"phase": "Starting", "beginning": ASKS})
    if status.waiting is not None and is_stalled(status) and not is_mended(status.waiting, project):
        return status
    text = "its turn to begin: a few Plans of the Project do so at once, the oldest first"
    return waits(status, WaitReason.BEGIN_QUEUE, text, now)


def _place(
    plan: Plan, project: Project, status: PlanStatus
) -> tuple[Repository, int | None, PlanStatus] | None:
    """Where the next ref is made: the repository, its place among several, and the status with all
    of them. None: the Project has no such repository any more."""
    if not status.repositories:
        # As its Tasks were made, whatever has become of the Project since.
        several = dict.fromkeys(row.repository for row in status.tasks if row.repository)
        if not several:
            its = repositories.of_plan(plan, project)
            return None if its is None else (its, None, status)
        rows = tuple(RepositoryStatus(name=name) for name in several)
        status = status.model_copy(update={"repositories": rows})
    place, row = next((n, r) for n, r in enumerate(status.repositories) if r.integration is None)
    found = repositories.find(project.spec, row.name)
    return None if found is None else (found, place or None, status)


def _no_repository(plan: Plan, project: Project, status: PlanStatus, now: datetime) -> PlanStatus:
    """It has changed since the Plan was found to be valid."""
    gone = next((row.name for row in status.repositories if row.integration is None), None)
    said = gone or next((each.path for each in plan.spec.repos), "")
    text = f"the Project has no repository {repositories.unknown(project.spec, said)}"
    pending = status.model_copy(update={"phase": "Pending"})
    return waits(pending, Reason.REPOSITORY_NOT_FOUND, text, now, needs_person=True)


def _begun(status: PlanStatus, begun: Integration, number: int) -> PlanStatus:
    """The status of a Plan that has begun in one more of its repositories, or in all."""
    rows = list(status.repositories)
    if rows:
        place = begun.place or 0
        rows[place] = rows[place].model_copy(
            update={"integration": begun, "jobs": 0 if place else number}
        )
    left = any(row.integration is None for row in rows)
    update = {
        "repositories": tuple(rows),
        "infrastructure_failures": 0,
        "phase": "Starting" if left else "Running",
        "jobs": number + 1 if left else number,
        "integration": None if left else rows[0].integration if rows else begun,
    }
    return status.model_copy(update=update)


def _may_have_pushed(status: PlanStatus) -> bool:
    """Whether a Job before may have made the ref without a word of it."""
    return status.infrastructure_failures > 0 or is_trying(status)


def fences(snapshot: PlanSnapshot, status: PlanStatus) -> tuple[RunFence, ...]:
    """For the Job that a request on its way may still make."""
    job = names.plan_job(snapshot.plan.metadata.name, BEGIN, status.jobs)
    is_asked_for = status.expanded and _is_asked_for(status) and job not in snapshot.jobs
    return (RunFence(job),) if is_asked_for else ()


def _met_foreign(waiting: Waiting | None) -> bool:
    """Whether what failed last is that somebody else had made the ref."""
    if waiting is None:
        return False
    tried = waiting.tried.reason if waiting.tried is not None else None
    return Reason.INTEGRATION_EXISTS in (waiting.reason, tried)


def _is_asked_for(status: PlanStatus) -> bool:
    """Whether the Job of the last number is to make the integration ref; else the next one is."""
    return is_trying(status) or not is_held(status)
