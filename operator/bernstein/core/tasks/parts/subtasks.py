"""WaitingForSubtasks: it is split, and other Tasks do its parts.

    InProgress ── its session leaves subtasks ──┐
    Open ── its spec has subtasks ──────────────┴▶ WaitingForSubtasks ─┬─ all are Closed ──▶ Done
                                                    ▲      │           └─ cancelled, with them
                                                    │      ▼
                                       Open ◀── Blocked: one has ended without result, or none has
                                                         made progress for 30 minutes, or the
                                                         Plan has no room for them

The schedule splits what its spec has subtasks of. Its status names them before they are made, and
its Plan has a row for each. Done, it has no work of its own: it is judged on what they have landed.
A person who unblocks it has it done anew, without those that are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from bernstein.api.plans.parts import Part
from bernstein.api.reasons import Reason
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Blocked, Split, Subtask, Task, TaskStatus
from bernstein.api.verification import Verification
from bernstein.api.waiting import Cancel
from bernstein.core import owners
from bernstein.core.actions import CancelTasks, CreateTasks, TaskDecision
from bernstein.core.delivery import landing, tip
from bernstein.core.delivery.retry import tried_again
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.documents import SUBTASKS, values
from bernstein.core.documents.values import Json, Problem
from bernstein.core.fsm import ACTIVE, VERIFYING, is_final, move
from bernstein.core.plans import member
from bernstein.core.plans.field_errors import listed
from bernstein.core.plans.size import room_for_parts
from bernstein.core.plans.subtasks import objects, rows, written
from bernstein.core.sanitise import count, quoting, some
from bernstein.core.scheduling import parts
from bernstein.core.sessions import documents
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.attempts import count_failure, infrastructure, settle
from bernstein.core.waiting import goes_on, is_stalled, parted, seconds_left, waits

PATIENCE = timedelta(minutes=30)
"""For so long none of them need make progress."""
_NO_ROOM = "Cancel it, and apply what is left of it as another Plan."
_LOST = f"what its agent left in {SUBTASKS.path} is lost"
_REFUSED = f"it is not split: what its agent left in {SUBTASKS.path} is not taken"
_TOLD = 4000
"""Characters of what is wrong with it."""
_SHOWN = 5


class _Problem(NamedTuple):
    """Why a Task that is split does not go on by itself."""

    text: str
    remedy: str | None = None
    """For this very case; None: the reason's."""


def is_split(status: TaskStatus) -> bool:
    """Whether it waits for subtasks, in whatever state that is."""
    return status.split is not None and not status.split.over


def needed(snapshot: TaskSnapshot) -> tuple[str, str] | None:
    """Session and SHA-256 of the document that its next step reads; None: it reads none."""
    status, session = snapshot.status, snapshot.session
    if status.split is not None and is_split(status):
        of, sha256 = status.split.session, status.split.sha256
        if of is None or sha256 is None or not _unmade(_seen(snapshot, status)):
            return None
        return of, sha256
    if session is None or status.state is not TaskState.IN_PROGRESS:
        return None
    left = documents.subtasks_of(session.status)
    if left is None or session.status.state is not SessionState.DEAD:
        return None
    return session.metadata.name, left.sha256


# --- split ----------------------------------------------------------------------------------------


def begins(
    snapshot: TaskSnapshot, session: AgentSession, status: TaskStatus, now: datetime
) -> TaskDecision:
    """What follows from a session that has left subtasks."""
    if snapshot.handed is None:
        return TaskDecision(status)
    if snapshot.handed.document is None:
        lost = settle(snapshot, session, status, Reason.POD_LOST, _LOST, counted=False)
        return TaskDecision(infrastructure(snapshot, lost, Reason.POD_LOST, _LOST, now))
    value = values.parsed(snapshot.handed.document)
    why = _refusal(snapshot, session, value)
    if why is not None:
        reason = Reason.SUBTASKS_INVALID
        status = settle(snapshot, session, status, reason, why, counted=True)
        return TaskDecision(count_failure(snapshot, status, reason, why, now))
    assert not isinstance(value, Problem)
    number = len(written.parts(value, snapshot.task.spec))
    return TaskDecision(_split(snapshot, session, status, number, now))


