"""Trees that the gate `comment_quality` passes and fails: tests need no docstrings."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

OLD = "def f() -> int:\n    return 1\n"
TEST = "def test_f() -> None:\n    assert True\n"

EXAMPLE = GateExample(
    passes=Tree({"a.py": f"# Code.\n{OLD}", "tests/test_a.py": TEST}, before={"a.py": OLD}),
    fails=Tree({"a.py": f"{OLD}\n\ndef g() -> None:\n    f()\n"}, before={"a.py": OLD}),
)
