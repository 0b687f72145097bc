"""A step "Add the answer": what a model says of a change that does, and of one that does not."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

EXAMPLE = GateExample(
    passes=Tree({"app.py": "def answer() -> int:\n    return 42\n"}),
    fails=Tree({"app.py": "def question() -> str:\n    return '?'\n"}),
    good='{"verdict": "yes", "feedback": ""}',
    bad='{"verdict": "no", "feedback": "app.py: there is no answer"}',
)
