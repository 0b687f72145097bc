"""Trees that the gate `large_file` passes and fails: a large file may be edited."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

LONG = "".join(f"a_{i} = {i}\n" for i in range(600))

EXAMPLE = GateExample(
    passes=Tree({"a.py": LONG + "b = 1\n"}, before={"a.py": LONG}),
    fails=Tree({"a.py": LONG}),
)
