"""What to change in a JSON document: as a JSON Patch (RFC 6902), of lists the changed items; or as
a merge patch (RFC 7386), of lists the whole."""

from collections.abc import Iterable, Iterator, Mapping
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


def status_diff(
    old: Mapping[str, Any], new: Mapping[str, Any], preserve: Iterable[str] = ()
) -> dict[str, Any]:
    """The JSON merge patch that makes ``new`` of ``old``; empty when they are equal.

    Fields that are None in ``new`` count as absent. Lists are replaced as a whole.
    """
    kept = set(preserve)
    return _merge_patch(
        {name: value for name, value in old.items() if name not in kept},
        {name: value for name, value in new.items() if name not in kept},
    )


def _merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = {
        name: None for name, value in old.items() if value is not None and new.get(name) is None
    }
    for name, value in new.items():
        before = old.get(name)
        # Most of a status stays, and says so before anything of it is copied.
        if value is None or value == before:
            continue
        if isinstance(value, dict) and isinstance(before, dict):
            if changes := _merge_patch(before, value):
                patch[name] = changes
        elif (after := _without_none(value, before)) != before:
            patch[name] = after
    return patch


def stripped(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What is new, without what is None."""
    said = ((name, value) for name, value in new.items() if value is not None)
    return {name: _without_none(value, old.get(name)) for name, value in said}


def _without_none(value: Any, before: Any = None) -> Any:
    """The value without fields that are None.

    Where a list was `before`, its items that stay are the old ones themselves: of thousands nothing
    is looked at then but that.
    """
    if isinstance(value, dict):
        return {name: _without_none(item) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        old = before if isinstance(before, list) else []
        first = zip(old, value, strict=False)
        stays = [was if was == now else _without_none(now) for was, now in first]
        return stays + [_without_none(item) for item in value[len(old) :]]
    return value
