"""Trees that the gate `lint` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

EXAMPLE = GateExample(
    passes=Tree({"a.py": "import os\n\nprint(os.name)\n"}),
    fails=Tree({"a.py": "import os\n"}),
)
