"""Trees that the gate `merge_conflict` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

EXAMPLE = GateExample(
    passes=Tree({"a.py": "a = 1\n"}),
    fails=Tree({"a.py": "a = 1\n"}, in_conflict=("a.py",)),
)