def _refusal(snapshot: TaskSnapshot, session: AgentSession, value: Json | Problem) -> str | None:
    """Why it is not split so, with all problems at once; None: it is."""
    if isinstance(value, Problem):
        return f"{_REFUSED}: {value.text}"
    most, project = documents.most_subtasks(snapshot), snapshot.project
    if most and snapshot.plan is not None:
        most = min(most, room_for_parts(snapshot.plan))
    work = session.status.work
    if not most or project is None:
        return f"{_REFUSED}: this task is not to be split"
    found = written.problems(value, snapshot.task.spec, project.spec, most, snapshot.roles)
    if found:
        return quoting(_REFUSED, listed(found, _TOLD), _TOLD)
    if work is None or work.sha != work.base:
        return f"{_REFUSED}: it has changed files, too, and a task that is split changes none"
    return None


def _split(
    snapshot: TaskSnapshot, session: AgentSession, status: TaskStatus, number: int, now: datetime
) -> TaskStatus:
    left, work = documents.subtasks_of(session.status), session.status.work
    assert left is not None
    assert work is not None
    of = session.metadata.name
    its = Split(number=parts.next_number(status), session=of, sha256=left.sha256, since=now)
    update = {
        "verification": Verification(base=work.base, sha=work.sha, tree=work.tree, ref=work.ref),
        "output": documents.output_of(of, session.status),
        "infrastructure_failures": 0,
        "checkpoint": None,
        "checkpoint_sha": None,
    }
    settled = settle(snapshot, session, status, "Succeeded", "", counted=True)
    return parts.split(snapshot.task, settled.model_copy(update=update), its, number, now)


# --- while it waits -------------------------------------------------------------------------------


