"""Where today's decision differs from a recorded one: field by field of the status it leads to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from bernstein.api.plan import PlanStatus
from bernstein.api.task import TaskStatus
from bernstein.core import progress
from tests.unit.upgrade.decisions import Decided
from tests.unit.upgrade.recordings import Object, Recording

_SUBJECTS = {"Task": "task", "Plan": "plan", "AgentSession": "session"}


@dataclass(frozen=True)
class Difference:
    path: str
    """Of a field of the status (`hold.retryAt`; a condition is found by its type), or `actions`,
    or `again`."""
    recorded: Any
    """None: it was not there."""
    today: Any

    def __str__(self) -> str:
        return f"{self.path}: {self.recorded!r} became {self.today!r}"


@dataclass(frozen=True)
class Pair:
    """What the older code decided and what today's decides on the same objects."""

    name: str
    kind: str
    now: str
    before: Object
    """The status that both have read."""
    recorded: Object
    """The status that the older code's leads to; conditions by type."""
    today: Object
    differences: tuple[Difference, ...]


def compared(recording: Recording, decided: Decided) -> Pair:
    """`decided`: today."""
    given, old, new = recording.given, recording.decided, decided.as_json()
    before = given[_SUBJECTS[given["kind"]]]["status"]
    recorded, today = (_patched(before, each["writes"]) for each in (old, new))
    if given["kind"] in _OF_TODAY:
        of_today = partial(_OF_TODAY[given["kind"]], decided.snapshot, recording.now)
        before, recorded = of_today(before), of_today(recorded)
        today = _without_since(today)
    rest = ({key: each[key] for key in ("actions", "again")} for each in (old, new))
    return Pair(
        name=recording.name,
        kind=given["kind"],
        now=f"{recording.now:%Y-%m-%dT%H:%M:%SZ}",
        before=_status(before),
        recorded=_status(recorded),
        today=_status(today),
        differences=(
            *_differences("", _status(recorded), _status(today)),
            *_differences("", *rest),
        ),
    )


def _task_of_today(snapshot: Any, now: datetime, status: Object) -> Object:
    read = TaskStatus.model_validate(status)
    subject = snapshot.task.model_copy(update={"status": read})
    return _of_today(status, progress.of_task(subject, read, now).dump())


def _plan_of_today(snapshot: Any, now: datetime, status: Object) -> Object:
    read = PlanStatus.model_validate(status)
    subject = snapshot.plan.model_copy(update={"status": read})
    return _of_today(status, progress.of_plan(subject, read, now).dump())


_OF_TODAY = {"Task": _task_of_today, "Plan": _plan_of_today}


def _of_today(status: Object, read: Object) -> Object:
    """A status that was recorded, with what it waits for as today's code reads it, and with the
    conditions that follow: they were written in other words, which say nothing more."""
    fields = ("waiting", "conditions", "delivery")
    rest = {key: value for key, value in status.items() if key not in ("hold", "queue", *fields)}
    found = rest | {key: read[key] for key in fields if key in read}
    if found.get("delivery", {}).get("step") is None and "delivery" in status:
        found["delivery"] = {k: v for k, v in status["delivery"].items() if k != "step"}
    elif "delivery" in status:
        found["delivery"] = status["delivery"]
    return _without_since(found)


def _without_since(status: Object) -> Object:
    """Older releases did not keep since when it waits for this reason."""
    if "waiting" not in status:
        return status
    waiting = {key: value for key, value in status["waiting"].items() if key != "since"}
    return status | {"waiting": waiting}


def _status(obj: Object) -> Object:
    """With conditions by their type: their order means nothing."""
    return obj | {"conditions": {c["type"]: c for c in obj.get("conditions", ())}}


def _patched(obj: Object, patch: Object) -> Object:
    """After a JSON merge patch."""
    found = {name: value for name, value in obj.items() if name not in patch}
    for name, value in patch.items():
        if isinstance(value, dict):
            old = obj.get(name)
            found[name] = _patched(old if isinstance(old, dict) else {}, value)
        elif value is not None:
            found[name] = value
    return found


def _differences(path: str, old: Any, new: Any) -> Iterator[Difference]:
    either = isinstance(old, dict) or isinstance(new, dict)
    if either and isinstance(old, dict | None) and isinstance(new, dict | None):
        old, new = old or {}, new or {}
        for key in sorted(old.keys() | new.keys()):
            yield from _differences(f"{path}.{key}" if path else key, old.get(key), new.get(key))
    elif old != new:
        yield Difference(path, old, new)
