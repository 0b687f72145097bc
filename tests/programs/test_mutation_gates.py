"""The gates that put faults into code, with their real tools, on tests that would look good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.api.pod import CheckVerdict
from bernstein.checks import gates
from bernstein.checks.gate import Command
from tests.programs.gate_runs import run, verdict, write
from tests.unit.checks import examples
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

EXAMPLE = examples.of_gate("mutation_testing")
CODE, CHECKS = (str(EXAMPLE.accept.after[path]) for path in ("a.py", "test_a.py"))
RUNS = str(EXAMPLE.reject.after["test_a.py"])

IN_TIME = {"CHECK_SECONDS": "0.2"}


def judged(gate: str, tree: Tree, folder: Path, variables: Mapping[str, str] = {}) -> CheckVerdict:
    command = gates.of(gate).runs
    assert isinstance(command, Command)
    return verdict(command, tree, folder, variables=variables)


LOOKS_GOOD = {
    "an early end": {
        "test_a.py": CHECKS,
        "conftest.py": "import os\n\n\ndef pytest_sessionfinish() -> None:\n    os._exit(0)\n",
    },
    "a setting": {"test_a.py": CHECKS, "pytest.ini": "[pytest]\naddopts = -k nothing\n"},
    "a setting of the tool": {
        "test_a.py": RUNS,
        "cosmic-ray.toml": "[cosmic-ray]\nexclude = ['*']\n",
    },
}


@pytest.mark.parametrize("how", LOOKS_GOOD)
def test_tests_that_always_pass_notice_nothing(how: str, tmp_path: Path) -> None:
    files = {"a.py": CODE} | LOOKS_GOOD[how]
    write(Tree(files), tmp_path / "plain")
    assert run("python3 -m pytest -q", tmp_path / "plain").returncode in (0, 5)

    found = judged("mutation_testing", Tree(files), tmp_path)

    assert (found.verdict, found.reason) == ("Failed", "TestsTooWeak")
    assert "0 of " in found.excerpt


def test_what_is_not_noticed_is_told_with_its_line(tmp_path: Path) -> None:
    found = judged("mutation_testing", Tree({"a.py": CODE, "test_a.py": RUNS}), tmp_path)

    assert "a.py:2 if points >= 50: => if " in found.excerpt


def test_only_lines_that_the_base_lacks_get_faults(tmp_path: Path) -> None:
    """The old function is tested by nobody; the new one is, in a file of another name."""
    old = "def old(n: int) -> int:\n    return n * 2 + 1\n"
    tree = Tree({"b.py": f"{old}\n\n{CODE}", "test_a.py": CHECKS.replace("from a", "from b")})

    found = judged("mutation_testing", replace(tree, before={"a.py": old}), tmp_path)

    assert found.verdict == "Passed", found


@pytest.mark.parametrize(
    "code",
    [
        "from __future__ import annotations\n\n\ndef f(x: int | None) -> str | None:\n    pass\n",
        "from __future__ import annotations\n\nX: int | None\n",
        "if __name__ == '__main__':\n    print(1 + 1)\n",
        "# Only words.\n",
    ],
    ids=["annotations", "annotation", "program", "words"],
)
def test_what_no_test_can_judge_gets_no_faults(code: str, tmp_path: Path) -> None:
    tests = {"test_a.py": "def test_a() -> None:\n    pass\n"}

    found = judged("mutation_testing", Tree({"a.py": code} | tests), tmp_path)

    assert found.verdict == "Passed", found
    assert found.excerpt == "nothing that has changed can hold a fault"


def test_broken_tests_are_the_works_fault_unless_they_were_broken_before(tmp_path: Path) -> None:
    broken = {"a.py": CODE, "test_a.py": "def test_a() -> None:\n    assert False\n"}
    before = {"a.py": "X = 1\n", "test_a.py": broken["test_a.py"]}

    new = judged("mutation_testing", Tree(broken), tmp_path / "new")
    old = judged("mutation_testing", Tree(broken, before=before), tmp_path / "old")

    assert (new.verdict, new.reason) == ("Failed", "ExitCode")
    assert (old.verdict, old.reason) == ("Skipped", "BaseFails")


def test_where_there_is_no_time_for_faults_nobody_has_passed(tmp_path: Path) -> None:
    tree = Tree({"a.py": CODE, "test_a.py": CHECKS})

    found = judged("mutation_testing", tree, tmp_path, IN_TIME)

    assert (found.verdict, found.reason) == ("Skipped", "Timeout")
    assert "timeoutSeconds" in found.excerpt


def test_a_fault_that_runs_for_ever_is_noticed(tmp_path: Path) -> None:
    code = "def down(n: int) -> int:\n    while n > 0:\n        n -= 1\n    return n\n"
    tests = "from a import down\n\n\ndef test_down() -> None:\n    assert down(3) == 0\n"

    found = judged("mutation_testing", Tree({"a.py": code, "test_a.py": tests}), tmp_path)

    assert found.verdict == "Passed", found


def test_an_image_without_the_tool_is_no_verdict_on_the_work(tmp_path: Path) -> None:
    variables = {"PATH": "/usr/bin:/bin"}

    found = judged("mutation_testing", Tree({"a.py": CODE}), tmp_path, variables)

    assert (found.verdict, found.reason) == ("Errored", "ToolMissing")


def test_tests_of_the_projects_own_that_are_not_found_are_no_verdict_either(
    tmp_path: Path,
) -> None:
    command = gates.of("mutation_testing").runs
    assert isinstance(command, Command)
    assert command.with_tests is not None

    found = verdict(command.with_tests("no-such-tests"), Tree({"a.py": CODE}), tmp_path)

    assert (found.verdict, found.reason) == ("Errored", "ToolMissing")


def test_a_new_test_that_runs_nothing_of_the_repository_fails(tmp_path: Path) -> None:
    before = {"a.py": CODE}
    hollow = before | {"test_a.py": "def test_a() -> None:\n    assert True\n"}

    found = judged("agent_test_mutation", Tree(hollow, before=before), tmp_path)

    assert (found.verdict, found.reason) == ("Failed", "TestsTooWeak")
    assert found.excerpt == "the changed tests run no function of this repository"


def test_tests_of_before_do_not_stand_for_those_that_are_new(tmp_path: Path) -> None:
    before = {"a.py": CODE, "test_a.py": CHECKS}
    tree = Tree(before | {"test_b.py": RUNS}, before=before)

    assert judged("mutation_testing", tree, tmp_path / "code").verdict == "Passed"
    assert judged("agent_test_mutation", tree, tmp_path / "tests").verdict == "Failed"


def test_a_byte_order_mark_hides_no_function_that_tests_run(tmp_path: Path) -> None:
    before = {"a.py": f"\ufeff{CODE}"}

    found = judged("agent_test_mutation", Tree(before | {"test_a.py": CHECKS}, before), tmp_path)

    assert found.verdict == "Passed", found


def test_a_test_may_run_the_code_as_a_program(tmp_path: Path) -> None:
    main = "def main() -> None:\n    print(grade(int(sys.argv[1])))\n\n\nmain()\n"
    program = f"import sys\n\n{CODE}\n\n{main}"
    tests = (
        "import subprocess\nimport sys\n\nimport pytest\n\n\n"
        "@pytest.mark.parametrize('n', [49, 50, 51])\n"
        "def test_grade(n: int) -> None:\n"
        "    run = [sys.executable, 'a.py', str(n)]\n"
        "    told = subprocess.run(run, capture_output=True, text=True, check=True).stdout\n"
        "    assert told == ('fail\\n' if n < 50 else 'pass\\n')\n"
    )
    before = {"a.py": program}

    found = judged("agent_test_mutation", Tree(before | {"test_a.py": tests}, before), tmp_path)

    assert found.verdict == "Passed", found


@pytest.mark.parametrize(
    "code",
    [f"X = {'-' * 3000}1\n", f"X = {'9' * 5000}\n", f"X = 1  # {'x' * 10**6}\n"],
    ids=["deep", "large number", "long"],
)
def test_code_that_the_tool_cannot_change_hides_no_other(code: str, tmp_path: Path) -> None:
    tree = Tree({"b.py": code, "a.py": CODE, "test_a.py": RUNS})

    found = judged("mutation_testing", tree, tmp_path)

    assert (found.verdict, found.reason) == ("Failed", "TestsTooWeak")
    assert "a.py:2 if points >= 50: => " in found.excerpt
    assert "b.py:" in found.excerpt or "b.py cannot be read" in found.excerpt
