"""A signal `path_exists` that is accepted, some that are refused, and trees."""

from __future__ import annotations

from tests.unit.checks.examples import SignalExample
from tests.unit.checks.trees import Tree

EXAMPLE = SignalExample(
    accepted={"type": "path_exists", "path": "docs/hello.md"},
    refused=(
        {"type": "path_exists"},
        {"type": "path_exists", "path": "docs/hello.md", "value": "*.md"},
        {"type": "path_exists", "path": "../hello.md"},
    ),
    holds=Tree({"docs/hello.md": ""}),
    fails=Tree({"docs": "->elsewhere"}),
)
