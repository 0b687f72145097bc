"""In what the end of a story differs from an undisturbed one, and what was written of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.cluster.control_plane import audit
from tests.cluster.control_plane.audit import Write
from tests.control_plane.controllers.world import World

_OBJECTS = ("jobs", "pods")
"""What is told of one by one, as each has its own writes in the audit log."""
_ABSENT = "(absent)"
MOST = 60
"""Writes that are told of one story."""
LONGEST = 500
"""Characters of a value that are told."""


@dataclass(frozen=True)
class Difference:
    """In one field of an end state, or in one item of a list there."""

    where: str
    """Parts of the end state, outermost first: `tasks / one / state`."""
    found: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.where}: {self.found}, undisturbed: {self.wanted}"


def differences(found: Any, wanted: Any, where: str = "") -> Iterator[Difference]:
    """Every single one, in the order of the undisturbed end state."""
    if found == wanted:
        return
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        for key in [*wanted, *(key for key in found if key not in wanted)]:
            below = f"{where} / {key}" if where else str(key)
            yield from differences(found.get(key, _ABSENT), wanted.get(key, _ABSENT), below)
        return
    if isinstance(found, list) and isinstance(wanted, list) and _of_names(found, wanted):
        yield from _in_lists(found, wanted, where)
        return
    yield Difference(where, _shown(found), _shown(wanted))


def _of_names(*lists: list[Any]) -> bool:
    return all(isinstance(item, str) for items in lists for item in items)


def _in_lists(found: list[str], wanted: list[str], where: str) -> Iterator[Difference]:
    has, should = Counter(found), Counter(wanted)
    if has == should:
        yield Difference(where, _shown(found), _shown(wanted))
    for item in sorted(has | should):
        if has[item] != should[item]:
            yield Difference(f"{where} / {item}", _times(has[item]), _times(should[item]))


def _times(count: int) -> str:
    return _ABSENT if not count else "there" if count == 1 else f"{count} times"


def _shown(value: Any) -> str:
    text = value if value == _ABSENT else repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


async def explained(world: World, found: Any, wanted: Any) -> str:
    """All differences, and what anybody has written of the Jobs and pods that are among them."""
    differ = list(differences(found, wanted))
    names = {d.where.split(" / ")[1] for d in differ if d.where.split(" / ")[0] in _OBJECTS}
    lines = [f"{len(differ)} differences:", *map(str, differ)]
    if names:
        told = [
            _told(write)
            for write in audit.writes(world.log, world.started)
            if write.namespace == world.namespace and _concerns(write, names)
        ]
        lines += [f"written of {', '.join(sorted(names))}:", *told[-MOST:]]
    return "\n".join(lines)


def _concerns(write: Write, names: set[str]) -> bool:
    """A pod is called like its Job, with five characters behind."""
    if write.resource == "jobs":
        return write.name in names
    return write.resource == "pods" and write.name.rpartition("-")[0] in names


def _told(write: Write) -> str:
    at = f"{write.at:%H:%M:%S.%f}"[:-3] if write.at is not None else "?"
    what = "/".join(filter(None, (write.resource, write.name, write.subresource)))
    return f"{at} {write.user.rpartition(':')[2]}: {write.verb} {what} {write.code}"
