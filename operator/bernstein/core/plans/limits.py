"""Which texts and lists of a plan are longer than a Plan can hold.

pydantic's own validation does not look into a list that is too long, and here all problems are
reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic.alias_generators import to_snake

from bernstein.api.plan import PlanSpec

_Schema = Mapping[str, Any]


def too_long(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(path in the plan file, message) of each; `spec` may be wrong in any other way."""
    yield from _too_long(spec, _schema(), "")


def _too_long(value: object, schema: _Schema, path: str) -> Iterator[tuple[str, str]]:
    schema = _followed(schema)
    if isinstance(value, str):
        if len(value) > (limit := schema.get("maxLength", len(value))):
            yield path, f"must have at most {limit} characters"
    elif isinstance(value, list):
        if len(value) > (limit := schema.get("maxItems", len(value))):
            yield path, f"must have at most {limit} items"
        for index, item in enumerate(value):
            yield from _too_long(item, schema.get("items", {}), f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, inner in schema.get("properties", {}).items():
            if key in value:
                place = f"{path}.{to_snake(key)}" if path else to_snake(key)
                yield from _too_long(value[key], inner, place)


def _followed(schema: _Schema) -> _Schema:
    """The schema that a reference, or an optional field, stands for."""
    if "anyOf" in schema:
        schema = next(option for option in schema["anyOf"] if option.get("type") != "null")
    if "$ref" in schema:
        definition: _Schema = _schema()["$defs"][schema["$ref"].rpartition("/")[2]]
        return definition
    return schema


@cache
def _schema() -> _Schema:
    return PlanSpec.model_json_schema()
