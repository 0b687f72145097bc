"""Trees that the gate `complexity_check` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree


def function(ways: int) -> str:
    branches = "".join(f"    if x == {i}:\n        return {i}\n" for i in range(ways - 1))
    return f"def f(x: int) -> int:\n{branches}    return -1\n"


EXAMPLE = GateExample(
    passes=Tree({"a.py": function(12)}, before={"a.py": function(10)}),
    fails=Tree({"a.py": function(13)}, before={"a.py": function(10)}),
)
