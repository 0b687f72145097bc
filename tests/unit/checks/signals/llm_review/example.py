"""A signal `llm_review` that is accepted, some that are refused, and trees."""

from __future__ import annotations

from tests.unit.checks.examples import SignalExample
from tests.unit.checks.trees import Tree

EXAMPLE = SignalExample(
    accepted={"type": "llm_review", "criteria": "Every new function has a test."},
    refused=(
        {"type": "llm_review"},
        {"type": "llm_review", "criteria": ""},
        {"type": "llm_review", "criteria": "x" * 1025},
        {"type": "llm_review", "criteria": "It is tested.", "path": "a.py"},
    ),
    holds=Tree({"a.py": "def a(): ...\n", "test_a.py": "def test_a(): ...\n"}),
    fails=Tree({"a.py": "def a(): ...\n"}),
)
