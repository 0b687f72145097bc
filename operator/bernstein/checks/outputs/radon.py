"""`radon cc --json`, a report of each call: how many ways lead through each function."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bernstein.checks.findings import MOST, NoListing
from bernstein.checks.measures import Measures, Scale
from bernstein.checks.outputs.document import documents, relative, report_of

_LONG_PATH, _LONG_NAME = 300, 100
"""Characters of a path and of a name in it, of which no more is kept."""
HARMLESS = 5
"""Radon's rank A. One more `if` in a small function is more than a fifth, and nothing to mend."""


def measures(output: bytes, root: str) -> Measures:
    """By file, class and name of the function; a file that it cannot read has none. Raises
    NoListing."""
    complexities: dict[str, float] = {}
    with report_of("radon"):
        for path, name, value in _measured(documents(output)):
            key = f"{_short(relative(path, root), _LONG_PATH)}:{_short(name, _LONG_NAME)}"
            # Of two with one name, as of a property and its setter, the greater counts.
            complexities[key] = max(value, complexities.get(key, 0))
            if len(complexities) > MOST:
                raise NoListing(f"there are over {MOST} functions")
    return complexities


def unread(output: bytes, root: str) -> Mapping[str, str]:
    """Files that radon cannot read, which Python may run all the same: one that begins with a byte
    order mark, or with an expression that is too long for it. Raises NoListing."""
    found: dict[str, str] = {}
    with report_of("radon"):
        for report in documents(output):
            for path, said in report.items():
                if isinstance(said, list):
                    continue
                why = said.get("error") if isinstance(said, dict) else None
                name = _short(relative(path, root), _LONG_PATH)
                found[name] = str(why or "radon cannot read it")[:_LONG_NAME]
                if len(found) > MOST:
                    raise NoListing(f"there are over {MOST} files that radon cannot read")
    return found


def _measured(reports: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, float]]:
    for report in reports:
        for path, blocks in report.items():
            for name, value in _blocks(blocks if isinstance(blocks, list) else ()):
                yield path, name, value


def _short(text: str, most: int) -> str:
    """The path stands before each name of a file: many long ones would take much memory. Each is
    cut by itself, so that a name is the same where its file has another path."""
    if len(text) <= most:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[:most]}...{digest[:32]}"


def _blocks(blocks: Iterable[Any]) -> Iterator[tuple[str, float]]:
    for block in blocks:
        if block["type"] == "class":  # its methods are listed besides
            continue
        name = f"{block['classname']}.{block['name']}" if "classname" in block else block["name"]
        value = float(block["complexity"])
        if not math.isfinite(value):
            raise ValueError(name)
        yield str(name), value


SCALE = Scale(measures, unit="", harmless=HARMLESS, beside=unread, unread=unread)
