"""Trees that the gate `mutation_testing` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

CODE = (
    "def grade(points: int) -> str:\n"
    "    if points >= 50:\n        return 'pass'\n    return 'fail'\n"
)
RUNS = "from a import grade\n\n\ndef test_grade() -> None:\n    grade(50)\n"
CHECKS = (
    "from a import grade\n\n\ndef test_grade() -> None:\n"
    "    assert [grade(n) for n in (49, 50, 51)] == ['fail', 'pass', 'pass']\n"
)

EXAMPLE = GateExample(
    passes=Tree({"a.py": CODE, "test_a.py": CHECKS}),
    fails=Tree({"a.py": CODE, "test_a.py": RUNS}),
)
