"""Whether a rejected Task waits for what Tasks of its Plan, which run beside it, have yet to land.

A command that judges a tree as a whole, such as a test of one step, may need what another one is
still writing. So a Task whose tree a command has rejected begins its next attempt when the Tasks
that were at work by then have landed or ended theirs. Those that began later are not waited for,
and none that waits itself: two never wait for each other.

So does one whose work did not merge: it has one attempt for that, which must not be spent on a tip
that the next one moves.

The same holds of work that is judged by a command which fails on the commit before it, too: that
commit may lack what they have yet to land. There is nothing to be tried then but the same work on a
newer tip, so the Task stays Done meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.verification import CheckResult
from bernstein.api.waiting import WaitReason
from bernstein.core import owners
from bernstein.core.fsm import ACTIVE
from bernstein.core.sanitise import some
from bernstein.core.scheduling.occupancy import is_ending
from bernstein.core.snapshot import AtWork, TaskSnapshot
from bernstein.core.verification import summary
from bernstein.core.verification.expected.task import specs_of
from bernstein.core.waiting import is_stalled

_AT_WORK = ACTIVE | {TaskState.DONE}


def at_work(tasks: Iterable[Task]) -> tuple[AtWork, ...]:
    """Those that have a session, or whose work is judged, and who go on by themselves; not one that
    a person decides about."""
    at_work_since = (
        (_last(task.status, TaskState.CLAIMED), task.metadata.name)
        for task in tasks
        if task.status.state in _AT_WORK
        and not is_stalled(task.status)
        and not waits_for_them(task.status)
        and not _is_proposed(task.status)
        and not is_ending(task)
    )
    return tuple(AtWork(since, name) for since, name in at_work_since if since is not None)


def in_order(working: Iterable[AtWork]) -> tuple[AtWork, ...]:
    """Who began first comes first."""
    return tuple(sorted(working, key=lambda each: (each.since, each.name)))


def waits_for_them(status: TaskStatus) -> bool:
    """Whether that is what the Task waits for already."""
    return status.waiting is not None and status.waiting.reason == WaitReason.SIBLINGS_AT_WORK


def _is_proposed(status: TaskStatus) -> bool:
    """Whether a person has yet to merge its pull request."""
    return status.waiting is not None and status.waiting.reason == WaitReason.PULL_REQUEST_OPEN


def was_rejected(status: TaskStatus) -> bool:
    """Whether its last attempt left work that did not pass, or did not merge."""
    judged = status.verification
    return (judged is not None and judged.passed is False) or _did_not_merge(status)


def _did_not_merge(status: TaskStatus) -> bool:
    return bool(status.attempts) and status.attempts[-1].reason == Reason.MERGE_CONFLICT


def awaited(snapshot: TaskSnapshot) -> str | None:
    """Whom a rejected Task waits for, for people; None: nobody."""
    if not snapshot.at_work or not was_rejected(snapshot.status):
        return None
    rejected = _last(snapshot.status, TaskState.FAILED)
    if rejected is None:
        return None
    if _did_not_merge(snapshot.status):
        return _names(snapshot.at_work, rejected)
    return _awaited(snapshot, snapshot.status, snapshot.at_work, rejected, summary.rejected)


def awaited_on_base(snapshot: TaskSnapshot, status: TaskStatus, judged_at: datetime) -> str | None:
    """Whom a Done Task waits for that a command keeps back which fails on its base, too, for
    people; None: nobody."""
    plan, own = owners.plan_uid(snapshot.task), snapshot.task.metadata.name
    if plan is None:
        return None
    going = (task for task in snapshot.beside.values() if task.status.state in _AT_WORK)
    beside = (task for task in going if owners.plan_uid(task) == plan)
    others = at_work(task for task in beside if task.metadata.name != own)
    return _awaited(snapshot, status, others, judged_at, summary.base_failures)


def _awaited(
    snapshot: TaskSnapshot,
    status: TaskStatus,
    beside: Iterable[AtWork],
    judged_at: datetime,
    kept_back: Callable[[Iterable[CheckResult]], Iterable[CheckResult]],
) -> str | None:
    """The names of those that were at work when it was judged, if a command kept it back."""
    judged = status.verification
    names = _names(beside, judged_at)
    if names is None or judged is None:
        return None
    by = {result.name for result in kept_back(judged.checks)}
    specs = specs_of(snapshot, judged)
    if not any(s.command is not None and not s.by_file and s.name in by for s in specs):
        return None
    return names


def _names(beside: Iterable[AtWork], before: datetime) -> str | None:
    names = [each.name for each in beside if each.since < before]
    return some(names, len(names)) if names else None


def _last(status: TaskStatus, state: TaskState) -> datetime | None:
    """When it last came into the state."""
    return next((m.time for m in reversed(status.history) if m.to_state == state), None)
