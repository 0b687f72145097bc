"""What is told when a Task's status was written: in metrics, in the log, in Events."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.meta import Metadata
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.controllers import stalls, verdict_metrics, wait_metrics
from bernstein.controllers.wiring import Context
from bernstein.core import owners
from bernstein.core.sanitise import count
from bernstein.core.verification import findings
from bernstein.kube.resource import Key, Object
from bernstein.observe import logging

log = logging.logger(__name__)

_JUDGED = (TaskState.DONE, TaskState.FAILED)
"""Elsewhere its verdicts are about work of an earlier attempt."""
_WORDS = {
    TaskState.OPEN: "it is in line to start",
    TaskState.CLAIMED: "its turn has come: a session for attempt {attempt} is made",
    TaskState.IN_PROGRESS: "the agent is at work",
    TaskState.DONE: "the agent reported success; its work is verified now",
    TaskState.CLOSED: "it is verified and merged",
    TaskState.FAILED: "its attempt failed: {why}",
    TaskState.ORPHANED: "nothing is heard of its agent any more: {why}",
    TaskState.BLOCKED: "its agent waits for something: its status.blocked says what",
    TaskState.CANCELLED: "it was cancelled",
}
"""What is told of a move to this state."""
_REOPENED = {
    "Unblocked": "what its agent waited for is there, or a person says so",
    Reason.UNCLAIMED: "a person asked for its claim back before its agent had begun",
    Reason.KILLED: "a person had its session ended; it is in line to start",
}
"""What is told of a move to Open, by its reason."""


def tell(context: Context, obj: Object, task: Task, new: TaskStatus, now: datetime) -> None:
    """`task`, and `obj` as it is served: before the write."""
    old, meta, plan = task.status, task.metadata, owners.plan_of(task)
    _count(context, task, new, now)
    if new.state != old.state and new.state is not None:
        context.metrics.task_moved(meta.namespace, new.state)
        last = new.history[-1] if new.history else None
        why = last.reason if last is not None else str(new.state)
        log.info(
            "task moved",
            # A controller's own key may be another object's.
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            attempt=new.attempt,
            plan=plan.name if plan is not None else None,
            before=old.state,
            after=new.state,
            reason=why,
        )
        context.writer.events.record(
            obj,
            reason=str(new.state),
            message=_moved(old, new, why),
            action="Move",
            warning=new.state in (TaskState.FAILED, TaskState.ORPHANED),
        )
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


def _moved(old: TaskStatus, new: TaskStatus, why: str) -> str:
    judged = (new.verification or old.verification) if old.state is TaskState.DONE else None
    found = findings.named(judged) if new.state is TaskState.FAILED else ""
    text = _said(old.state, new, why)
    return f"{text}: {found}" if found else text


def _said(old: TaskState | None, new: TaskStatus, why: str) -> str:
    """The move for people: the states alone are words of ours."""
    assert new.state is not None
    if old is TaskState.FAILED and new.state is TaskState.OPEN:
        return f"it is tried again, after {count(new.attempt, 'attempt')}"
    if new.state is TaskState.OPEN and (words := _REOPENED.get(why)) is not None:
        return words
    if old is not None and new.state is TaskState.OPEN:
        return f"its session came to nothing, which costs no attempt: {why}"
    words = _WORDS.get(new.state, f"it is {new.state}: {{why}}")
    return words.format(why=why, attempt=new.attempt + 1)


def _count(context: Context, task: Task, new: TaskStatus, now: datetime) -> None:
    old, meta, metrics = task.status, task.metadata, context.metrics
    verdict_metrics.count(
        metrics,
        meta.namespace,
        "Task",
        old,
        new,
        attempt="first" if new.attempt == 1 else "later",
        signals=task.spec.completion_signals,
    )
    wait_metrics.count(metrics, meta.namespace, "Task", old, new, now)
    if new.state is TaskState.CLOSED and old.state is not TaskState.CLOSED:
        _count_closed(context, meta, new, now)


def _count_closed(context: Context, meta: Metadata, new: TaskStatus, now: datetime) -> None:
    if meta.creation_timestamp:
        seconds = (now - meta.creation_timestamp).total_seconds()
        context.metrics.task_closed(meta.namespace, seconds)
    session = context.caches.sessions.get(Key(meta.namespace, new.session or ""))
    ended = session.status.ended_at if session is not None else None
    if ended is not None:
        seconds = (now - ended).total_seconds()
        context.metrics.agent_end_to_closed(meta.namespace, seconds)
