"""A change that does what its step asks for and one that does not, by the same written test; and an
answer in which there is none."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

RIGHT = "def share(whole: int, among: int) -> int:\n    return whole // among\n"
WRONG = RIGHT.replace("//", "*")
TEST = "import app\n\n\ndef test_a_half() -> None:\n    assert app.share(4, 2) == 2\n"

EXAMPLE = GateExample(
    passes=Tree({"app.py": RIGHT}),
    fails=Tree({"app.py": WRONG}),
    good=f"```python\n{TEST}```",
    bad=TEST,
)
