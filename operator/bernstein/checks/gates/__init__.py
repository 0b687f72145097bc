"""The built-in gates: a file for each, and here the list of all, in the order of the pipeline."""

from __future__ import annotations

from bernstein.checks.gate import Gate
from bernstein.checks.gates import (
    dlp_scan,
    large_file,
    lint,
    lint_suppression,
    merge_conflict,
    migration_reversibility,
    pii_scan,
    tests,
)
from bernstein.checks.reading import UNKNOWN, Reads

GATES: tuple[Gate, ...] = (
    lint.GATE,
    lint_suppression.GATE,
    tests.GATE,
    pii_scan.GATE,
    dlp_scan.GATE,
    merge_conflict.GATE,
    large_file.GATE,
    migration_reversibility.GATE,
)


def names() -> tuple[str, ...]:
    """Names of the built-in gates."""
    return tuple(gate.name for gate in GATES)


def that_read() -> tuple[str, ...]:
    """Names of the gates that execute nothing, and so take no command."""
    return tuple(gate.name for gate in GATES if isinstance(gate.runs, Reads))


def of(name: str) -> Gate:
    """The built-in gate of that name, else the defaults of a Project's own gate.

    A Project's own gate runs the command in its settings. One without a command may be a gate of a
    newer version: it is Errored.
    """
    own = Gate(name, condition="any_changed", default_on=False, runs=UNKNOWN)
    return next((gate for gate in GATES if gate.name == name), own)
