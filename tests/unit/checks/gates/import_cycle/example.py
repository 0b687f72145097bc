"""Trees that the gate `import_cycle` passes and fails: a circle that was there before is none."""

from __future__ import annotations

from tests.unit.checks.examples import GateExample
from tests.unit.checks.trees import Tree

OLD = {"p/__init__.py": "", "p/a.py": "from p import b\n", "p/b.py": "from p import a\n"}

EXAMPLE = GateExample(
    passes=Tree(OLD | {"p/c.py": "from p import a\n"}, before=OLD),
    fails=Tree(OLD | {"p/a.py": "from p import b, c\n", "p/c.py": "import p.a\n"}, before=OLD),
)
