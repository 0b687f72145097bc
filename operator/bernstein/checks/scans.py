"""Finds the scan of a check that only reads, whether it is a signal, a gate or a rule."""

from __future__ import annotations

from bernstein.checks import gates, rules, signals
from bernstein.checks.reading import UNKNOWN, Reads


def reads_of(type_: str) -> Reads:
    """The Reads of the type of signal, else of the gate, else of the rule, of that name; UNKNOWN if
    there is none."""
    for runs in (signals.of(type_).runs, gates.of(type_).runs, rules.of(type_).runs):
        if isinstance(runs, Reads) and runs is not UNKNOWN:
            return runs
    return UNKNOWN
