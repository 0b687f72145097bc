"""Trees that the gate `migration_reversibility` passes and fails."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

FORTH = 'revision = "b"\ndown_revision = "a"\n\n\ndef upgrade() -> None:\n    op.drop_table("t")\n'

EXAMPLE = GateExample(
    passes=Tree({"v/b.py": f'{FORTH}\n\ndef downgrade() -> None:\n    op.create_table("t")\n'}),
    fails=Tree({"v/b.py": f"{FORTH}\n\ndef downgrade() -> None:\n    pass\n"}),
)
