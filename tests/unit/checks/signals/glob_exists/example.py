"""A signal `glob_exists` that is accepted, some that are refused, and trees."""

from __future__ import annotations

from tests.unit.checks.examples import SignalExample
from tests.unit.checks.trees import Tree

EXAMPLE = SignalExample(
    accepted={"type": "glob_exists", "value": "tests/**/test_*.py"},
    refused=(
        {"type": "glob_exists"},
        {"type": "glob_exists", "path": "tests/test_a.py"},
        {"type": "glob_exists", "value": "/*"},
    ),
    holds=Tree({"tests/unit/test_limit.py": ""}),
    fails=Tree({"tests/unit/limit.py": ""}),
)
