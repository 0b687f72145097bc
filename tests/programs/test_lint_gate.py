"""The built-in lint gate, run as its Job runs it, on trees that would hide from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bernstein.api.pod import Check
from bernstein.api.projects.gates import Gates, GateSettings
from bernstein.checks.spec import Subject
from bernstein.core.verification.expected.required import reading, required_checks
from bernstein.pods.programs.inspect import judge
from tests.unit.checks.trees import Tree
from tests.unit.core.objects import project

pytestmark = pytest.mark.verification

ANY = Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True)
(COMMAND,) = (
    spec.command
    for spec in required_checks(
        (),
        project().spec,
        ANY,
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


@pytest.mark.parametrize(
    "folder",
    [
        *("dist", "_build", "venv", ".venv", "node_modules", "site-packages"),
        *("buck-out", "__pypackages__", ".tox", ".nox", ".eggs", ".direnv", ".vscode"),
    ],
)
def test_a_folder_of_a_usual_name_hides_nothing_from_the_linter(tree: Path, folder: str) -> None:
    assert COMMAND is not None
    (tree / "pkg").rename(tree / folder)

    assert lint(tree, "ruff check --no-cache --no-respect-gitignore .") == 0, (
        "payload does not work"
    )
    assert lint(tree, COMMAND) == 1


@pytest.mark.parametrize("path", ["pkg/bad.pyw", ".ci/a b.pyw"])
def test_a_program_with_windows_is_looked_at_too(tree: Path, path: str) -> None:
    assert COMMAND is not None
    (tree / path).parent.mkdir(exist_ok=True)
    (tree / "pkg" / "bad.py").rename(tree / path)

    usual = "ruff check --no-cache --no-respect-gitignore --exclude .git ."
    assert lint(tree, usual) == 0, "the payload does not work"
    assert lint(tree, COMMAND) == 1
    (tree / "ruff.toml").write_text('extend-exclude = ["*.pyw"]')
    assert lint(tree, COMMAND) == 0, "what the Project excludes stays excluded"


@pytest.mark.parametrize("setting", ['exclude = ["pkg"]', 'exclude = ["*.py"]'])
def test_no_setting_of_the_tree_excludes_what_the_command_looks_at(
    tree: Path, setting: str
) -> None:
    assert COMMAND is not None
    (tree / "ruff.toml").write_text(setting)

    assert lint(tree, "ruff check --no-cache .") == 0, "the payload does not work"
    assert lint(tree, COMMAND) == 1


def test_what_the_project_excludes_besides_stays_excluded(tree: Path) -> None:
    assert COMMAND is not None
    (tree / "ruff.toml").write_text('extend-exclude = ["pkg"]')

    assert lint(tree, COMMAND) == 0


def notebook(source: str) -> str:
    """With one cell; `source` as it stands in JSON."""
    cell = (
        '{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": '
    )
    return f'{{"cells": [{cell}{source}}}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 4}}'


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pkg/a.ipynb", notebook('["import os\\n", "# ruff: noqa"]')),
        ("pkg/a.ipynb", notebook('["import os\\n", "\\u0023 ruff: noqa"]')),
        ("pkg/a.ipynb", notebook('["import os\\n", "\\u0023 ru", "ff\\u003a \\u006eoqa"]')),
        ("pkg/a.ipynb", notebook('"import os\\n\\t\\u0023 ruff: noqa"').replace("\\t", "")),
        ("pkg/a.py", "\ufeff# ruff: noqa\nimport os\n"),
        ("pkg/a.py", "import os\rx = 1\r# ruff: noqa\r"),
        ("pkg/a.py", "# coding: utf-7\nimport os\n# ruff: noqa\n"),
    ],
)
def test_no_spelling_of_such_a_comment_hides_it_from_the_gate(
    tree: Path, path: str, text: str
) -> None:
    assert COMMAND is not None
    (tree / "pkg" / "bad.py").write_text("")
    (tree / path).write_text(text.replace("noqa", "words").replace("u006eoqa", "words"), newline="")
    assert lint(tree, COMMAND) == 1
    (tree / path).write_text(text, newline="")
    assert lint(tree, COMMAND) == 0, "the payload does not work"

    verdict = judge(Tree({path: text}), Check("lint_suppression", "lint_suppression"))
    assert (verdict.verdict, verdict.reason) == ("Failed", "SuppressionAdded")


def test_a_byte_order_mark_hides_none_from_the_gate_beside_a_type_checker(tree: Path) -> None:
    text = "\ufeff# mypy: ignore-errors"
    bad = "x: int = ''\n"
    command = f"mypy --no-incremental --config-file= --cache-dir={os.devnull} pkg/bad.py"
    (tree / "pkg" / "bad.py").write_text(bad)
    assert lint(tree, command) == 1
    (tree / "pkg" / "bad.py").write_text(f"{text}\n{bad}")
    assert lint(tree, command) == 0, "the payload does not work"

    after = Tree({"pkg/bad.py": f"{text}\n{bad}"}, before={"pkg/bad.py": bad})
    verdict = judge(after, Check("lint_suppression", "lint_suppression"))
    assert (verdict.verdict, verdict.reason) == ("Failed", "SuppressionAdded")


@pytest.mark.parametrize(
    "line",
    [
        "# ruff: noqa",
        "#ruff:noqa",
        "# flake8: noqa",
        "    # ruff: noqa: F401",
        "# flake8:noqa:F401",
        "# why not  # ruff: noqa",
        "# ruff: disable[F401]",
        "# ruff: file-ignore[F401]",
        "# ruff\t:  noqa",
    ],
)
def test_what_silences_the_linter_for_a_file_is_found_by_the_gate_beside_it(
    tree: Path, line: str
) -> None:
    assert COMMAND is not None
    (tree / "pkg" / "bad.py").write_text(f"{line}\nimport os\n")
    assert lint(tree, COMMAND) == 0, "the payload does not work"

    added = Tree({"pkg/bad.py": f"{line}\nimport os\n"}, before={"pkg/bad.py": "import os\n"})
    verdict = judge(added, Check("lint_suppression", "lint_suppression"))
    assert (verdict.verdict, verdict.reason) == ("Failed", "SuppressionAdded")
    assert "pkg/bad.py:1" in verdict.excerpt


def test_a_project_that_lists_its_linter_alone_is_not_blinded_by_such_a_comment(tree: Path) -> None:
    text = "# ruff: noqa\nimport os\n"
    listed = project().spec.model_copy(
        update={"gates": Gates(pipeline=(GateSettings(name="lint"),))}
    )
    specs = required_checks((), listed, ANY)
    command = next(spec.command for spec in specs if spec.name == "lint")
    assert command is not None
    assert lint(tree, command) == 1
    (tree / "pkg" / "bad.py").write_text(text)
    assert lint(tree, command) == 0, "the payload does not work"

    work = Tree({"pkg/bad.py": text}, before={"pkg/bad.py": "import os\n"})
    read = [judge(work, spec.reads) for spec in reading(specs) if spec.reads is not None]
    assert [(verdict.verdict, verdict.reason) for verdict in read] == [
        ("Failed", "SuppressionAdded")
    ]
    assert all(spec.required for spec in reading(specs))
