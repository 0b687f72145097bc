"""What is told when a Task's status was written: in metrics, in the log, in Events."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bernstein.api.meta import Metadata
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Move, Task, TaskStatus
from bernstein.controllers.approvals import telling as decisions
from bernstein.controllers.events import refusals, stalls
from bernstein.controllers.metrics import verdicts, waits
from bernstein.controllers.snapshots import workplace_of
from bernstein.controllers.wiring import Context
from bernstein.core import owners
from bernstein.core.approvals import answers
from bernstein.core.sanitise import count
from bernstein.core.scheduling import opening
from bernstein.core.tasks import pending
from bernstein.core.verification import findings
from bernstein.kube.resource import Key, Object
from bernstein.observe import logging

log = logging.logger(__name__)

_JUDGING = (TaskState.DONE, TaskState.PENDING_APPROVAL)
_JUDGED = (TaskState.DONE, TaskState.FAILED)
"""Elsewhere its verdicts are about work of an earlier attempt."""
_WORDS = {
    TaskState.PLANNED: "a person must approve its Plan before it starts",
    TaskState.OPEN: "it is in line to start",
    TaskState.IN_PROGRESS: "the agent is at work",
    TaskState.WAITING_FOR_SUBTASKS: "it is split: its status.subtasks says into what",
    TaskState.DONE: "the agent reported success; its work is verified now",
    TaskState.CLOSED: "it is verified and merged",
    TaskState.FAILED: "its attempt failed: {why}",
    TaskState.ORPHANED: "nothing is heard of its agent any more: {why}",
    TaskState.BLOCKED: "its agent waits for something: its status.blocked says what",
    TaskState.CANCELLED: "it was cancelled",
    TaskState.PENDING_APPROVAL: "it is verified, and a person must decide whether it lands",
}
"""What is told of a move to this state."""
_REOPENED = {
    "Unblocked": "what its agent waited for is there, or a person says so",
    Reason.UNCLAIMED: "a person asked for its claim back before its agent had begun",
    Reason.KILLED: "a person had its session ended; it is in line to start",
}
"""What is told of a move to Open, by its reason."""


_DECIDED = {
    (TaskState.PLANNED, TaskState.OPEN): "its Plan may begin: it is in line to start",
    (TaskState.PENDING_APPROVAL, TaskState.FAILED): "a person has sent its work back",
}
"""What is told of moves that people's decisions lead to."""
_OF_GATES: Mapping[str, str] = {
    pending.BYPASS_NEEDED: "a gate has said no, and a person may let it go on without that",
    Reason.GATE_FAILED: "nobody has let it go on without a gate: it is rejected",
    Reason.REVIEW_REJECTED: "nobody has let it go on without the review: it is rejected",
}
"""What is told of moves to and from PendingApproval that are about a gate, by their reason."""
_ENDED: Mapping[str, str] = {
    Reason.APPROVAL_EXPIRED: "nobody has decided about its work in time: it is rejected",
    Reason.REJECTED: "a person has rejected its work for good",
}
"""The same of those to Cancelled, by their reason."""
_SILENT = (TaskState.CLAIMED,)
"""Of these there is no Event: what comes next says as much, a moment later."""


def tell(context: Context, obj: Object, task: Task, new: TaskStatus, now: datetime) -> None:
    """`task`, and `obj` as it is served: before the write."""
    old, meta, plan = task.status, task.metadata, owners.plan_of(task)
    _count(context, task, new, now)
    for move in _moves(old, new):
        context.metrics.task_moved(meta.namespace, TaskState(move.to_state))
        log.info(
            "task moved",
            # A controller's own key may be another object's.
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            attempt=new.attempt,
            plan=plan.name if plan is not None else None,
            before=move.from_state,
            after=move.to_state,
            reason=move.reason,
        )
    before = _state_of(old)
    if new.state not in (None, before, *_SILENT):
        context.writer.events.record(
            obj,
            reason=str(new.state),
            message=_moved(before, old, new),
            action="Move",
            warning=new.state in (TaskState.FAILED, TaskState.ORPHANED),
        )
    refusals.tell(context.writer, obj, old, new)
    stalls.tell(
        context.writer,
        "task",
        obj,
        old,
        new,
        judged=new.verification if new.state in _JUDGED else None,
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        attempt=new.attempt,
    )


