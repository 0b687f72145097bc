"""A signal `file_contains` that is accepted, some that are refused, and trees."""

from __future__ import annotations

from tests.unit.checks.examples import SignalExample
from tests.unit.checks.trees import Tree

EXAMPLE = SignalExample(
    accepted={"type": "file_contains", "path": "a.py", "contains": "^class A", "regex": True},
    refused=(
        {"type": "file_contains", "path": "a.py"},
        {"type": "file_contains", "contains": "class A"},
        {"type": "file_contains", "path": "a.py", "contains": "(", "regex": True},
        {"type": "file_contains", "path": "a.py", "contains": "x", "command": "true"},
    ),
    holds=Tree({"a.py": "import b\nclass A:\n"}),
    fails=Tree({"a.py": "->class A"}),
)
