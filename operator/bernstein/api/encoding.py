"""The messages between our programs as JSON: dataclasses, strictly read."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def dump(value: Any) -> str:
    """JSON of a dataclass of `bernstein.api.pod`."""
    return json.dumps(value, default=fields_of, separators=(",", ":"), sort_keys=True)


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, in order; what `json.dumps` takes as its `default`.

    Nothing is copied, as `dataclasses.asdict` does with every value below. Raises TypeError for
    anything else.
    """
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def dump_brief(value: Any) -> str:
    """The same without fields that have their default, for readers of the same release only: `load`
    puts in the defaults that it knows.

    Characters stand as they are: escaped, the largest lists would not fit a word of a command.
    """
    text = json.dumps(_brief(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    # Half of a pair is no character, and is escaped as JSON does.
    return text.encode(errors="backslashreplace").decode()


def _brief(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {field.name: _brief(v) for field, v in fields if not _is_default(field, v)}
    if isinstance(value, tuple):
        return [_brief(item) for item in value]
    return value


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    made = field.default_factory
    default = field.default if made is dataclasses.MISSING else made()
    # True equals 1, and JSON tells them apart.
    return type(default) is type(value) and bool(default == value)


def load(kind: type[T], text: str | bytes) -> T:
    """The dataclass of this kind that `dump` or `dump_brief` wrote; unknown keys are ignored.

    Raises ValueError for anything else; it names the field that is wrong.
    """
    data = json.loads(text)
    result = _build(kind, data, kind.__name__)
    if not isinstance(result, kind):
        raise _wrong(kind.__name__, "an object")
    return result


def _wrong(where: str, expected: str) -> ValueError:
    return ValueError(f"{where}: expected {expected}")


def _build(kind: Any, data: Any, where: str) -> Any:
    origin = get_origin(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _build_object(kind, data, where)
    if origin is tuple:
        if not isinstance(data, list):
            raise _wrong(where, "a list")
        return tuple(
            _build(get_args(kind)[0], item, f"{where}[{i}]") for i, item in enumerate(data)
        )
    if origin is not None:  # X | None
        if data is None:
            return None
        (inner,) = (a for a in get_args(kind) if a is not type(None))
        return _build(inner, data, where)
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise _wrong(where, kind.__name__)
    return data


@cache
def _hints(kind: type) -> dict[str, Any]:
    """Types of its fields, which are compiled from their text each time."""
    return get_type_hints(kind)


def _build_object(kind: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise _wrong(where, "an object")
    hints = _hints(kind)
    values = {}
    for f in dataclasses.fields(kind):
        if f.name in data:
            values[f.name] = _build(hints[f.name], data[f.name], f"{where}.{f.name}")
        elif f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            raise ValueError(f"{where}: '{f.name}' is missing")
    return kind(**values)
