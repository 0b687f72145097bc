"""A signal `test_passes` that is accepted, some that are refused, and trees."""

from __future__ import annotations

from tests.unit.checks.examples import SignalExample
from tests.unit.checks.trees import Tree

EXAMPLE = SignalExample(
    accepted={"type": "test_passes", "command": "grep -q done a.txt", "timeout_seconds": 30},
    refused=(
        {"type": "test_passes"},
        {"type": "test_passes", "command": "true", "timeout_seconds": 0},
        {"type": "test_passes", "command": "true", "path": "a.txt"},
    ),
    holds=Tree({"a.txt": "done\n"}),
    fails=Tree({"a.txt": "not yet\n"}),
)
