"""Blocked: its agent has said that it can go on only once something else has happened.

    InProgress ── its session ends as Blocked ──▶ Blocked ─┬─ the Tasks that it named are Closed,
                                                           │  or a person unblocks it ──▶ Open
                                                           └─ none is named, or one never will be
                                                              Closed ──▶ stalled

What it wrote stays for the next session. It costs no attempt; but who says so too often in a row,
with neither a person nor an attempt between, has failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from bernstein.api.reasons import Reason
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import Blocked, Task, TaskStatus
from bernstein.core import owners
from bernstein.core.actions import TaskDecision
from bernstein.core.fsm import move
from bernstein.core.sanitise import count, line, ordinal, quoted, quoting, some
from bernstein.core.scheduling.dependencies import awaited, groups_named, groups_of, standing
from bernstein.core.snapshot import Standing, TaskSnapshot
from bernstein.core.tasks.parts import subtasks
from bernstein.core.waiting import goes_on, waits

MOST_IN_A_ROW = 3
_TEXT = 500


def once_too_often(status: TaskStatus, message: str) -> str | None:
    """Why its agent's word is not taken that it waits; None: it is."""
    times = _times(status) + 1
    if times <= MOST_IN_A_ROW:
        return None
    ours = f"for the {ordinal(times)} time in a row it says that it waits for something"
    return quoting(ours, quoted(message) or message, _TEXT)


def begins(
    snapshot: TaskSnapshot, status: TaskStatus, session: AgentSession, now: datetime
) -> TaskStatus:
    """The status of a Task whose session has ended so, with what it waits for."""
    outcome = session.status.outcome
    assert outcome is not None
    named = outcome.waits_for or ()
    mine = tuple(name for name in named if _may_be_awaited(snapshot, name))
    block = Blocked(
        session=session.metadata.name,
        text=line(quoted(outcome.message) or outcome.message, _TEXT),
        tasks=mine,
        refused=tuple(name for name in named if name not in mine) or None,
        times=_times(status) + 1,
    )
    moved = move(status, TaskState.BLOCKED, Reason.BLOCKED, now)
    return _waiting(snapshot, moved.model_copy(update={"blocked": block}), block, now)


def decide_blocked(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """Open again once all that it waits for is Closed; until then it says what that is."""
    if subtasks.is_split(status):
        return subtasks.decide_blocked(snapshot, status, now)
    block = status.blocked or Blocked(session=status.session or "")
    if block.tasks and all(_standing(snapshot, name) is Standing.CLOSED for name in block.tasks):
        return TaskDecision(opened(status, now))
    return TaskDecision(_waiting(snapshot, status, block, now))


def opened(status: TaskStatus, now: datetime, actor: str = "operator") -> TaskStatus:
    """The status of a Task that waits no more."""
    return goes_on(move(status, TaskState.OPEN, "Unblocked", now, actor=actor))


def _times(status: TaskStatus) -> int:
    return status.blocked.times if status.blocked is not None else 0


def _may_be_awaited(snapshot: TaskSnapshot, name: str) -> bool:
    """Whether it is another Task of the same Plan; without a Plan, another one of the Project.

    One answer for all others: an agent does not learn by it which Tasks there are.
    """
    task, other = snapshot.task, snapshot.tasks.get(name)
    if other is None or other.metadata.uid == task.metadata.uid:
        return False
    plan = owners.plan_uid(task)
    if plan is not None:
        return owners.plan_uid(other) == plan
    project = snapshot.project.metadata.name if snapshot.project is not None else None
    return owners.plan_of(other) is None and project in (other.status.project, None)


def _waiting(
    snapshot: TaskSnapshot, status: TaskStatus, block: Blocked, now: datetime
) -> TaskStatus:
    # Neither its words nor names that it made up: conditions are read by many.
    text = "its agent waits for something; status.blocked has its words"
    if block.tasks:
        awaited_ones = some(block.tasks, len(block.tasks))
        text = f"its agent waits for {awaited_ones}; status.blocked has its words"
    if block.refused:
        others = count(len(block.refused), "name")
        text = f"{text}. It is no matter of its own what becomes of {others} besides"
    problem = _never(snapshot, block)
    if problem is not None:
        text = f"{problem}; {text}"
    needs_person = problem is not None or not block.tasks
    name = snapshot.task.metadata.name
    remedy = f"See to what it waits for, then `bernstein unblock {name}`; or cancel it."
    return waits(
        status,
        Reason.BLOCKED,
        text,
        now,
        needs_person=needs_person,
        remedy=remedy if needs_person else None,
    )


def _never(snapshot: TaskSnapshot, block: Blocked) -> str | None:
    """Why one of the Tasks will not be Closed by itself; None: all may be.

    Of one that stands still in a Plan, the Plan tells.
    """
    alone = owners.plan_of(snapshot.task) is None
    for name in block.tasks:
        match _standing(snapshot, name):
            case Standing.MISSING:
                return f"Task '{name}' is gone"
            case Standing.ENDED:
                return f"Task '{name}' ended as {snapshot.tasks[name].status.state}"
            case Standing.STUCK:
                return f"Task '{name}' itself waits for what never comes"
            case Standing.STALLED if alone:
                return f"Task '{name}' stands still"
            case Standing.WAITED_FOR if _waits_for_this(snapshot, name):
                return f"Task '{name}' itself waits for this one"
            case _:
                pass
    return None


def _standing(snapshot: TaskSnapshot, name: str) -> Standing:
    return standing(snapshot.tasks.get(name))


def _waits_for_this(snapshot: TaskSnapshot, name: str) -> bool:
    """Whether that Task waits for this one, be it by way of others. Each is looked at once."""
    own, seen, stages = snapshot.task.metadata.name, {name}, set[str]()
    left = [name]
    while left:
        task = snapshot.tasks.get(left.pop())
        if task is None or task.status.state is TaskState.CLOSED:
            continue
        for before in _before(snapshot, task, stages):
            if before == own:
                return True
            if before not in seen:
                seen.add(before)
                left.append(before)
    return False


def _before(snapshot: TaskSnapshot, task: Task, stages: set[str]) -> Iterator[str]:
    """Names of the Tasks that it waits for; those of `stages` are known, which are added to."""
    yield from task.spec.depends_on
    yield from awaited(task)
    plan = snapshot.plan
    if plan is None or owners.plan_uid(task) != plan.metadata.uid:
        return
    new = set(groups_named(task.spec)) - stages
    stages |= new
    if new:
        yield from (row.name for row in plan.status.tasks if new.intersection(groups_of(row)))
