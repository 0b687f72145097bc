"""Whether a rejected Task waits for what Tasks of its Plan, which run beside it, have yet to land.

A command that judges a tree as a whole, such as a test of one step, may need what another one is
still writing. So a Task whose tree a command has rejected begins its next attempt when the Tasks
that were at work by then have landed or ended theirs. Those that began later are not waited for,
and none that waits itself: two never wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.fsm import ACTIVE, VERIFYING
from bernstein.core.sanitise import some
from bernstein.core.scheduling.occupancy import is_ending
from bernstein.core.snapshot import AtWork, TaskSnapshot
from bernstein.core.verification import summary
from bernstein.core.verification.task import specs_of
from bernstein.core.waiting import is_stalled


def at_work(tasks: Iterable[Task]) -> tuple[AtWork, ...]:
    """Those that have a session, or whose work is judged, and who go on by themselves."""
    found = (
        (_last(task.status, TaskState.CLAIMED), task.metadata.name)
        for task in tasks
        if task.status.state in ACTIVE | VERIFYING
        and not is_stalled(task.status)
        and not is_ending(task)
    )
    return tuple(AtWork(since, name) for since, name in found if since is not None)


def was_rejected(status: TaskStatus) -> bool:
    """Whether its last attempt left work that was judged, and did not pass."""
    return status.verification is not None and status.verification.passed is False


def awaited(snapshot: TaskSnapshot) -> str | None:
    """Whom a rejected Task waits for, for people; None: nobody."""
    if not snapshot.at_work or not was_rejected(snapshot.status):
        return None
    rejected = _last(snapshot.status, TaskState.FAILED)
    if rejected is None:
        return None
    names = [each.name for each in snapshot.at_work if each.since < rejected]
    if not names or not _a_command_rejected(snapshot):
        return None
    return some(names, len(names))


def _a_command_rejected(snapshot: TaskSnapshot) -> bool:
    judged = snapshot.status.verification
    assert judged is not None
    rejected = {result.name for result in summary.rejected(judged.checks)}
    specs = specs_of(snapshot, judged)
    return any(s.command is not None and not s.by_file and s.name in rejected for s in specs)


def _last(status: TaskStatus, state: TaskState) -> datetime | None:
    """When it last came into the state."""
    return next((m.time for m in reversed(status.history) if m.to_state == state), None)
