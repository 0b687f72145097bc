"""The built-in lint gate, run as its Job runs it, on trees that would hide from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bernstein.checks.spec import Subject
from bernstein.core.verification.required import required_checks
from tests.unit.core.objects import project

(COMMAND,) = (
    spec.command
    for spec in required_checks(
        (),
        project().spec,
        Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True),
    )
    if spec.name == "lint"
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A file with an unused import, in a folder of its own."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "bad.py").write_text("import os\n")
    return tmp_path


def lint(tree: Path, command: str) -> int:
    tools = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", command], cwd=tree, env=tools, check=False).returncode


@pytest.mark.parametrize("ignore", [".ignore", ".gitignore", "pkg/.ignore"])
def test_an_ignore_file_hides_nothing_from_the_linter(tree: Path, ignore: str) -> None:
    assert COMMAND is not None
    subprocess.run(["git", "init", "--quiet", str(tree)], check=True)
    assert lint(tree, COMMAND) == 1
    (tree / ignore).write_text("*.py\n")

    assert lint(tree, "ruff check --no-cache .") == 0, "the payload does not work"
    assert lint(tree, COMMAND) == 1
