"""Trees that the gate `agent_test_mutation` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.gates.mutation_testing.example import CHECKS, CODE, RUNS
from tests.unit.checks.trees import Tree

BEFORE = {"a.py": CODE}

EXAMPLE = GateExample(
    passes=Tree(BEFORE | {"test_a.py": CHECKS}, before=BEFORE),
    fails=Tree(BEFORE | {"test_a.py": RUNS}, before=BEFORE),
)
