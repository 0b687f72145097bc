"""What a model says of a change that can be taken as it is, and of one that must not."""

from __future__ import annotations

import json

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

CAREFUL = "import subprocess\n\n\ndef show(name: str) -> None:\n    subprocess.run(['cat', name])\n"
CARELESS = "import os\n\n\ndef show(name: str) -> None:\n    os.system('cat ' + name)\n"


def points(security: float, feedback: str) -> str:
    others = dict.fromkeys(("correctness", "style", "performance", "maintainability"), 6)
    return json.dumps({**others, "security": security, "feedback": feedback})


EXAMPLE = GateExample(
    passes=Tree({"app.py": CAREFUL}),
    fails=Tree({"app.py": CARELESS}),
    good=points(6, ""),
    bad=points(0, "app.py: whoever chooses the name runs what he likes"),
)
