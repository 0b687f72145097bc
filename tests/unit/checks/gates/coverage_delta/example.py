"""Trees that the gate `coverage_delta` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

CODE = "def f(x: int) -> int:\n    if x:\n        return 1\n    return 2\n"
TEST = "from a import f\n\n\ndef test_f() -> None:\n    assert f(1) == 1\n"
MORE = f"{TEST}    assert f(0) == 2\n"

EXAMPLE = GateExample(
    passes=Tree({"a.py": CODE, "test_a.py": MORE}, before={"a.py": CODE, "test_a.py": TEST}),
    fails=Tree({"a.py": CODE, "test_a.py": TEST}, before={"a.py": CODE, "test_a.py": MORE}),
)
