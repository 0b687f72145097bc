"""Delivery of a Plan in several repositories: of each once all of its steps are Closed.

    all steps Closed ──▶ each repository on its way, side by side ──▶ all delivered ──▶ Succeeded

What the Plan says of itself is what the repository says that keeps it back most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from bernstein.api.integration import RepositoryStatus
from bernstein.api.plan import PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.waiting import Cancel
from bernstein.core.actions import (
    AskTask,
    CancelTasks,
    CreateApproval,
    CreateTasks,
    DeleteJobs,
    InRepository,
    PlanAction,
    PlanDecision,
    RunFence,
)
from bernstein.core.delivery import plan as plan_delivery
from bernstein.core.delivery import resolving
from bernstein.core.delivery.landing import has_started, is_lost
from bernstein.core.delivery.proposed import closing
from bernstein.core.feedback import answering
from bernstein.core.jobs import LOOK_AGAIN_SECONDS
from bernstein.core.plans.nodes import standing
from bernstein.core.plans.places import view
from bernstein.core.sanitise import line
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.waiting import goes_on, is_held, is_stalled

Step = Callable[[PlanSnapshot, PlanStatus, datetime], PlanDecision]
_MOST = 2048
"""Characters of a message."""


def is_whole(snapshot: PlanSnapshot, status: PlanStatus) -> bool:
    """All of its steps have landed, in whatever repository, or its workflow has come to its end."""
    if status.workflow is not None:
        return standing.is_whole(snapshot.plan, status)
    rows = [row for row in status.tasks if row.step is not None]
    return bool(rows) and all(row.state == TaskState.CLOSED for row in rows)


def deliver(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """The next step in each repository where it is not delivered yet."""
    left = [row.name for row in status.repositories if row.delivered_at is None]
    return _each(snapshot, status, left, _one, now)


def follow(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """One look at the landings that have begun; nothing else begins."""
    begun = [row.name for row in status.repositories if has_started(view.status_in(status, row))]
    return _each(snapshot, status, begun, plan_delivery.deliver, now)


def fences(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> tuple[RunFence, ...]:
    """For Jobs in each repository which requests on their way may still make."""
    made: list[RunFence] = []
    for row in status.repositories:
        if row.integration is not None:
            seen = view.status_in(status, row)
            its = view.snapshot_in(snapshot, seen, row.name)
            made += plan_delivery.fences(its, seen, now)
    return tuple(made)


def is_closing(status: PlanStatus) -> bool:
    """Whether a pull request of what is cancelled is closed at the moment, in any repository."""
    rows = status.repositories
    return closing.has_begun(status) or any(map(_is_closing, rows))


def _is_closing(row: RepositoryStatus) -> bool:
    return row.delivery is not None and row.delivery.step == "Closing"


def closes(
    snapshot: PlanSnapshot, status: PlanStatus, why: Cancel, now: datetime
) -> PlanDecision | PlanStatus:
    """One look at its pull requests, of a Plan that is cancelled; the status to end with, once each
    is closed or left open."""
    actions: list[PlanAction] = []
    again: list[float] = []
    for name in [row.name for row in status.repositories if row.delivered_at is None]:
        row = next(each for each in status.repositories if each.name == name)
        seen = view.status_in(status, row)
        found = plan_delivery.closes(view.snapshot_in(snapshot, seen, name), seen, why, now)
        if isinstance(found, PlanStatus):
            status = view.put_back(status, row, found)
            continue
        status = view.put_back(status, row, found.status)
        actions += _there(name, found.actions)
        again.append(found.requeue_after or LOOK_AGAIN_SECONDS)
    first = next(filter(_is_closing, status.repositories), None) or _first(status)
    status = status.model_copy(update=_of(first))
    if not again:
        return status
    status = status.model_copy(update={"phase": "Cancelling"})
    return PlanDecision(status, tuple(actions), min(again))


def _one(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    return landed(snapshot, status, now) or PlanDecision(goes_on(status))


def _is_whole(snapshot: PlanSnapshot, status: PlanStatus) -> bool:
    if status.workflow is None:
        return resolving.is_whole(snapshot, status)
    return is_whole(snapshot, status) and resolving.is_over(snapshot, status)


def landed(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision | None:
    """The next step of a Plan in one repository once its Tasks have landed there; None: they have
    not, or a Task that is made for the delivery is at work."""
    made = resolving.step(snapshot, status, now) or answering.step(snapshot, status, now)
    if made is not None:
        return made
    if not _is_whole(snapshot, status):
        return None
    status = answering.back(snapshot, resolving.back(snapshot, status, now))
    unjudged = status.verification is None or is_lost(status)
    if status.delivery is None and unjudged and not is_held(status):
        status = goes_on(status)  # what it said was what its Tasks waited for
    return answering.listens(snapshot, plan_delivery.deliver(snapshot, status, now), now)


def _each(
    snapshot: PlanSnapshot, status: PlanStatus, names: Iterable[str], step: Step, now: datetime
) -> PlanDecision:
    actions: list[PlanAction] = []
    again: list[float] = []
    for name in names:
        row = next(each for each in status.repositories if each.name == name)
        seen = view.status_in(status, row)
        decision = step(view.snapshot_in(snapshot, seen, name), seen, now)
        status = view.put_back(status, row, decision.status)
        actions += _there(name, decision.actions)
        if decision.requeue_after is not None:
            again.append(decision.requeue_after)
    return PlanDecision(_told(status, now), tuple(actions), min(again, default=None))


def _there(name: str, actions: Iterable[PlanAction]) -> Iterator[PlanAction]:
    """Each as one of this repository, if it makes or keeps something there."""
    for action in actions:
        match action:
            case CreateTasks() | CancelTasks() | AskTask() | CreateApproval() | InRepository():
                yield action
            case RunFence() | DeleteJobs():
                yield action
            case _:
                yield InRepository(name, action)


def _told(status: PlanStatus, now: datetime) -> PlanStatus:
    """The status with what the repository says of itself that keeps the Plan back most."""
    first = _first(status)
    told: dict[str, object] = {
        **_of(first),
        "waiting": None,
        "conditions": view.with_verified(status.conditions, first),
        "jobs": max(status.jobs, *(row.jobs for row in status.repositories)),
    }
    if first.delivered_at is not None:
        return status.model_copy(update={**told, "phase": "Succeeded", "ended_at": now})
    if first.waiting is not None:
        text = f"repository '{line(first.name, 63)}': {first.waiting.message}"
        told["waiting"] = first.waiting.model_copy(update={"message": text[:_MOST]})
    phase = "Stalled" if is_stalled(view.status_in(status, first)) else "Delivering"
    return status.model_copy(update={**told, "phase": phase})


def _first(status: PlanStatus) -> RepositoryStatus:
    return min(status.repositories, key=lambda row: _rank(status, row))


def _of(row: RepositoryStatus) -> dict[str, object]:
    return {name: getattr(row, name) for name in ("integration", "verification", "delivery")}


def _rank(status: PlanStatus, row: RepositoryStatus) -> int:
    """What may be landing comes first: a cancel comes too late for it."""
    seen = view.status_in(status, row)
    if row.delivered_at is not None:
        return 4
    if has_started(seen):
        return 0
    if is_stalled(seen):
        return 1
    return 2 if row.waiting is None else 3
