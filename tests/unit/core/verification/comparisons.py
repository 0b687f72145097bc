"""Jobs that compare what a linter finds in the work with what it finds in the base."""

from __future__ import annotations

from bernstein.api import pod as protocol
from bernstein.core.jobs import JobView
from tests.unit.core.objects import ended, job, over


def compared(name: str, verdict: str = "Failed", excerpt: str = "1 new:\na.py:1 F401") -> JobView:
    """The Job that has compared what lint finds with what it finds in the base."""
    reason = {"Failed": "NewFindings", "Skipped": "BaseFails"}.get(verdict, "")
    said = protocol.CheckVerdict("lint", verdict, reason, excerpt)
    return job(name, over(ended("checkout"), ended("check", said=said)))
