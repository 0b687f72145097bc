"""What a model says of a change that is tested, and of one that is not."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

SHARE = "def share(whole: int, among: int) -> int:\n    return whole // among\n"
TEST = "import app\n\n\ndef test_a_half() -> None:\n    assert app.share(4, 2) == 2\n"

EXAMPLE = GateExample(
    passes=Tree({"app.py": SHARE, "test_app.py": TEST}),
    fails=Tree({"app.py": SHARE}),
    good='{"missing": []}',
    bad='{"missing": ["app.py: share, of nobody: it is refused"]}',
)
