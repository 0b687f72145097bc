"""Trees that the gate `pii_scan` passes and fails: only what the change adds counts."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

KEY = "AKIA" + "Q3EGRIHBAJ6XVK2P"

EXAMPLE = GateExample(
    passes=Tree({"a.py": f"key = '{KEY}'\nb = 1\n"}, before={"a.py": f"key = '{KEY}'\n"}),
    fails=Tree({"a.py": f"key = '{KEY}'\n"}),
)
