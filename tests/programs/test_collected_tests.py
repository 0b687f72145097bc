"""Which tests pytest collects in the base and not in the work, told as the Job of both does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.api.pod import CheckVerdict
from bernstein.checks.rules import collected_tests
from tests.programs.gate_runs import verdict
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

Files = dict[str, str]
ROWS = "import pytest\n\nROWS = [1, 2, 3]\n\n\n"
PLAIN = "def test_plain() -> None:\n    assert 1\n"
FILES: Files = {
    "t/test_rows.py": f"{ROWS}@pytest.mark.parametrize('x', ROWS)\ndef test_rows(x) -> None:\n"
    "    assert x\n",
    "t/test_classes.py": "class Base:\n    def test_it(self) -> None:\n        assert 1\n\n\n"
    "class TestOne(Base):\n    pass\n\n\nclass TestTwo(Base):\n    pass\n",
    "t/test_plain.py": PLAIN,
}
ALL = 6


def judged(tmp_path: Path, after: Files, before: Files = FILES, own: str = "") -> CheckVerdict:
    command = collected_tests.of_project(own or None)
    return verdict(command, Tree(after, before=before), tmp_path)


@pytest.mark.parametrize(
    "after",
    [
        FILES,
        FILES | {"t/test_new.py": "def test_new() -> None:\n    assert 1\n"},
        FILES | {"t/test_rows.py": FILES["t/test_rows.py"].replace("[1, 2, 3]", "[4, 5, 6, 7]")},
        {path.replace("plain", "renamed"): text for path, text in FILES.items()},
        {path: text.replace("test_plain", "test_better") for path, text in FILES.items()},
        {path.removeprefix("t/"): text for path, text in FILES.items()},
    ],
    ids=["same", "more", "other-rows", "renamed-file", "renamed-test", "other-folder"],
)
def test_tests_that_stay_pass(after: Files, tmp_path: Path) -> None:
    found = judged(tmp_path, after)

    assert (found.verdict, found.reason) == ("Passed", ""), found
    assert found.excerpt == f"{ALL} tests of the commit before this work can be found again"


@pytest.mark.parametrize(
    ("after", "lost"),
    [
        ({"pytest.ini": "[pytest]\ntestpaths = t/test_rows.py\n"}, ["TestOne", "TestTwo", "plain"]),
        ({"pytest.ini": "[pytest]\naddopts = -k rows\n"}, ["TestOne", "TestTwo", "plain"]),
        ({"t/conftest.py": "collect_ignore = ['test_plain.py']\n"}, ["plain"]),
        ({"t/test_rows.py": FILES["t/test_rows.py"].replace("1, 2, 3", "1")}, ["[2]", "[3]"]),
        ({"t/test_classes.py": FILES["t/test_classes.py"].replace("TestTwo", "Two")}, ["TestTwo"]),
        ({"t/test_plain.py": ""}, ["plain"]),
    ],
    ids=["testpaths", "addopts", "conftest", "rows", "subclass", "words"],
)
def test_tests_that_are_not_collected_any_more_are_told(
    after: Files, lost: list[str], tmp_path: Path
) -> None:
    found = judged(tmp_path, FILES | after)

    assert (found.verdict, found.reason) == ("Failed", "TestsWeakened"), found
    first, *rows, _hint = found.excerpt.split("\n")
    assert first == f"{len(lost)} of {ALL} tests are not collected any more:"
    assert all(word in row for word, row in zip(lost, rows, strict=True)), rows


@pytest.mark.parametrize(
    "options",
    ["-q", "-qq", "-v", "-vv -s", "--color=yes", "-o verbosity_test_cases=2", "--no-header -rA"],
)
def test_no_option_of_the_repository_changes_the_form_of_the_list(
    options: str, tmp_path: Path
) -> None:
    settings = {"pytest.ini": f"[pytest]\naddopts = {options}\n"}
    printing = {"conftest.py": "import warnings\n\nprint('x')\nwarnings.warn('y')\n"}

    found = judged(tmp_path, FILES | settings | printing, FILES | settings | printing)

    assert (found.verdict, found.reason) == ("Passed", ""), found


BROKEN = {"t/test_broken.py": "import nowhere\n"}


def test_work_whose_tests_cannot_be_collected_has_lost_all_and_says_why(tmp_path: Path) -> None:
    found = judged(tmp_path, FILES | BROKEN)

    assert (found.verdict, found.reason) == ("Failed", "TestsWeakened")
    ours, *printed = found.excerpt.split("\n")
    assert ours == f"none of {ALL} tests can be collected any more: exit code 2:"
    assert any("No module named 'nowhere'" in row for row in printed)
    assert judged(tmp_path / "none", {"a.py": ""}).verdict == "Failed"


@pytest.mark.parametrize("before", [BROKEN | FILES, {"a.py": "X = 1\n"}], ids=["broken", "none"])
def test_a_base_whose_tests_cannot_be_listed_keeps_nothing_back(
    before: Files, tmp_path: Path
) -> None:
    found = judged(tmp_path, {"a.py": "X = 2\n"}, before)

    assert (found.verdict, found.reason) == ("Skipped", "NoBaseline")
    assert found.excerpt.startswith("the tests of the commit before this work cannot be listed: ")


GO = "grep -rhoE '^func Test[A-Za-z]*' --include='*_test.go' . | cut -d' ' -f2"


def test_a_command_of_the_project_lists_tests_of_any_language(tmp_path: Path) -> None:
    one, two = ("func TestOne(t *testing.T) {\n}\n", "func TestTwo(t *testing.T) {\n}\n")
    before = {"a_test.go": one + two}

    kept = judged(tmp_path / "kept", {"a_test.go": two, "b_test.go": one}, before, GO)
    lost = judged(tmp_path / "lost", {"a_test.go": one}, before, GO)

    assert (kept.verdict, lost.verdict) == ("Passed", "Failed")
    assert "1 of 2 tests are not collected any more:\nTestTwo" in lost.excerpt


def test_an_image_without_pytest_keeps_nothing_back(tmp_path: Path) -> None:
    found = judged(tmp_path, FILES, FILES, "exit 127")

    assert (found.verdict, found.reason) == ("Skipped", "NoBaseline")


def test_a_secret_that_the_runner_prints_is_not_told(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"

    found = judged(tmp_path, FILES | {"t/test_token.py": f"raise ValueError('{token}')\n"})

    assert "ValueError" in found.excerpt
    assert token not in found.excerpt


def test_a_list_is_the_works_to_forge_so_that_it_is_a_hint_and_no_proof(tmp_path: Path) -> None:
    forging = (
        "def pytest_collection_modifyitems(items):\n"
        "    items[-1]._nodeid = 't/test_plain.py::test_plain'\n"
    )
    work = {"conftest.py": forging, "t/test_plain.py": "", "t/test_z.py": PLAIN}

    assert judged(tmp_path, FILES | work).verdict == "Passed"
