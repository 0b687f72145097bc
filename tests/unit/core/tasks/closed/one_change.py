"""Objects as they are served that say one thing otherwise, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from tests.unit.core.objects import Object, at

_GONE = object()
_Path = tuple[str | int, ...]
WORDS = (
    *("default", "other", "uid-default", "uid-other", "work-s1", "work-s2", "Closed", "Dead"),
    *("Succeeded", "Stalled", "Reconciling", "Verified", "True", "False", "Unknown", "Unverified"),
    *("AgentFailed", "Merged", "Approve", "app", at(-7).isoformat().replace("+00:00", "Z")),
)
"""Texts that mean something in one place or another."""


def changed(obj: Object, *parts: str, least: int = 0) -> st.SearchStrategy[Object]:
    """The object with up to three changes in these parts of it."""
    paths = [path for part in parts for path in _paths(obj[part], (part,))]
    assert len(paths) > 20
    others = st.one_of(st.just(_GONE), st.sampled_from(WORDS), st.sampled_from([True, False, 0, 1]))
    change = st.tuples(st.sampled_from(paths), others)
    return st.lists(change, min_size=least, max_size=3).map(lambda each: _with(obj, each))


def _paths(value: Any, above: _Path) -> Iterator[_Path]:
    yield above
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _paths(item, (*above, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _paths(item, (*above, number))


def _with(obj: Object, changes: Sequence[tuple[_Path, object]]) -> Object:
    made = deepcopy(obj)
    for path, other in changes:
        try:
            _set(made, path, other)
        except (KeyError, IndexError, TypeError):
            continue  # the change before has taken it out
    return made


def _set(made: Any, path: _Path, other: object) -> None:
    for step in path[:-1]:
        made = made[step]
    if other is _GONE:
        del made[path[-1]]
    elif type(other) is type(made[path[-1]]):
        made[path[-1]] = other  # the API server takes no other
