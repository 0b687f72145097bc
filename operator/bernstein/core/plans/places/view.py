"""A Plan that works in several repositories, as it is in one of them.

What is decided about one that works in a single repository is decided about each of these views.
What comes of it is put back: into the row of that repository, and into what all of them share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bernstein.api.delivery import PullRequest
from bernstein.api.integration import RepositoryStatus
from bernstein.api.meta import Condition, ConditionType
from bernstein.api.plan import Counts, Plan, PlanStatus
from bernstein.api.states import TaskState
from bernstein.core import labels, progress, runs
from bernstein.core.conditions import drop, find
from bernstein.core.jobs import JobView
from bernstein.core.snapshot import PlanSnapshot

_OWN = (
    *("integration", "verification", "delivery", "waiting", "abandoned"),
    *("jobs", "infrastructure_failures", "gate_errors"),
)
"""Fields of a Plan's status that each repository has for itself."""


def of_task(plan: Plan, repository: str) -> Plan:
    """The Plan as those of its Tasks see it that work in this repository: what they land in is
    theirs, its rows and all else are of all."""
    row = _row(plan.status, repository)
    if row is None:
        return plan
    update = {"integration": row.integration, "delivery": row.delivery}
    status = plan.status.model_copy(update=update)
    return plan.model_copy(update={"status": status})


def status_in(status: PlanStatus, row: RepositoryStatus) -> PlanStatus:
    """The status of the Plan in one repository alone."""
    tasks = tuple(each for each in status.tasks if each.repository == row.name)
    closed = sum(each.state == TaskState.CLOSED for each in tasks)
    update: dict[str, Any] = {field: getattr(row, field) for field in _OWN}
    update |= {"tasks": tasks, "repositories": (), "ended_at": row.delivered_at}
    update |= {"counts": Counts(total=len(tasks), closed=closed), "phase": "Delivering"}
    update["conditions"] = with_verified(status.conditions, row)
    return status.model_copy(update=update)


def with_verified(
    conditions: tuple[Condition, ...], row: RepositoryStatus
) -> tuple[Condition, ...]:
    """The Plan's conditions, with what the checks in this repository came to."""
    others = drop(conditions, ConditionType.VERIFIED)
    return others if row.verified is None else (*others, row.verified)


def snapshot_in(snapshot: PlanSnapshot, status: PlanStatus, name: str) -> PlanSnapshot:
    """What is known of the Plan there; `status` is that of the view."""
    its = {row.name for row in status.tasks}
    project = snapshot.project
    first = project.spec.repositories[0].name if project is not None else name
    return replace(
        snapshot,
        plan=snapshot.plan.model_copy(update={"status": status}),
        tasks={key: task for key, task in snapshot.tasks.items() if key in its},
        jobs={key: job for key, job in snapshot.jobs.items() if _is_there(job, name, first)},
        tallied=None,
        expansion=None,
        beside=tuple(_beside(snapshot.plan.status, name)),
    )


def _beside(status: PlanStatus, name: str) -> Iterator[tuple[str, PullRequest | None]]:
    for row in status.repositories:
        if row.name != name:
            yield row.name, row.delivery.pull_request if row.delivery is not None else None


def each(
    snapshot: PlanSnapshot, old: PlanStatus, new: PlanStatus
) -> Iterator[tuple[PlanSnapshot, PlanStatus, PlanStatus]]:
    """What is known of the Plan in each of its repositories, with its status there before and now;
    of one that works in a single repository that is all."""
    if not new.repositories:
        yield snapshot, old, new
    for row in new.repositories:
        its = status_in(new, row)
        before = next((each for each in old.repositories if each.name == row.name), None)
        was = status_in(old, before or RepositoryStatus(name=row.name))
        yield snapshot_in(snapshot, its, row.name), was, its


def _is_there(job: JobView, name: str, first: str) -> bool:
    """Whether a Job is at work in this repository. An older release has not marked those in the
    Project's first one. Of fences and what was refused the names tell: they are those of Jobs of
    one repository alone."""
    if runs.is_fenced(job) or job.refused is not None:
        return True
    return job.labels.get(labels.REPOSITORY, first) == name


def put_back(status: PlanStatus, row: RepositoryStatus, view: PlanStatus) -> PlanStatus:
    """The status with what has come of the view of this row."""
    view = progress.since(row.waiting, view)
    update: dict[str, Any] = {field: getattr(view, field) for field in _OWN}
    update |= {
        "delivered_at": view.ended_at,
        "verified": find(view.conditions, ConditionType.VERIFIED),
    }
    after = row.model_copy(update=update)
    known = {each.name for each in status.tasks}
    new = tuple(each for each in view.tasks if each.name not in known)
    others = drop(view.conditions, ConditionType.VERIFIED)
    shared: dict[str, Any] = {"reports": view.reports, "conditions": others}
    rows = tuple(after if each.name == row.name else each for each in status.repositories)
    tasks = (*status.tasks, *new) if new else status.tasks
    return status.model_copy(update={**shared, "repositories": rows, "tasks": tasks})


def _row(status: PlanStatus, repository: str) -> RepositoryStatus | None:
    return next((row for row in status.repositories if row.name == repository), None)
