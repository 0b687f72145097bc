"""pytest-benchmark's document: how long each benchmark takes."""

from __future__ import annotations

import math

from bernstein.checks.findings import NoListing
from bernstein.checks.measures import Measures, Scale
from bernstein.checks.outputs.document import document, report_of


def measures(output: bytes, _root: str) -> Measures:
    """Seconds of the quickest round, by benchmark: what else a machine does only adds to it.

    Raises NoListing.
    """
    report = document(output)
    if not report:
        return {}
    with report_of("pytest-benchmark"):
        seconds = {str(b["fullname"]): float(b["stats"]["min"]) for b in report["benchmarks"]}
    if not all(map(math.isfinite, seconds.values())):
        raise NoListing("a time is no number")
    return seconds


SCALE = Scale(measures, unit=" s", stays=True)
