"""Trees that the gate `security_scan` passes and fails: what the base has is no finding."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

OLD = "import subprocess\n\n\ndef run(x: str) -> None:\n    subprocess.call(x, shell=True)\n"

EXAMPLE = GateExample(
    passes=Tree({"a.py": f"{OLD}\n\nA = 1\n"}, before={"a.py": OLD}),
    fails=Tree({"a.py": OLD, "b.py": OLD}, before={"a.py": OLD}),
)
