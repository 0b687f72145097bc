"""Where today's decision differs from a recorded one: field by field of the status it leads to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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
    recorded, today = (_status(_patched(before, each["writes"])) for each in (old, new))
    rest = ({key: each[key] for key in ("actions", "again")} for each in (old, new))
    return Pair(
        name=recording.name,
        kind=given["kind"],
        now=f"{recording.now:%Y-%m-%dT%H:%M:%SZ}",
        before=_status(before),
        recorded=recorded,
        today=today,
        differences=(*_differences("", recorded, today), *_differences("", *rest)),
    )


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
