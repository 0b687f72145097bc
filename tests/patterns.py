"""The API server's patterns are Go's: for Python a code point is written otherwise."""

from __future__ import annotations

import re
from typing import Any

_CODE_POINT = re.compile(r"\\x\{([0-9a-f]+)\}")


def in_python(pattern: str) -> str:
    return _CODE_POINT.sub(lambda code: f"\\U{int(code[1], 16):08x}", pattern)


def schema_in_python(schema: Any) -> Any:
    """The schema with all of its patterns as Python writes them."""
    if isinstance(schema, dict):
        return {
            key: in_python(value)
            if key == "pattern" and isinstance(value, str)
            else schema_in_python(value)
            for key, value in schema.items()
        }
    return [schema_in_python(item) for item in schema] if isinstance(schema, list) else schema
