"""The built-in gates: a file for each, and here the list of all, in the order of the pipeline."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate
from bernstein.checks.gates import (
    agent_test_mutation,
    benchmark,
    comment_quality,
    complexity_check,
    coverage_delta,
    dead_code,
    dep_audit,
    dlp_scan,
    import_cycle,
    large_file,
    lint,
    lint_suppression,
    merge_conflict,
    migration_reversibility,
    mutation_testing,
    pii_scan,
    security_scan,
    tests,
    type_check,
)
from bernstein.checks.reading import UNKNOWN, Reads

GATES: tuple[Gate, ...] = (
    lint.GATE,
    lint_suppression.GATE,
    type_check.GATE,
    tests.GATE,
    security_scan.GATE,
    complexity_check.GATE,
    pii_scan.GATE,
    dlp_scan.GATE,
    merge_conflict.GATE,
    coverage_delta.GATE,
    dep_audit.GATE,
    import_cycle.GATE,
    mutation_testing.GATE,
    dead_code.GATE,
    comment_quality.GATE,
    large_file.GATE,
    agent_test_mutation.GATE,
    benchmark.GATE,
    migration_reversibility.GATE,
)


def names() -> tuple[str, ...]:
    """Names of the built-in gates."""
    return tuple(gate.name for gate in GATES)


def that_read() -> tuple[str, ...]:
    """Names of the gates that execute nothing, and so take no command."""
    return tuple(gate.name for gate in GATES if isinstance(gate.runs, Reads))


def of_severity() -> tuple[str, ...]:
    """Names of the gates whose findings have a severity."""
    return tuple(g.name for g in GATES if isinstance(g.runs, Command) and g.runs.of_severity)


def that_measure() -> tuple[str, ...]:
    """Names of the gates that compare measures, and so have a tolerance."""
    commands = ((gate.name, gate.runs) for gate in GATES)
    return tuple(n for n, c in commands if isinstance(c, Command) and c.tolerance is not None)


def that_score() -> tuple[str, ...]:
    """Names of the gates that ask for a share of faults, and so have one."""
    commands = ((gate.name, gate.runs) for gate in GATES)
    return tuple(n for n, c in commands if isinstance(c, Command) and c.least is not None)


def of(name: str) -> Gate:
    """The built-in gate of that name, else the defaults of a Project's own gate.

    A Project's own gate runs the command in its settings. One without a command may be a gate of a
    newer version: it is Errored.
    """
    own = Gate(name, condition="any_changed", default_on=False, runs=UNKNOWN)
    return next((gate for gate in GATES if gate.name == name), own)