def _state_of(old: TaskStatus) -> TaskState | None:
    """The state that somebody has moved it to; that which it is born with is told as a move."""
    return None if opening.is_new(old) else old.state


def _moves(old: TaskStatus, new: TaskStatus) -> tuple[Move, ...]:
    """The moves that one write has made: one, or of a new Task that starts at once, two."""
    before = _state_of(old)
    if new.state == before:
        return ()
    both = before is None and new.state is not TaskState.OPEN
    return new.history[-2 if both else -1 :]


def _moved(before: TaskState | None, old: TaskStatus, new: TaskStatus) -> str:
    judged = (new.verification or old.verification) if before in _JUDGING else None
    found = findings.named(judged) if new.state is TaskState.FAILED or _is_about_gate(new) else ""
    if (before, new.state) == (TaskState.PENDING_APPROVAL, TaskState.DONE):
        return answers.goes_on(new.history[-1], new.verification)
    text = _said(before, new, new.history[-1].reason if new.history else str(new.state))
    return f"{text}: {found}" if found else text


def _is_about_gate(new: TaskStatus) -> bool:
    asked = new.approval if new.state is TaskState.PENDING_APPROVAL else None
    return asked is not None and asked.asks.gate is not None


def _said(old: TaskState | None, new: TaskStatus, why: str) -> str:
    """The move for people: the states alone are words of ours."""
    assert new.state is not None
    if TaskState.PENDING_APPROVAL in (old, new.state) and why in _OF_GATES:
        return _OF_GATES[why]
    if old is not None and (old, new.state) in _DECIDED:
        return _DECIDED[old, new.state].format(why=why)
    if new.state is TaskState.CANCELLED and why in _ENDED:
        return _ENDED[why]
    if old is TaskState.FAILED and new.state is TaskState.OPEN:
        return f"it is tried again, after {count(new.attempt, 'attempt')}"
    if new.state is TaskState.OPEN and (words := _REOPENED.get(why)) is not None:
        return words
    if old is not None and new.state is TaskState.OPEN:
        return f"its session came to nothing, which costs no attempt: {why}"
    if new.state is TaskState.CLOSED and new.produced is not None:
        return f"Plan '{new.produced.plan}' is made of its plan file; a person must approve that"
    words = _WORDS.get(new.state, f"it is {new.state}: {{why}}")
    return words.format(why=why, attempt=new.attempt + 1)


def _count(context: Context, task: Task, new: TaskStatus, now: datetime) -> None:
    old, meta, metrics = task.status, task.metadata, context.metrics
    verdicts.count_answers(metrics, meta.namespace, "Task", old, new)
    verdicts.count(
        metrics,
        meta.namespace,
        "Task",
        old,
        new,
        attempt="first" if new.attempt == 1 else "later",
        signals=lambda: task.spec.completion_signals,
        project=lambda: workplace_of(context.caches, task),
    )
    waits.count(metrics, meta.namespace, "Task", old, new, now)
    decisions.count(metrics, meta.namespace, "Task", old, new)
    if new.state is TaskState.CLOSED and old.state is not TaskState.CLOSED:
        _count_closed(context, meta, new, now)
        of = new.project or task.spec.project_ref or ""
        metrics.closed_after(meta.namespace, of, task.spec.role, new.attempt)


def _count_closed(context: Context, meta: Metadata, new: TaskStatus, now: datetime) -> None:
    if meta.creation_timestamp:
        seconds = (now - meta.creation_timestamp).total_seconds()
        context.metrics.task_closed(meta.namespace, seconds)
    session = context.caches.sessions.get(Key(meta.namespace, new.session or ""))
    ended = session.status.ended_at if session is not None else None
    if ended is not None:
        seconds = (now - ended).total_seconds()
        context.metrics.agent_end_to_closed(meta.namespace, seconds)
