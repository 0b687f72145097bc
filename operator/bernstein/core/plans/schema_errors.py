"""What a schema refuses, in the words of all other problems: what was got, and what is possible.

The words of the library that checks are those of a programming language, and no help to people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from bernstein.core.plans.field_errors import FieldError, invalid_choice, quoted, type_name

_TYPES: Final = {
    "model_type": "mapping",
    "model_attributes_type": "mapping",
    "dict_type": "mapping",
    "list_type": "array",
    "tuple_type": "array",
    "string_type": "string",
    "int_type": "integer",
    "int_from_float": "integer",
    "int_parsing": "integer",
    "int_parsing_size": "integer",
    "float_type": "number",
    "float_parsing": "number",
    "finite_number": "number",
    "decimal_type": "number",
    "decimal_parsing": "number",
    "bool_type": "boolean",
    "bool_parsing": "boolean",
}
"""The type that is possible, by the kind of the error."""
_LIMITS: Final = {
    "greater_than_equal": ("ge", ">="),
    "greater_than": ("gt", ">"),
    "less_than_equal": ("le", "<="),
    "less_than": ("lt", "<"),
}
_SHAPES: Final = {"Edge": "{source: NAME}"}
"""What a mapping looks like, by its model, where people write something shorter in a file."""
_WORD = re.compile(r"'([^']*)'")
_TIME = "a time such as 2030-01-01T12:00:00Z"


def field_error(path: str, detail: Mapping[str, Any]) -> FieldError:
    """One error of the schema, at its place."""
    above, _, field = path.rpartition(".")
    if detail["type"] == "missing" and field and above:
        return FieldError(path, f"{above}: missing required field '{field}'")
    if detail["type"] == "extra_forbidden" and field and above:
        return FieldError(path, f"{above}: unknown field {quoted(field)}")
    return FieldError(path, f"{path}: {plain_words(detail)}")


def plain_words(detail: Mapping[str, Any]) -> str:
    """What is wrong with a value, by what the schema says of it."""
    kind, value, limits = detail["type"], detail.get("input"), detail.get("ctx", {})
    if kind in _TYPES:
        shape = _SHAPES.get(limits.get("class_name", ""), "")
        such = f", such as {shape}" if shape else ""
        return f"expected type {_TYPES[kind]}{such}, got {type_name(value)}"
    if kind in _LIMITS:
        limit, sign = _LIMITS[kind]
        return f"must be {sign} {limits[limit]}"
    if kind in ("literal_error", "enum"):
        return _choice(value, _WORD.findall(limits["expected"]))
    if kind in ("value_error", "assertion_error"):
        return str(limits["error"])
    if kind.startswith(("datetime_", "timezone_")):
        return f"expected {_TIME}, got {type_name(value)}"
    return _of_text_or_list(kind, limits) or f"no value that is possible here: {type_name(value)}"


def _of_text_or_list(kind: str, limits: Mapping[str, Any]) -> str:
    """What is wrong with how long it is, or with its characters; "" for anything else."""
    if kind == "string_too_short":
        least = limits["min_length"]
        return "must not be empty" if least == 1 else f"must have at least {least} characters"
    if kind == "string_too_long":
        return f"must have at most {limits['max_length']} characters"
    if kind == "too_short":
        least = limits["min_length"]
        return f"must have at least {least} item{'s' * (least != 1)}"
    if kind == "too_long":
        return f"must have at most {limits['max_length']} items"
    if kind == "string_pattern_mismatch":
        return f"must match {limits['pattern']}"
    if kind == "string_unicode":
        return "must not contain half of a surrogate pair"
    return {"missing": "is missing", "extra_forbidden": "is no known field"}.get(kind, "")


def _choice(value: object, allowed: list[str]) -> str:
    if isinstance(value, str):
        return invalid_choice(value, allowed)
    return f"must be one of [{', '.join(allowed)}], got {type_name(value)}"
