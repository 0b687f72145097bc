"""Trees that the gate `dead_code` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

OLD = "def unused() -> int:\n    return 1\n"

EXAMPLE = GateExample(
    passes=Tree({"a.py": f"{OLD}\n\nprint(2)\n"}, before={"a.py": OLD}),
    fails=Tree({"a.py": f"import os\n\n\n{OLD}"}, before={"a.py": OLD}),
)
