"""Trees that the gate `dlp_scan` passes and fails: only what the change adds counts."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

OLD = "# SPDX-License-Identifier: AGPL-3.0-only\n"

EXAMPLE = GateExample(
    passes=Tree({"a.py": f"{OLD}b = 1\n"}, before={"a.py": OLD}),
    fails=Tree({"a.py": OLD}),
)
