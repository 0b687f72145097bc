"""A signal `llm_judge` that is accepted, some that are refused, and trees."""

from __future__ import annotations

from tests.unit.checks.examples import SignalExample
from tests.unit.checks.trees import Tree

EXAMPLE = SignalExample(
    accepted={"type": "llm_judge", "criteria": "The old path still answers."},
    refused=(
        {"type": "llm_judge", "criteria": 3},
        {"type": "llm_judge", "criteria": "x" * 1025},
        {"type": "llm_judge", "command": "true"},
    ),
    holds=Tree({"a.py": "OLD = NEW = 1\n"}),
    fails=Tree({"a.py": "NEW = 1\n"}),
)
