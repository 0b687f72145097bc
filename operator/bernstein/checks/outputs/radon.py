"""`radon cc --json`: how many ways lead through each function."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from bernstein.checks.measures import Measures, Scale
from bernstein.checks.outputs.document import document, relative, report_of

HARMLESS = 5
"""Radon's rank A. One more `if` in a small function is more than a fifth, and nothing to mend."""


def measures(output: bytes, root: str) -> Measures:
    """By file, class and name of the function. Raises NoListing.

    A file that radon cannot read has none: it is the linter's to tell of.
    """
    complexities: dict[str, float] = {}
    report = document(output)
    with report_of("radon"):
        for path, blocks in report.items():
            for name, value in _blocks(blocks if isinstance(blocks, list) else ()):
                key = f"{relative(path, root)}:{name}"
                # Of two with one name, as of a property and its setter, the greater counts.
                complexities[key] = max(value, complexities.get(key, 0))
    return complexities


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
