"""Reads records and token counts out of output that may be hostile."""

from __future__ import annotations

import json
from typing import Any

from bernstein.api.pod import Usage

LINE_LIMIT = 1024 * 1024
"""Bytes of a line; longer lines, such as one with a command's whole output, are skipped."""
COUNT_LIMIT = 1_000_000_000
"""A single count above this is taken for an error, and not counted."""
TOTAL_LIMIT = 1_000_000_000_000
SHOWN_LIMIT = 16 * 1024

StreamRecord = dict[str, Any]


def parse(line: bytes) -> StreamRecord | None:
    """The JSON object on a line; None for anything else."""
    if len(line) > LINE_LIMIT or not line.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def plain(line: bytes) -> str:
    """A line that is no record, as text: what a CLI prints beside them. At most SHOWN_LIMIT bytes
    of it are looked at."""
    return line[:SHOWN_LIMIT].decode(errors="replace").rstrip("\r\n")


def text(record: StreamRecord, *path: str) -> str:
    """The string at `path`; empty if there is none."""
    value: Any = record
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def count(record: StreamRecord, key: str) -> int | None:
    """A token count: an integer within bounds (0 when absent), else None."""
    value = record.get(key, 0)
    if type(value) is not int or not 0 <= value <= COUNT_LIMIT:
        return None
    return value


def add(a: Usage, b: Usage) -> Usage:
    """The sum of two usages, where no count goes above TOTAL_LIMIT."""
    return Usage(
        min(a.input + b.input, TOTAL_LIMIT),
        min(a.output + b.output, TOTAL_LIMIT),
        min(a.cache_read + b.cache_read, TOTAL_LIMIT),
        min(a.cache_write + b.cache_write, TOTAL_LIMIT),
    )


def highest(a: Usage, b: Usage) -> Usage:
    """The larger count of each kind of tokens."""
    return Usage(
        max(a.input, b.input),
        max(a.output, b.output),
        max(a.cache_read, b.cache_read),
        max(a.cache_write, b.cache_write),
    )


def tail(value: str, limit: int) -> str:
    """The last `limit` characters."""
    return value if len(value) <= limit else "…" + value[1 - limit :]


def head(value: str, limit: int) -> str:
    """What is needed of the beginning, on one line, for `limit` characters to be shown: up to
    `looked_at(limit)`. It is cut when its secrets are masked: half of one is not known as one."""
    # Nothing beyond that is looked at: no need to split a megabyte.
    return " ".join(value[: looked_at(limit)].split())


def looked_at(limit: int) -> int:
    """Characters of a text of which `limit` are shown, and one by which it is seen to go on."""
    return 4 * limit + 1
