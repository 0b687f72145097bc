"""`radon cc --json`, a report of each call: how many ways lead through each function."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from typing import Any

from bernstein.checks.findings import MOST, NoListing
from bernstein.checks.measures import Measures, Scale
from bernstein.checks.outputs.document import documents, relative, report_of

_LONG = 300
"""Characters of a path with a name, of which no more is kept."""
HARMLESS = 5
"""Radon's rank A. One more `if` in a small function is more than a fifth, and nothing to mend."""


def measures(output: bytes, root: str) -> Measures:
    """By file, class and name of the function. Raises NoListing.

    A file that radon cannot read has none: it is the linter's to tell of.
    """
    found: dict[str, float] = {}
    with report_of("radon"):
        for path, name, value in _measured(documents(output)):
            key = _key(relative(path, root), name)
            # Of two with one name, as of a property and its setter, the greater counts.
            found[key] = max(value, found.get(key, 0))
            if len(found) > MOST:
                raise NoListing(f"there are over {MOST} functions")
    return found


def _measured(reports: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, float]]:
    for report in reports:
        for path, blocks in report.items():
            for name, value in _blocks(blocks if isinstance(blocks, list) else ()):
                yield path, name, value


def _key(path: str, name: str) -> str:
    """The path stands before each name of a file: many long ones would take much memory."""
    key = f"{path}:{name}"
    if len(key) <= _LONG:
        return key
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{key[:_LONG]}...{digest[:32]}"


def _blocks(blocks: Iterable[Any]) -> Iterator[tuple[str, float]]:
    for block in blocks:
        if block["type"] == "class":  # its methods are listed besides
            continue
        name = f"{block['classname']}.{block['name']}" if "classname" in block else block["name"]
        value = float(block["complexity"])
        if not math.isfinite(value):
            raise ValueError(name)
        yield str(name), value


SCALE = Scale(measures, unit="", harmless=HARMLESS)
