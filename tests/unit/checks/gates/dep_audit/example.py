"""Trees that the gate `dep_audit` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

EXAMPLE = GateExample(
    passes=Tree({"requirements.txt": "leaky==2.0\n"}, before={"requirements.txt": "leaky==1.0\n"}),
    fails=Tree({"requirements.txt": "leaky==1.0\n"}, before={"requirements.txt": "leaky==2.0\n"}),
)