def decide_waiting(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step of a Task that waits for its subtasks."""
    if not is_split(status):
        return TaskDecision(status)
    status = _seen(snapshot, status)
    problem = _problem(snapshot, status, now)
    if problem is not None:
        return TaskDecision(_blocked(status, problem, now))
    if _unmade(status):
        return _make(snapshot, status, now)
    if all(row.state == TaskState.CLOSED for row in status.subtasks or ()):
        return TaskDecision(_done(snapshot, status, now))
    return TaskDecision(_told(snapshot, status, now), (), _patience_left(snapshot, status, now))


def decide_blocked(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """Open again, on its way back, once its subtasks go on."""
    status = _seen(snapshot, status)
    problem = _problem(snapshot, status, now)
    if problem is not None:
        return TaskDecision(_stalled(status, problem, now))
    opened = move(status, TaskState.OPEN, "SubtasksGoOn", now)
    return TaskDecision(goes_on(opened.model_copy(update={"blocked": None})))


def resumed(status: TaskStatus, now: datetime) -> TaskStatus:
    """The status of an Open Task that waits for its subtasks again."""
    return parts.waiting(move(status, TaskState.WAITING_FOR_SUBTASKS, "SubtasksGoOn", now), now)


def given_up(status: TaskStatus) -> TaskStatus:
    """The status of a Task that waits for its subtasks no more."""
    if status.split is None:
        return status
    return status.model_copy(
        update={"split": status.split.model_copy(update={"over": True}), "verification": None}
    )


def cancels(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, by: str
) -> TaskDecision | TaskStatus:
    """A cancel goes down to them first; the status to end with, once all have ended."""
    if not is_split(status):
        return status
    status = _seen(snapshot, status)
    going = [task for task in _children(snapshot, status) if not _has_ended(task)]
    if not going:
        return status
    told = tuple(task.metadata.name for task in going if task.spec.cancel is None)
    actions = (CancelTasks(told, Cancel(reason=reason, by=by)),) if told else ()
    return TaskDecision(status, actions)


# --- its subtasks ---------------------------------------------------------------------------------


def _children(snapshot: TaskSnapshot, status: TaskStatus) -> Iterator[Task]:
    """Those that are there; what has the name of one and is another's is none."""
    plan = owners.plan_uid(snapshot.task)
    for row in status.subtasks or ():
        task = snapshot.tasks.get(row.name)
        if task is None or plan is None or owners.plan_uid(task) != plan:
            continue
        if row.uid in (None, task.metadata.uid):
            yield task


def _seen(snapshot: TaskSnapshot, status: TaskStatus) -> TaskStatus:
    """The status with what they are now."""
    there = {task.metadata.name: task for task in _children(snapshot, status)}

    def row(before: Subtask) -> Subtask:
        task = there.get(before.name)
        if task is None:
            return before
        state = str(task.status.state or TaskState.OPEN)
        if (before.uid, before.state) == (task.metadata.uid, state):
            return before
        return before.model_copy(update={"uid": task.metadata.uid, "state": state})

    now = tuple(map(row, status.subtasks or ()))
    if now == (status.subtasks or ()):
        return status
    return status.model_copy(update={"subtasks": now})


def _unmade(status: TaskStatus) -> list[str]:
    return [row.name for row in status.subtasks or () if row.uid is None]


def _make(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """Those that are not there are made, once the Plan has a row for each."""
    plan = snapshot.plan
    assert plan is not None
    seconds = seconds_left(status.waiting, snapshot.project, now)
    if seconds is not None:
        return TaskDecision(status, (), seconds)
    if snapshot.refused is not None:
        problem, resting = Diagnosis(Reason.POD_REJECTED, snapshot.refused), snapshot.resting
        return TaskDecision(tried_again(status, problem, snapshot.project, now, resting=resting))
    there, its = {row.name for row in plan.status.extra}, _parts(snapshot)
    left = _patience_left(snapshot, status, now)
    if its is None or not there.issuperset(_unmade(status)):
        return TaskDecision(parts.waiting(status, now), (), left)
    every = zip((row.name for row in status.subtasks or ()), its, strict=True)
    missing = {name: part for name, part in every if name in _unmade(status)}
    made = CreateTasks(objects.objects_of(snapshot.task, plan, missing))
    return TaskDecision(parts.waiting(status, now), (made,), left)


def _parts(snapshot: TaskSnapshot) -> tuple[Part, ...] | None:
    """What it is split into: what its spec says, or what its agent has left. None: that is lost, or
    nobody has read it."""
    if snapshot.task.spec.subtasks:
        return snapshot.task.spec.subtasks
    if snapshot.handed is None or snapshot.handed.document is None:
        return None
    value = values.parsed(snapshot.handed.document)
    return () if isinstance(value, Problem) else written.parts(value, snapshot.task.spec)


def _has_ended(task: Task) -> bool:
    return is_final(task.status, task.spec.max_retries)


def _problem(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> _Problem | None:
    """What keeps it back; None: it may go on by itself."""
    there = {task.metadata.name: task for task in _children(snapshot, status)}
    for row in status.subtasks or ():
        task = there.get(row.name)
        if task is None and row.uid is not None and row.state != TaskState.CLOSED:
            return _Problem(f"its subtask '{row.name}' was deleted")
        if task is not None and _has_ended(task) and task.status.state is not TaskState.CLOSED:
            return _Problem(f"its subtask '{row.name}' ended as {task.status.state}")
    if (number := _without_room(snapshot, status)) > 0:
        return _Problem(f"its Plan has no room for {count(number, 'more Task')}", _NO_ROOM)
    if snapshot.handed is not None and snapshot.handed.document is None and _unmade(status):
        number = len(_unmade(status))
        return _Problem(f"{_LOST}, and {count(number, 'subtask')} of it cannot be made")
    left = _patience_left(snapshot, status, now)
    if left is not None and left <= 0:
        minutes = int(PATIENCE.total_seconds() // 60)
        since = f"none of its subtasks has made progress for {minutes} minutes"
        return _Problem(f"{since}: {_open(status)}")
    return None


def _without_room(snapshot: TaskSnapshot, status: TaskStatus) -> int:
    """How many of them will never be made, as all of them together are too many for the Plan."""
    plan, left = snapshot.plan, {*_unmade(status)}
    if plan is None or not left:
        return 0
    number = len(left - {row.name for row in plan.status.extra})
    return 0 if not number or rows.have_room(plan, snapshot.task, number) else number


def _open(status: TaskStatus) -> str:
    names = [f"'{r.name}'" for r in status.subtasks or () if r.state != TaskState.CLOSED]
    return some(names[:_SHOWN], len(names))


def _patience_left(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> float | None:
    """Seconds; None: one of them is at work, or all are kept back because somebody wants that."""
    assert status.split is not None
    suspended = snapshot.plan is not None and snapshot.plan.spec.suspend
    children = list(_children(snapshot, status))
    if suspended or any(_is_at_work(task) for task in children):
        return None
    moved = (task.status.history[-1].time for task in children if task.status.history)
    last = max((status.split.since, *moved))
    return (last + PATIENCE - now).total_seconds()


def _is_at_work(task: Task) -> bool:
    return task.status.state in ACTIVE | VERIFYING and not is_stalled(task.status)


# --- what the status says -------------------------------------------------------------------------


def _told(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    """Where each of them needs a person, so does what they are parts of: by the first one's
    words."""
    left = [task for task in _children(snapshot, status) if not _has_ended(task)]
    suspended = snapshot.plan is not None and snapshot.plan.spec.suspend
    stuck = next((task for task in left if is_stalled(task.status)), None)
    if suspended or stuck is None or any(map(member.moves, left)):
        return parts.waiting(status, now)
    waiting = stuck.status.waiting
    assert waiting is not None
    text, remedy = parted(waiting.message)
    told = f"its subtask '{stuck.metadata.name}': {text}"
    return waits(status, waiting.reason, told, now, needs_person=True, remedy=remedy)


def _blocked(status: TaskStatus, problem: _Problem, now: datetime) -> TaskStatus:
    assert status.split is not None
    moved = move(status, TaskState.BLOCKED, Reason.SUBTASKS_STALLED, now)
    block = Blocked(session=status.split.session or "", text=problem.text, times=0)
    return _stalled(moved.model_copy(update={"blocked": block}), problem, now)


def _stalled(status: TaskStatus, problem: _Problem, now: datetime) -> TaskStatus:
    text, remedy = problem
    return waits(status, Reason.SUBTASKS_STALLED, text, now, needs_person=True, remedy=remedy)


def _done(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    """What its subtasks have landed is judged, as it is at the tip."""
    assert status.split is not None
    moved = move(status, TaskState.DONE, "SubtasksClosed", now)
    update = {
        "split": status.split.model_copy(update={"over": True}),
        "verification": status.verification or _as_it_is(snapshot),
    }
    return landing.on_newer_tip(moved.model_copy(update=update))


def _as_it_is(snapshot: TaskSnapshot) -> Verification:
    """The work of a Task that no session has begun: what is where its subtasks have landed."""
    plan, ref = snapshot.plan, snapshot.target_ref
    assert plan is not None
    assert plan.status.integration is not None
    begun = plan.status.integration
    seen = tip.known_tip(snapshot) or begun.tip
    # Of what has landed since, the tree is told once a candidate is made.
    tree = (begun.tree if seen == begun.tip else None) or ""
    return Verification(base=seen, sha=seen, tree=tree, ref=ref)
