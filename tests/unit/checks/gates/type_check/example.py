"""Trees that the gate `type_check` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

EXAMPLE = GateExample(
    passes=Tree({"a.py": "def f(x: int) -> str:\n    return str(x)\n"}),
    fails=Tree({"a.py": "def f(x: int) -> str:\n    return x\n"}),
)
