"""Which pull requests a Plan or Task leaves open when it is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.core import owners
from bernstein.core.delivery.proposed import closing
from bernstein.core.retention import refs


@dataclass(frozen=True)
class LeftRequest:
    """A pull request of what is gone, as its status told it last."""

    kind: Literal["Plan", "Task"]
    name: str
    number: int
    """0: it may have been opened, and nobody knows its number."""
    branch: str
    onto: str
    digest: str | None
    """Of the repository that it is in; None: nobody has written that down."""
    repository: str | None
    """As its owner named that; None: it did not."""
    at: datetime
    """When its owner was deleted."""


def of_plan(plan: Plan, now: datetime) -> Iterator[LeftRequest]:
    """Those of its own, one for each repository; its Tasks are deleted with it, and have theirs.
    What is delivered stays, whatever became of the rest: people merge it later."""
    status = plan.status
    if refs.has_landed(plan) or status.phase == "DeliveredPartially":
        return
    rows: list[tuple[str | None, Delivery | None]] = (
        [(row.name, row.delivery) for row in status.repositories if row.delivered_at is None]
        if status.repositories
        else [(refs.repository_of(plan), status.delivery)]
    )
    for repository, delivery in rows:
        yield from _of("Plan", plan.metadata.name, repository, delivery, now)


def of_task(task: Task, now: datetime) -> Iterator[LeftRequest]:
    """Nothing of one without a Plan that has ended: it may have been the operator that deleted it,
    as its time was over, and nobody has asked for more."""
    alone = owners.plan_of(task) is None
    if refs.has_landed(task) or (alone and task.status.ended_at is not None):
        return
    name, its = task.metadata.name, refs.repository_of(task)
    yield from _of("Task", name, its, task.status.delivery, now)


def _of(
    kind: Literal["Plan", "Task"],
    name: str,
    repository: str | None,
    delivery: Delivery | None,
    now: datetime,
) -> Iterator[LeftRequest]:
    if delivery is None or not closing.may_be_open(delivery) or delivery.branch is None:
        return
    pull = delivery.pull_request
    yield LeftRequest(
        kind,
        name,
        pull.number if pull is not None else 0,
        delivery.branch,
        delivery.onto or "",
        pull.repository if pull is not None else None,
        repository,
        now,
    )
