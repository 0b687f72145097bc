"""Trees that the gate `lint_suppression` passes and fails: only what the change adds counts."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

EXAMPLE = GateExample(
    passes=Tree(
        {"a.py": "# ruff: noqa\nimport os\nimport re  # noqa: F401\n"},
        before={"a.py": "# ruff: noqa\nimport os\n"},
    ),
    fails=Tree({"a.py": "# ruff: noqa\nimport os\n"}),
)
