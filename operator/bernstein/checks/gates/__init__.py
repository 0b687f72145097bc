"""The built-in gates: a file for each, and here the list of all, in the order of the pipeline."""

from __future__ import annotations

from bernstein.checks.asks import Asks
from bernstein.checks.gate import Command, Formats, Gate, Writes
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
from bernstein.checks.gates.asking import intent_verification, review_rubric, test_expansion
from bernstein.checks.gates.changing import auto_format
from bernstein.checks.gates.writing import integration_test_gen
from bernstein.checks.reading import UNKNOWN, Reads

GATES: tuple[Gate, ...] = (
    auto_format.GATE,
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
    intent_verification.GATE,
    mutation_testing.GATE,
    dead_code.GATE,
    comment_quality.GATE,
    large_file.GATE,
    integration_test_gen.GATE,
    review_rubric.GATE,
    test_expansion.GATE,
    agent_test_mutation.GATE,
    benchmark.GATE,
    migration_reversibility.GATE,
)


def names() -> tuple[str, ...]:
    """Names of the built-in gates."""
    return tuple(gate.name for gate in GATES)


def that_read() -> tuple[str, ...]:
    """Names of the gates that only read a commit."""
    return tuple(gate.name for gate in GATES if isinstance(gate.runs, Reads))


def that_ask() -> tuple[str, ...]:
    """Names of the gates that a model answers."""
    return tuple(gate.name for gate in GATES if isinstance(gate.runs, Asks))


def that_write() -> tuple[str, ...]:
    """Names of the gates that run what a model writes for them."""
    return tuple(gate.name for gate in GATES if isinstance(gate.runs, Writes))


def that_need_a_model() -> tuple[str, ...]:
    """Names of the gates that put the change to a model, whatever comes of that."""
    return tuple(gate.name for gate in GATES if isinstance(gate.runs, Asks | Writes))


def that_execute_nothing() -> tuple[str, ...]:
    """Names of the gates that read or ask, and so take no command."""
    return tuple(gate.name for gate in GATES if isinstance(gate.runs, Reads | Asks))


def that_format() -> tuple[str, ...]:
    """Names of the gates that change files before anything is judged."""
    return tuple(gate.name for gate in GATES if isinstance(gate.runs, Formats))


def that_may_only_tell() -> tuple[str, ...]:
    """Names of the gates of which a Project may say that their answers keep nothing back."""
    return tuple(g.name for g in GATES if isinstance(g.runs, Asks) and g.runs.may_only_tell)


def that_advise() -> tuple[str, ...]:
    """Names of the gates that never keep anything back."""
    asking = tuple(g.name for g in GATES if isinstance(g.runs, Asks) and g.runs.advises)
    return (*that_format(), *asking)


def of_severity() -> tuple[str, ...]:
    """Names of the gates whose findings have a severity."""
    return tuple(g.name for g in GATES if isinstance(g.runs, Command) and g.runs.of_severity)


def that_ask_a_database() -> tuple[str, ...]:
    """Names of the gates that ask a database for what is known of dependencies."""
    return tuple(g.name for g in GATES if isinstance(g.runs, Command) and g.runs.database)


def that_measure() -> tuple[str, ...]:
    """Names of the gates that compare measures, and so have a tolerance."""
    commands = ((gate.name, gate.runs) for gate in GATES)
    return tuple(n for n, c in commands if isinstance(c, Command) and c.tolerance is not None)


def that_ask_for_a_share() -> tuple[str, ...]:
    """Names of the gates that ask for a share of faults, from 0 to 1."""
    commands = ((gate.name, gate.runs) for gate in GATES)
    return tuple(n for n, c in commands if isinstance(c, Command) and c.least is not None)


def that_score() -> tuple[str, ...]:
    """Names of the gates that ask for a score: such a share, or points of 10."""
    asking = tuple(g.name for g in GATES if isinstance(g.runs, Asks) and g.runs.least is not None)
    return (*that_ask_for_a_share(), *asking)


def of(name: str) -> Gate:
    """The built-in gate of that name, else the defaults of a Project's own gate.

    A Project's own gate runs the command in its settings. One without a command may be a gate of a
    newer version: it is Errored.
    """
    own = Gate(name, condition="any_changed", default_on=False, runs=UNKNOWN)
    return next((gate for gate in GATES if gate.name == name), own)
