"""A tool's output that is one document of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bernstein.checks.findings import UNREADABLE, NoListing

MOST_BYTES = 32_000_000
"""Of a document: read, it takes many times its size."""


def document(output: bytes) -> dict[str, Any]:
    """The object that the output is. Raises NoListing."""
    if len(output) > MOST_BYTES:
        raise NoListing(f"it is over {MOST_BYTES} bytes")
    try:
        parsed = json.loads(output)
    except (ValueError, RecursionError) as error:
        raise NoListing("it is no document of JSON") from error
    if not isinstance(parsed, dict):
        raise NoListing("it is no object of JSON")
    return parsed


@contextmanager
def report_of(tool: str) -> Iterator[None]:
    """Whatever cannot be read within is no report of the tool: NoListing."""
    try:
        yield
    except UNREADABLE as error:
        raise NoListing(f"it is no report of {tool}") from error


def relative(path: object, root: str) -> str:
    """The path from the folder in which the tool ran."""
    return str(path).removeprefix(root.rstrip("/") + "/").removeprefix("./")
