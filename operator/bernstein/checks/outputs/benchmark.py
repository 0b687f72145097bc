"""pytest-benchmark's document: how long each benchmark takes."""

from __future__ import annotations

import math

from bernstein.checks.findings import UNREADABLE, NoListing
from bernstein.checks.measures import Measures, Scale
from bernstein.checks.outputs.document import document


def measures(output: bytes, _root: str) -> Measures:
    """Seconds of the quickest round, by benchmark: what else a machine does only adds to it.

    Raises NoListing.
    """
    report = document(output)
    if not report:
        return {}
    try:
        found = {str(b["fullname"]): float(b["stats"]["min"]) for b in report["benchmarks"]}
    except UNREADABLE as error:
        raise NoListing("it is no report of pytest-benchmark") from error
    if not all(map(math.isfinite, found.values())):
        raise NoListing("a time is no number")
    return found


SCALE = Scale(measures, unit=" s", stays=True)
