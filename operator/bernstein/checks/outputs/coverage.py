"""`coverage json`: how much of the code the tests run."""

from __future__ import annotations

import math

from bernstein.checks.findings import NoListing
from bernstein.checks.measures import Measures, Scale
from bernstein.checks.outputs.document import document, report_of

NAME = "coverage"


def measures(output: bytes, _root: str) -> Measures:
    """Per cent of all lines; nothing where there are no lines, or no tests. Raises NoListing."""
    report = document(output)
    if not report:
        return {}
    with report_of("coverage"):
        totals = report["totals"]
        lines, covered = float(totals["num_statements"]), float(totals["percent_covered"])
    if not math.isfinite(covered):
        raise NoListing("a coverage is no number")
    return {NAME: covered} if lines > 0 else {}


SCALE = Scale(measures, unit=" %", less_is_worse=True, stays=True)
