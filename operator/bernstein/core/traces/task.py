"""Spans of a Task: the whole, its stays in each state, its verification and its landing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from bernstein.api.states import TASK_BORN, TaskState
from bernstein.api.task import MOST_MOVES, Move, Task
from bernstein.core.owners import plan_uid
from bernstein.core.tasks.retention import ended_at
from bernstein.core.traces import work
from bernstein.core.traces.span import DELETED, Span, Value, span, span_id, trace_id


def of_task(task: Task, over_at: datetime | None = None) -> list[Span]:
    """Of all its parts that have ended. `over_at`: when it was seen to be deleted."""
    meta, status = task.metadata, task.status
    if meta.creation_timestamp is None:
        return []
    trace, common = _trace(task), _common(task)
    since, until = _judged_between(task)
    found = [
        *_stays(task, trace, common),
        *work.verified(
            status.verification,
            trace=trace,
            uid=meta.uid,
            where="",
            since=since,
            until=until,
            common=common,
        ),
        *work.landed(
            status.delivery,
            status.verification,
            trace=trace,
            uid=meta.uid,
            where="",
            common=common,
        ),
    ]
    return [*found, *whole_of(task, over_at, DELETED)]


def whole_of(task: Task, over_at: datetime | None, why: str) -> list[Span]:
    """The whole alone, if it has ended. `over_at`, `why`: when and why it was over where it has no
    end of its own."""
    end = ended_at(task)
    if task.metadata.creation_timestamp is None:
        return []
    if end is not None:
        return [_whole(task, end, _reason(task))]
    return [_whole(task, over_at, why)] if over_at is not None else []


def _reason(task: Task) -> str | None:
    """Why it ended badly, by its own word."""
    status = task.status
    if status.state is TaskState.CLOSED:
        return None
    return status.history[-1].reason if status.history else str(status.state)


def _trace(task: Task) -> bytes:
    return trace_id(plan_uid(task) or task.metadata.uid)


def _common(task: Task) -> dict[str, Value | None]:
    return {
        "k8s.namespace.name": task.metadata.namespace,
        "bernstein.task.name": task.metadata.name,
    }


def _whole(task: Task, end: datetime, error: str | None) -> Span:
    meta, status, plan = task.metadata, task.status, plan_uid(task)
    assert meta.creation_timestamp is not None
    return span(
        trace=_trace(task),
        of=span_id(meta.uid),
        parent=span_id(plan) if plan is not None else None,
        name="task",
        start=meta.creation_timestamp,
        end=end,
        attributes={
            **_common(task),
            "bernstein.project": status.project,
            "bernstein.repository": task.spec.repo,
            "bernstein.stage": task.spec.stage,
            "bernstein.role": task.spec.role,
            "bernstein.task.state": status.state,
            "bernstein.task.attempts": status.attempt,
            "bernstein.task.sessions": status.sessions,
            "bernstein.spend.usd": float(status.spend_usd),
        },
        error=error,
    )


def _stays(task: Task, trace: bytes, common: dict[str, Value | None]) -> Iterator[Span]:
    """How long it was in each state, as far as its history tells: of a stay the next move is the
    end."""
    uid = task.metadata.uid
    for _, (state, since), move in _moves(task):
        yield span(
            trace=trace,
            of=span_id(uid, "state", state, since.isoformat()),
            parent=span_id(uid),
            name=f"state {state}",
            start=since,
            end=move.time,
            attributes={
                **common,
                "bernstein.task.state": state,
                "bernstein.task.attempt": move.attempt,
                "bernstein.task.left_because": move.reason,
            },
        )


def _moves(task: Task) -> Iterator[tuple[str | None, tuple[str, datetime], Move]]:
    """Each state that it has left: that before it, the state with when it came to it, and the move
    by which it left."""
    history, born = task.status.history, task.metadata.creation_timestamp
    # Of a history that is full the oldest moves may be gone: the first stay has long been told.
    if history and born is not None and len(history) < MOST_MOVES:
        first = history[0]
        if first.from_state is not None or first.to_state != TASK_BORN:
            yield None, (first.from_state or TASK_BORN, born), first
    for before, after in pairwise(history):
        yield before.from_state, (before.to_state, before.time), after


def _judged_between(task: Task) -> tuple[datetime, datetime | None]:
    """When its agent reported success last, and when it was moved on from there; None: not yet. A
    Task that a person has approved is Done once more: it was judged before."""
    stays = [
        (since, move.time)
        for before, (state, since), move in _moves(task)
        if state == TaskState.DONE and before != TaskState.PENDING_APPROVAL
    ]
    history = task.status.history
    last = history[-1] if history else None
    if last and last.to_state == TaskState.DONE and last.from_state != TaskState.PENDING_APPROVAL:
        return last.time, None
    born = task.metadata.creation_timestamp
    assert born is not None
    return stays[-1] if stays else (born, None)
