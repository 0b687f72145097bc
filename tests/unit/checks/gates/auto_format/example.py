"""Trees that the gate `auto_format` formats, and leaves as it cannot read them."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

EXAMPLE = GateExample(
    passes=Tree({"a.py": "x = {  'a':1 }\n"}),
    fails=Tree({"a.py": "def (:\n"}),
)
