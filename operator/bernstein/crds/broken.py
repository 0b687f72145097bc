"""Which rules of its kind a new object breaks, before any API server sees it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from bernstein.crds.expressions import holds
from bernstein.crds.schema import Schema

_OF_CHANGES = "oldSelf"
"""What stands in rules about a change; a new object has no old one."""


def broken(schema: Schema, data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(path, message) of each rule that the object breaks; its fields are right by themselves.

    `schema` is that of its kind. The status is passed over: whoever makes an object writes none.
    """
    said = {name: each for name, each in schema["properties"].items() if name != "status"}
    given = {**schema, "properties": said}
    yield from _broken("", _defaulted(data, given), given)


def _defaulted(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value as rules see it: with what the API server fills in."""
    if isinstance(value, list) and "items" in schema:
        return [_defaulted(item, schema["items"]) for item in value]
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    known = schema["properties"]
    filled = {name: each["default"] for name, each in known.items() if "default" in each}
    given = {name: each for name, each in value.items() if each is not None}
    return {
        name: _defaulted(copy.deepcopy(each), known.get(name, {}))
        for name, each in {**filled, **given}.items()
    }


def _broken(path: str, value: Any, schema: Schema) -> Iterator[tuple[str, str]]:
    for rule in schema.get("x-kubernetes-validations", ()):
        if _OF_CHANGES not in rule["rule"] and not holds(rule["rule"], value):
            yield f"{path}{rule.get('fieldPath', '')}".removeprefix("."), rule["message"]
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _broken(f"{path}[{index}]", item, schema.get("items", {}))
    elif isinstance(value, dict):
        for name, child in schema.get("properties", {}).items():
            if name in value:
                yield from _broken(f"{path}.{name}" if path else name, value[name], child)
