"""The tables of the state machines, from which the check in Python and the CEL rules are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from bernstein.api.meta import CelRule, rule

_STATE = ".status.state"


class TaskState(StrEnum):
    PLANNED = "Planned"
    OPEN = "Open"
    CLAIMED = "Claimed"
    IN_PROGRESS = "InProgress"
    DONE = "Done"
    CLOSED = "Closed"
    FAILED = "Failed"
    BLOCKED = "Blocked"
    WAITING_FOR_SUBTASKS = "WaitingForSubtasks"
    CANCELLED = "Cancelled"
    ORPHANED = "Orphaned"
    PENDING_APPROVAL = "PendingApproval"


_T = TaskState
TASK_INITIAL = (_T.PLANNED, _T.OPEN)
TASK_BORN = _T.OPEN
"""The state that the API server gives to a new Task: nobody has to write it."""
TASK_MOVES: Mapping[TaskState, tuple[TaskState, ...]] = {
    _T.PLANNED: (_T.OPEN, _T.CANCELLED),
    _T.OPEN: (_T.CLAIMED, _T.WAITING_FOR_SUBTASKS, _T.CANCELLED),
    _T.CLAIMED: (
        _T.IN_PROGRESS,
        _T.OPEN,
        _T.DONE,
        _T.FAILED,
        _T.CANCELLED,
        _T.WAITING_FOR_SUBTASKS,
        _T.BLOCKED,
    ),
    _T.IN_PROGRESS: (
        _T.DONE,
        _T.FAILED,
        _T.BLOCKED,
        _T.WAITING_FOR_SUBTASKS,
        _T.OPEN,
        _T.CANCELLED,
        _T.ORPHANED,
    ),
    _T.ORPHANED: (_T.DONE, _T.FAILED, _T.OPEN),
    _T.BLOCKED: (_T.OPEN, _T.CANCELLED),
    _T.WAITING_FOR_SUBTASKS: (_T.DONE, _T.BLOCKED, _T.CANCELLED),
    _T.FAILED: (_T.OPEN, _T.CANCELLED),
    _T.DONE: (_T.CLOSED, _T.FAILED, _T.PENDING_APPROVAL, _T.CANCELLED),
    _T.PENDING_APPROVAL: (_T.DONE, _T.FAILED, _T.CANCELLED),
    _T.CLOSED: (),
    _T.CANCELLED: (),
}


class SessionState(StrEnum):
    STARTING = "Starting"
    WORKING = "Working"
    IDLE = "Idle"
    DEAD = "Dead"


_S = SessionState
SESSION_INITIAL = (_S.STARTING,)
SESSION_BORN = _S.STARTING
"""The state that the API server gives to a new AgentSession."""
SESSION_MOVES: Mapping[SessionState, tuple[SessionState, ...]] = {
    _S.STARTING: (_S.WORKING, _S.DEAD),
    _S.WORKING: (_S.IDLE, _S.DEAD),
    _S.IDLE: (_S.WORKING, _S.DEAD),
    _S.DEAD: (),
}


def cel_rules(
    moves: Mapping[TaskState, tuple[TaskState, ...]]
    | Mapping[SessionState, tuple[SessionState, ...]],
    initial: Iterable[str],
) -> tuple[CelRule, ...]:
    """CEL rules, for the root of a CRD's schema, that allow only these changes of state.

    They are on the root because an optional `oldSelf` on `status` exceeds the API server's cost
    budget. The state that the API server gives to a new object binds nobody: as long as none has
    looked at it, any initial state may come in its place.
    """
    pairs = ", ".join(f"'{a}>{b}'" for a, targets in moves.items() for b in targets)
    first = ", ".join(f"'{s}'" for s in initial)
    was = "has(oldSelf.status) && has(oldSelf.status.state)"
    now = "has(self.status) && has(self.status.state)"
    seen = "has(oldSelf.status.observedGeneration) && oldSelf.status.observedGeneration >= 0"
    return (
        rule(
            f"!({was}) || ({now})", "IllegalTransition: state may not be removed", fieldPath=_STATE
        ),
        rule(
            f"({was}) || !({now}) || self.status.state in [{first}]",
            f"IllegalTransition: the first state is {' or '.join(initial)}",
            fieldPath=_STATE,
        ),
        rule(
            f"!({was}) || !({now}) || self.status.state == oldSelf.status.state || "
            f"(oldSelf.status.state + '>' + self.status.state) in [{pairs}] || "
            f"(!({seen}) && self.status.state in [{first}])",
            "IllegalTransition: this move of state is not legal",
            messageExpression="'IllegalTransition: ' + oldSelf.status.state + ' to ' + "
            "self.status.state + ' is not a legal move'",
            fieldPath=_STATE,
        ),
    )
