"""Trees that the gate `tests` passes and fails; it fails without any test, too."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

EXAMPLE = GateExample(
    passes=Tree({"test_a.py": "def test_a() -> None:\n    assert True\n"}),
    fails=Tree({"a.py": "def test_a() -> None:\n    assert True\n"}),
)
