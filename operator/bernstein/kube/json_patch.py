"""What to change in a JSON document, as a JSON Patch (RFC 6902): of lists the changed items."""

from collections.abc import Iterator, Mapping
from typing import Any

Operation = dict[str, Any]


def json_patch(old: Mapping[str, Any], new: Mapping[str, Any], path: str = "") -> list[Operation]:
    """The operations that make ``new`` of ``old``, which is at ``path``; none when they are equal.

    There are never more of them than fields and items: a list is replaced as a whole where its
    length changes, or more operations than it has items were needed.
    """
    return list(_object(old, new, path))


def _object(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[Operation]:
    for name in old.keys() - new.keys():
        yield {"op": "remove", "path": f"{path}/{_escaped(name)}"}
    for name, value in new.items():
        below = f"{path}/{_escaped(name)}"
        if name in old:
            yield from _value(old[name], value, below)
        else:
            yield {"op": "add", "path": below, "value": value}


def _value(old: Any, new: Any, path: str) -> Iterator[Operation]:
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _object(old, new, path)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        yield from _list(old, new, path)
    elif type(old) is not type(new) or old != new:
        yield {"op": "replace", "path": path, "value": new}


def _list(old: list[Any], new: list[Any], path: str) -> Iterator[Operation]:
    pairs = enumerate(zip(old, new, strict=True))
    changes = [
        change
        for n, (was, now) in pairs
        if was is not now
        for change in _value(was, now, f"{path}/{n}")
    ]
    if len(changes) > len(new):
        changes = [{"op": "replace", "path": path, "value": new}]
    yield from changes


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
