"""What the code has names for, so that pages name nothing else."""

from __future__ import annotations

import re
from functools import cache

from tests.unit.rooms import PACKAGE, ROOT


@cache
def _text() -> str:
    trees = (PACKAGE, ROOT / "tests")
    return "\n".join(path.read_text() for tree in trees for path in sorted(tree.rglob("*.py")))


@cache
def words() -> set[str]:
    """Names of classes, and every single word that the program has as text, such as a state."""
    code = "\n".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    return {*re.findall(r"^class (\w+)", code, re.MULTILINE), *re.findall(r'"(\w+)"', code)}


def is_constant(name: str) -> bool:
    """Of a module of the program or its tests, or of a class."""
    return re.search(rf"^ *{name}\b[^=\n]* = |^ *{name}: ", _text(), re.MULTILINE) is not None
