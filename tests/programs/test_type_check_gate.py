"""The built-in gate `type_check`, run as its Jobs run it, on trees that would hide from pyright."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.api.pod import CheckVerdict
from bernstein.api.programs.comparing import CompareConfig
from bernstein.checks.gates import type_check
from bernstein.pods.programs import compare
from tests.programs.gate_runs import listing, run, verdict, write
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

GATE = type_check.COMMAND
GOOD = {"good.py": "x: int = 1\n"}
WRONG = "x: int = ''\n"
NAMES = (
    *("node_modules/a.py", ".github/a.py", "p/.a.py", "__pycache__/a.py", "__editable__.py"),
    *("p/.stubs/a.pyi", ".ci/a b*.py", "p/a.pyw", ".ci/a b.pyw"),
)
MARKED = {
    "venv/a.py": "venv/pyvenv.cfg",
    "conda/a.py": "conda/conda-meta/history",
    "script/a.py": "script/bin/activate",
    "windows/a.py": "windows/Scripts/activate",
    "folder/a.py": "folder/pyvenv.cfg/x",
    "aside/a.py": "aside/conda-meta./x",
    "both/conda-meta/a.py": "both/conda-meta/pyvenv.cfg",
}
"""Files, each with one that makes pyright take its folder for an environment."""
BY_NAME = dict.fromkeys(NAMES, WRONG)
BY_MARK = dict.fromkeys(MARKED, WRONG) | dict.fromkeys(MARKED.values(), "")
LED_OUT = {"linked/a.py": WRONG, "linked/bin": "->../scripts", "scripts/activate": ""}
HIDES = {"names": BY_NAME, "marks": BY_MARK | LED_OUT | {"aside/conda-meta/x": ""}}
ALL_MARKED = {"a.py": WRONG, "pyvenv.cfg": ""}


@pytest.mark.parametrize("files", [*HIDES.values(), ALL_MARKED], ids=[*HIDES, "the root"])
def test_no_name_and_no_mark_hides_a_file_from_the_type_checker(
    files: dict[str, str], tmp_path: Path
) -> None:
    tree = Tree(GOOD | files)
    write(tree, tmp_path / "plain")
    assert run("pyright", tmp_path / "plain").returncode == 0, "the payload does not work"

    assert verdict(GATE, tree, tmp_path).verdict == "Failed"


@pytest.mark.parametrize("how", HIDES)
def test_what_is_wrong_there_is_told_once_where_it_is_new(how: str, tmp_path: Path) -> None:
    before = GOOD | {"old/.a.py": WRONG, "old/pyvenv.cfg": ""}
    wrong = [path for path, text in HIDES[how].items() if text == WRONG]

    found = compared(Tree(before | HIDES[how], before=before), tmp_path)

    assert (found.verdict, found.reason) == ("Failed", "NewFindings")
    told = found.excerpt.splitlines()[1:]
    assert len(told) == len(wrong)
    for path in wrong:
        # A mark that is a folder itself has another name by then.
        assert sum(line.startswith(path.removesuffix("conda-meta/a.py")) for line in told) == 1
        assert all("reportAssignmentType" in line for line in told)


def test_a_new_mark_hides_no_new_error_of_a_file_that_was_there(tmp_path: Path) -> None:
    before = {"p/a.py": "x: int = 1\ny = ''\n"}
    tree = Tree({"p/a.py": "x: int = 1\ny: int = ''\n", "p/pyvenv.cfg": ""}, before=before)

    assert "1 new:\np/a.py:2 reportAssignmentType" in compared(tree, tmp_path).excerpt


CONFIGURED = {
    "pyrightconfig.json": '{"reportMissingImports": "error", "exclude": ["**/.made"],}',
    "pyproject.toml": '[tool.pyright]\nreportMissingImports = "error"\nexclude = ["**/.made"]\n',
}
USES = "import lib.m\nfrom p import V\n\nx: str = V\n"
REPOSITORY = {"src/lib/m.py": "", "p.py": "V: int = 1\n"}


@pytest.mark.parametrize("file", CONFIGURED)
def test_what_the_project_configures_holds_for_passed_over_files_too(
    file: str, tmp_path: Path
) -> None:
    hidden = {".ci/a.py": USES, ".made/b.py": WRONG, ".ci/c.py": "import nowhere\n"}
    before = REPOSITORY | {file: CONFIGURED[file]}

    found = compared(Tree(before | hidden, before=before), tmp_path)

    assert sorted(line.split(" reportM")[0] for line in found.excerpt.splitlines()[1:]) == [
        '.ci/a.py:4 reportAssignmentType Type "int" is not assignable to declared type "str"'
        ' "int" is not assignable to "str"',
        ".ci/c.py:1",
    ]


def test_a_link_that_leads_nowhere_hides_nothing(tmp_path: Path) -> None:
    links = {".a/gone.py": "->nowhere", ".a/link.py": "->../x.txt", "x.txt": WRONG}

    assert "1 new:\n.a/link.py:1" in compared(Tree(GOOD | links, before=GOOD), tmp_path).excerpt


def compared(tree: Tree, folder: Path) -> CheckVerdict:
    """What its Job says that lists the findings of both trees."""
    assert GATE.findings is not None
    before = listing(GATE.findings, Tree(tree.before), folder, "before")
    head = listing(GATE.findings, tree, folder, "head")
    root = str(folder / "workspace")
    return compare.run(CompareConfig("gate", root, head, before, output="pyright"))
