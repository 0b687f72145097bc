"""What a change of a Task or a Plan tells, as events with words that scripts may know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pydantic.alias_generators import to_snake

from bernstein.api.plan import Plan
from bernstein.api.task import Move, Task
from bernstein.cli.output import asked, notes, views, work
from bernstein.core import owners
from bernstein.core.fsm import is_final
from bernstein.core.sanitise import text
from bernstein.core.serializers import Document, plan_standing, task_status, waiting_record

_LONGEST = 2048


@dataclass(frozen=True)
class Event:
    """One thing that has happened."""

    time: datetime
    message: str
    """A line for people, or several."""
    record: Document
    """For scripts, without the time."""

    def of_namespace(self, namespace: str) -> Event:
        """The same, with the namespace in the line and in the record."""
        lines = self.message.splitlines()
        told = "\n".join([f"{namespace}  {lines[0]}", *lines[1:]])
        return replace(self, message=told, record={"namespace": namespace, **self.record})

    def document(self) -> Document:
        moment = self.time.astimezone(UTC).isoformat().replace("+00:00", "Z")
        return {"time": moment, **self.record}


def of_task(
    old: Task | None, new: Task | None, now: datetime, plan: Plan | None = None
) -> Iterator[Event]:
    """What has happened to a Task between two looks at it; None: it was not there. `plan`: that it
    is of, which says where its work is by now."""
    task = new or old
    assert task is not None
    if new is None:
        yield _of_task(task, "task_deleted", now, views.row("deleted", task.metadata.name))
        return
    if old is None:
        made = new.metadata.creation_timestamp or now
        text = views.row("created", f"{new.metadata.name}  {new.spec.title}")
        yield _of_task(new, "task_created", made, text)
    for move in _new_moves(old, new):
        yield _moved(new, move, plan)
    if _waits_anew(old, new) and not is_final(new.status, new.spec.max_retries):
        yield _waits(new, _began(old, new, now))


def _new_moves(old: Task | None, new: Task) -> list[Move]:
    known = {(m.time, m.to_state, m.attempt) for m in old.status.history} if old else set()
    return [m for m in new.status.history if (m.time, m.to_state, m.attempt) not in known]


def _moved(task: Task, move: Move, plan: Plan | None) -> Event:
    """Its word is the state that it moved to; `status` is as in all records of the Task now."""
    more = {
        "from": to_snake(move.from_state) if move.from_state else None,
        "to": to_snake(move.to_state),
        "actor": move.actor,
        "reason": move.reason,
        "attempt": move.attempt,
    }
    words = views.sentence(move, task, plan)
    return _of_task(task, f"task_{to_snake(move.to_state)}", move.time, words, **more)


def _waits_anew(old: Task | Plan | None, new: Task | Plan) -> bool:
    before = old.status.waiting if old is not None else None
    after = new.status.waiting
    if after is None:
        return False
    return before is None or views.cause(before) != views.cause(after)


def _began(old: Task | Plan | None, new: Task | Plan, now: datetime) -> datetime:
    before, after = old.status.waiting if old is not None else None, new.status.waiting
    known = before.since if before is not None else None
    return now if after is None else views.began(after, known, now)


def _waits(task: Task, began: datetime) -> Event:
    waiting = task.status.waiting
    assert waiting is not None
    told = asked.with_remedy(notes.waits(waiting, task), task)
    words = views.row("waiting", f"{task.metadata.name}  {told}")
    more = {"reason": waiting.reason, "waiting": waiting_record(waiting)}
    return _of_task(task, "task_waiting", began, words, **more)


def _of_task(task: Task, word: str, time: datetime, words: str, **more: object) -> Event:
    plan = owners.plan_of(task)
    record = {
        "event": word,
        "task_id": task.metadata.name,
        "plan_id": None if plan is None else plan.name,
        "status": task_status(task),
        **more,
        "message": text(words, _LONGEST),
    }
    return Event(time, words, record)


def of_plan(old: Plan | None, new: Plan | None, now: datetime) -> Iterator[Event]:
    """What has happened to a Plan between two looks at it; None: it was not there."""
    plan = new or old
    assert plan is not None
    if new is None:
        yield _of_plan(plan, "plan_deleted", now)
        return
    if old is None:
        yield _of_plan(new, "plan_created", new.metadata.creation_timestamp or now)
    phase = new.status.phase
    if phase is not None and (old is None or old.status.phase != phase):
        moment = new.status.ended_at or _came_to(old, new, now)
        yield _of_plan(new, f"plan_{to_snake(phase)}", moment)
    elif _waits_anew(old, new) and new.status.ended_at is None:
        waiting = waiting_record(new.status.waiting)
        yield _of_plan(new, "plan_waiting", _began(old, new, now), waiting=waiting)
    if old is not None:  # when it came to that, of one that is seen first nobody knows
        yield from _of_nodes(old, new, now)


def _of_nodes(old: Plan, new: Plan, now: datetime) -> Iterator[Event]:
    """What has become of nodes that no Task tells of."""
    before = {turn.node: turn for turn in work.turns(old)}
    for turn in work.turns(new):
        if before.get(turn.node) == turn:
            continue
        name = new.metadata.name
        words = views.row("node", f"{name}  {turn.node} is {turn.told}")
        record = {
            "event": f"node_{turn.state}",
            "task_id": None,
            "plan_id": name,
            "node": turn.node,
            "run": turn.run,
            "status": to_snake(new.status.phase or "Pending"),
            "message": text(words, _LONGEST),
        }
        yield Event(now, words, record)


def _came_to(old: Plan | None, new: Plan, now: datetime) -> datetime:
    """When it came to its phase, as far as that is known; one that is seen first may be in it for
    long."""
    waiting, started = new.status.waiting, new.status.started_at
    if waiting is not None and (waiting.needs_person or asked.is_asked(new)):
        return _began(old, new, now)
    return started if old is None and started is not None else now


def _of_plan(plan: Plan, word: str, time: datetime, **more: object) -> Event:
    reason, message = plan_standing(plan)
    name, what = plan.metadata.name, word.removeprefix("plan_")
    standing = asked.with_remedy(notes.ending(plan)[0], plan)
    told = "" if what in ("created", "deleted") else standing
    words = views.row("plan", f"{name}  {what}{f': {told}' if told else ''}")
    record = {
        "event": word,
        "task_id": None,
        "plan_id": name,
        "status": to_snake(plan.status.phase or "Pending"),
        "reason": reason or None,
        **more,
        "message": text(message, _LONGEST),
    }
    return Event(time, words, record)
