"""Time comes into the engine from outside, so that it can be virtual."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import bernstein

PACKAGE = Path(bernstein.__path__[0])
ENGINE = [
    path
    for room in ("kube", "controllers")
    for path in sorted((PACKAGE / room).rglob("*.py"))
    # The client, what it reads and its settings talk to the real world; the shell is a process of
    # its own.
    if path.name not in ("client.py", "pages.py", "config.py", "clock.py", "__main__.py")
]
OWN_CLOCK = {"time.time", "time.monotonic", "datetime.now", "asyncio.sleep", "random.random"}


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_engine_asks_no_clock_of_its_own(path: Path) -> None:
    used = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }

    assert used & OWN_CLOCK == set()
