"""Gates that compare the work with its base, with their real tools, on trees that would hide.

Each payload is first shown to work where the tool is run as anybody would.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.checks import gates
from bernstein.checks.changes import is_test
from bernstein.checks.gate import Command
from tests.programs.gate_runs import function, run, verdict, write
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

SHELL = "import subprocess\n\n\ndef run(x: str) -> None:\n    subprocess.call(x, shell=True)"
HIDES_FROM_BANDIT = {
    "a comment": {"a.py": f"{SHELL}  # nosec\n"},
    "its own file": {"a.py": SHELL, ".bandit": "[bandit]\nskips = B602\nexclude = ./\n"},
}


def command_of(gate: str) -> Command:
    command = gates.of(gate).runs
    assert isinstance(command, Command)
    return command


@pytest.mark.parametrize("how", HIDES_FROM_BANDIT)
def test_nothing_in_the_tree_hides_dangerous_code_from_the_scanner(
    how: str, tmp_path: Path
) -> None:
    tree = Tree(HIDES_FROM_BANDIT[how])
    write(tree, tmp_path / "plain")

    assert run("bandit -r . -q -lll", tmp_path / "plain").returncode == 0, (
        "the payload does not work"
    )
    found = verdict(command_of("security_scan"), tree, tmp_path)
    assert (found.verdict, found.reason) == ("Failed", "NewFindings")
    assert "a.py:5 B602" in found.excerpt


@pytest.mark.parametrize("folder", [".github", ".tox", "x.git", "venv", "a.egg", "tests"])
def test_no_name_of_a_folder_hides_dangerous_code(folder: str, tmp_path: Path) -> None:
    found = verdict(command_of("security_scan"), Tree({f"{folder}/a.py": SHELL}), tmp_path)

    assert f"{folder}/a.py:5 B602" in found.excerpt


def test_a_file_that_the_scanner_cannot_read_is_found(tmp_path: Path) -> None:
    found = verdict(command_of("security_scan"), Tree({"a.py": f"{SHELL}\n)\n"}), tmp_path)

    assert found.verdict == "Failed"
    assert "a.py unread" in found.excerpt


def test_a_weaker_finding_counts_where_the_project_says_so(tmp_path: Path) -> None:
    tree = Tree({"a.py": "import hashlib\n\nX = eval('1')\n"})
    high = command_of("security_scan")
    assert high.of_severity is not None

    assert verdict(high, tree, tmp_path / "high").verdict == "Passed"
    assert verdict(high.of_severity("medium"), tree, tmp_path / "medium").verdict == "Failed"


def test_what_bandit_found_before_passes_wherever_it_has_moved_to(tmp_path: Path) -> None:
    tree = Tree({"a.py": f"# First.\n{SHELL}\n"}, before={"a.py": SHELL})

    found = verdict(command_of("security_scan"), tree, tmp_path)

    assert (found.verdict, found.excerpt) == ("Passed", "1 finding was there before")


CIRCLE = {"p/__init__.py": "", "p/a.py": "import p.b\n", "p/b.py": "import p.a\n"}


OF_THE_GRAPH = {"ruff.toml": "[analyze]\nexclude = ['*']\n"}


@pytest.mark.parametrize(
    "hides",
    [
        OF_THE_GRAPH,
        {"p/ruff.toml": "exclude = ['*']\n"},
        {".gitignore": "*.py\n"},
        {"pyproject.toml": "[tool.ruff]\nexclude = ['p']\n"},
    ],
)
def test_no_setting_of_the_tree_hides_a_circle(hides: dict[str, str], tmp_path: Path) -> None:
    if hides == OF_THE_GRAPH:
        write(Tree(CIRCLE | hides), tmp_path / "plain")
        graph = json.loads(run("ruff analyze graph --quiet", tmp_path / "plain").stdout)
        assert graph.get("p/a.py") != ["p/b.py"], "the payload does not work"

    found = verdict(command_of("import_cycle"), Tree(CIRCLE | hides), tmp_path)

    assert found.verdict == "Failed"
    assert "p/a.py import-cycle with p/b.py which leads back: p/b.py -> p/a.py" in found.excerpt


def test_an_import_for_the_type_checker_alone_closes_no_circle(tmp_path: Path) -> None:
    typing = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import p.a\n"

    assert (
        verdict(command_of("import_cycle"), Tree(CIRCLE | {"p/b.py": typing}), tmp_path).verdict
        == "Passed"
    )


LATER = {"p/b.py": "def f() -> None:\n    import p.a\n\n    print(p.a)\n"}


def test_an_import_that_waits_in_a_function_closes_no_circle(tmp_path: Path) -> None:
    gate = command_of("import_cycle")
    at_once = {"p/b.py": f"import p.a\n\n\n{LATER['p/b.py']}"}

    assert verdict(gate, Tree(CIRCLE | LATER), tmp_path / "later").verdict == "Passed"
    assert verdict(gate, Tree(CIRCLE | at_once), tmp_path / "at-once").verdict == "Failed"


def test_a_circle_under_new_names_is_an_old_one(tmp_path: Path) -> None:
    moved = {f"q/{path}": text for path, text in CIRCLE.items()}

    found = verdict(command_of("import_cycle"), Tree(moved, before=CIRCLE), tmp_path)

    assert (found.verdict, found.excerpt) == ("Passed", "2 findings were there before")


def test_dangerous_code_of_before_may_move_to_another_file(tmp_path: Path) -> None:
    tree = Tree({"p/b.py": f"{SHELL}\n"}, before={"a.py": f"{SHELL}\n"})

    assert verdict(command_of("security_scan"), tree, tmp_path).verdict == "Passed"


@pytest.mark.parametrize(
    "hides",
    [
        {"radon.cfg": "[radon]\nexclude = *\n"},
        {"setup.cfg": "[radon]\nexclude = *.py\n"},
        {"a.py": function(20).replace("int:", "int:  # noqa")},
    ],
)
def test_no_setting_of_the_tree_hides_a_function_from_the_measure(
    hides: dict[str, str], tmp_path: Path
) -> None:
    tree = Tree({"a.py": function(20)} | hides, before={"a.py": function(10)})
    if "a.py" not in hides:
        write(tree, tmp_path / "plain")
        told = run("radon cc -s .", tmp_path / "plain").stdout
        assert "f - " not in told, "the payload does not work"

    found = verdict(command_of("complexity_check"), tree, tmp_path)

    assert (found.verdict, found.reason) == ("Failed", "WorseThanBase")
    assert found.excerpt == "1 worse:\na.py:f was 10, is 20"


@pytest.mark.parametrize("path", [".ci/a.py", ".a.py", "node_modules/a b.py"])
def test_no_name_hides_a_function_from_the_measure(path: str, tmp_path: Path) -> None:
    tree = Tree({path: function(20)}, before={path: function(10)})

    found = verdict(command_of("complexity_check"), tree, tmp_path)

    assert found.excerpt == f"1 worse:\n{path}:f was 10, is 20"


def test_a_small_function_may_grow_and_a_tolerance_may_be_greater(tmp_path: Path) -> None:
    small = Tree({"a.py": function(5)}, before={"a.py": function(2)})
    grown = Tree({"a.py": function(14)}, before={"a.py": function(10)})
    radon = command_of("complexity_check")

    assert verdict(radon, small, tmp_path / "small").verdict == "Passed"
    assert verdict(radon, grown, tmp_path / "grown").verdict == "Failed"
    assert verdict(radon, grown, tmp_path / "tolerated", tolerance=50).verdict == "Passed"


def test_without_a_function_before_there_is_nothing_to_measure_by(tmp_path: Path) -> None:
    found = verdict(command_of("complexity_check"), Tree({"a.py": function(30)}), tmp_path)

    assert (found.verdict, found.reason) == ("Skipped", "NoBaseline")


@pytest.mark.parametrize(
    "hides",
    [
        {"pyproject.toml": "[tool.vulture]\nexclude = ['*']\npaths = ['nowhere']\n"},
        {"broken.py": "def f(:\n"},
    ],
)
def test_unused_code_is_told_whatever_else_is_in_the_tree(
    hides: dict[str, str], tmp_path: Path
) -> None:
    tree = Tree({"a.py": "def unused() -> None:\n    print(1)\n"} | hides)

    found = verdict(command_of("dead_code"), tree, tmp_path)

    assert found.verdict == "Failed"
    assert "a.py:1 unused function 'unused'" in found.excerpt


@pytest.mark.parametrize(
    "hides",
    [{"ruff.toml": "lint.ignore = ['D']\n"}, {"a.py": "def f() -> None:  # noqa\n    print(1)\n"}],
)
def test_no_setting_and_no_comment_stands_for_a_docstring(
    hides: dict[str, str], tmp_path: Path
) -> None:
    tree = Tree({"a.py": "def f() -> None:\n    print(1)\n"} | hides)

    assert verdict(command_of("comment_quality"), tree, tmp_path).verdict == "Failed"


UNDOCUMENTED = "def f() -> None:\n    print(1)\n"


def test_a_program_with_windows_is_documented_as_well(tmp_path: Path) -> None:
    found = verdict(command_of("comment_quality"), Tree({"a b.pyw": UNDOCUMENTED}), tmp_path)

    assert found.verdict == "Failed"
    assert "a b.pyw:1 D103" in found.excerpt


@pytest.mark.parametrize(
    ("path", "told"),
    [
        *((path, "Passed") for path in ("test/a.py", "pkg/tests/a.py", "test_a.pyi", "a_test.pyw")),
        *((path, "Passed") for path in ("conftest.py", "pkg/test_a.py")),
        *((path, "Failed") for path in ("latest/a.py", "contest.py", "pkg/attest_a.py")),
    ],
)
def test_what_tests_do_is_in_their_names(path: str, told: str, tmp_path: Path) -> None:
    """The same files are tests to the conditions of gates."""
    assert is_test(path) == (told == "Passed")

    found = verdict(command_of("comment_quality"), Tree({path: UNDOCUMENTED}), tmp_path)

    assert found.verdict == told


def test_a_tool_that_the_image_lacks_is_no_verdict_on_the_work(tmp_path: Path) -> None:
    missing = Command("no-such-tool --json", output="bandit", against_base=True)

    found = verdict(missing, Tree({"a.py": SHELL}), tmp_path)

    assert (found.verdict, found.reason) == ("Errored", "ToolMissing")


UNUSED = "\"a:1: unused 'b' (90% confidence)\""
ENDS = [
    ("[ -e a ] && exit 3; echo '{}'", 20.0, ("Failed", "ExitCode")),
    ("[ -e a ] && exit 127; echo '{}'", 20.0, ("Failed", "ExitCode")),
    ("[ -e a ] && exit 126; echo", None, ("Failed", "ExitCode")),
    ("exit 127", 20.0, ("Errored", "ToolMissing")),
    ("[ -e a ] && mkdir ../list-head/code; echo", None, ("Failed", "ExitCode")),
    ("exit 3", 20.0, ("Skipped", "BaseFails")),
    ("[ -e a ] || exit 3; echo '{}'", 20.0, ("Skipped", "NoBaseline")),
    ("exit 3", None, ("Skipped", "BaseFails")),
    ("[ -e a ] || exit 3; echo", None, ("Passed", "")),
    (f"[ -e a ] || exit 3; echo {UNUSED}", None, ("Skipped", "BaseFails")),
    ("echo nonsense", None, ("Skipped", "BaseFails")),
    ("[ -e a ] && echo || echo nonsense", None, ("Passed", "")),
    (f"[ -e a ] && echo {UNUSED} || echo nonsense", None, ("Skipped", "BaseFails")),
    ("echo nonsense", 20.0, ("Skipped", "BaseFails")),
    ("[ -e a ] && echo nonsense || echo '{}'", 20.0, ("Failed", "WorseThanBase")),
    ("[ -e a ] && echo nonsense; echo", None, ("Failed", "NewFindings")),
]  # fmt: skip


@pytest.mark.parametrize(("command", "tolerance", "expected"), ENDS)
def test_a_tool_that_does_not_end_well_is_never_taken_for_one_that_finds_nothing(
    command: str, tolerance: float | None, expected: tuple[str, str], tmp_path: Path
) -> None:
    output = "vulture" if tolerance is None else "radon"
    tool = Command(command, output=output, against_base=True, tolerance=tolerance)

    found = verdict(tool, Tree({"a": "1"}, before={"b": "1"}), tmp_path)

    assert (found.verdict, found.reason) == expected


CODE = "def f(x: int) -> int:\n    if x:\n        return 1\n    return 2\n"
TESTED = {
    "a.py": CODE,
    "test_a.py": "from a import f\n\n\ndef test_f() -> None:\n    assert f(1)\n",
}
WHOLE = TESTED | {"test_a.py": TESTED["test_a.py"] + "    assert f(0)\n"}
ENDS_EARLY = "import os\n\n\ndef pytest_sessionfinish() -> None:\n    os._exit(0)\n"
COVERS_LESS = {
    "a test less": TESTED,
    "no tests": {"a.py": CODE},
    "a comment": TESTED | {"a.py": CODE.replace("return 2", "return 2  # pragma: no cover")},
    "a setting": TESTED | {".coveragerc": "[report]\nexclude_lines = return\n"},
    "another setting": TESTED | {"pyproject.toml": "[tool.coverage.run]\nomit = ['a.py']\n"},
    "code that is called like a test": WHOLE | {"test_more.py": CODE},
    "code that is called like what tests share": WHOLE | {"p/conftest.py": CODE},
    "code in a folder that is called like those of tests": WHOLE | {"p/tests/more.py": CODE},
    "code in a folder that is no package": WHOLE | {"p/more.py": CODE},
    "an early end": WHOLE | {"conftest.py": ENDS_EARLY},
    "a broken test": WHOLE | {"test_b.py": "def (:\n"},
}


PLAINLY = "coverage run --branch --source . -m pytest -q && coverage report --fail-under 100"
BUT_FOR_TESTS = f"{PLAINLY} --omit 'test_*.py,*/test_*.py,*/conftest.py,*/tests/*'"
SEEMS_COVERED = {
    "a comment": PLAINLY,
    "a setting": PLAINLY,
    "another setting": PLAINLY,
    "code in a folder that is no package": PLAINLY,
    "code that is called like a test": BUT_FOR_TESTS,
    "code that is called like what tests share": BUT_FOR_TESTS,
    "code in a folder that is called like those of tests": BUT_FOR_TESTS,
}
"""What says so of the payload."""


@pytest.mark.parametrize("how", COVERS_LESS)
def test_nothing_stands_for_code_that_no_test_runs_any_more(how: str, tmp_path: Path) -> None:
    tree = Tree(COVERS_LESS[how], before=WHOLE)
    if how in SEEMS_COVERED:
        write(tree, tmp_path / "plain")
        seems = run(SEEMS_COVERED[how], tmp_path / "plain")
        assert seems.returncode == 0, "the payload does not work"

    assert verdict(command_of("coverage_delta"), tree, tmp_path).verdict == "Failed"


def test_tests_that_end_early_are_covered_as_the_base_only_where_its_measure_is_left(
    tmp_path: Path,
) -> None:
    gate, removes = command_of("coverage_delta"), 'rm -f "$TMPDIR/coverage"; '
    tree = Tree(TESTED | {"conftest.py": ENDS_EARLY}, before=WHOLE)

    assert removes in gate.command
    leaves = replace(gate, command=gate.command.replace(removes, ""))
    left = verdict(leaves, tree, tmp_path / "left")
    assert (left.verdict, left.excerpt) == ("Passed", "was 100 %, is 100 %")

    assert verdict(gate, tree, tmp_path / "removed").verdict == "Failed"


def test_a_new_test_of_those_that_this_run_does_not_come_to_costs_nothing(tmp_path: Path) -> None:
    tests = {"tests/test_a.py": WHOLE["test_a.py"], "tests/data/broken.py": "def (:\n"}
    before = {"a.py": CODE, "setup.cfg": "[tool:pytest]\nnorecursedirs = cluster\n"} | tests
    more = {"tests/cluster/test_b.py": TESTED["test_a.py"]}

    found = verdict(command_of("coverage_delta"), Tree(before | more, before=before), tmp_path)

    assert (found.verdict, found.excerpt) == ("Passed", "was 100 %, is 100 %")


def test_the_first_tests_have_nothing_to_be_measured_by(tmp_path: Path) -> None:
    found = verdict(command_of("coverage_delta"), Tree(TESTED, before={"a.py": CODE}), tmp_path)

    assert (found.verdict, found.reason) == ("Skipped", "NoBaseline")


def test_some_points_of_coverage_may_be_lost_where_the_project_says_so(tmp_path: Path) -> None:
    tree = Tree(TESTED, before=WHOLE)

    found = verdict(command_of("coverage_delta"), tree, tmp_path, tolerance=25)

    assert (found.verdict, found.excerpt) == ("Passed", "was 100 %, is 75 %")


def benched(rounds: int) -> dict[str, str]:
    body = f"def test_sum(benchmark) -> None:\n    benchmark(sum, range({rounds}))\n"
    return {"test_bench.py": body}


@pytest.mark.parametrize(
    "after",
    [
        benched(100_000),
        {"test_a.py": "def test_a() -> None:\n    assert True\n"},
        benched(1000) | {"conftest.py": ENDS_EARLY.replace("sessionfinish", "sessionstart")},
        {"test_bench.py": "import pytest\n\n\n@pytest.mark.skip\n" + benched(9)["test_bench.py"]},
    ],
    ids=["slower", "gone", "ends early", "skipped"],
)
def test_a_benchmark_that_is_slower_or_not_run_fails(after: dict[str, str], tmp_path: Path) -> None:
    write(Tree(after), tmp_path / "plain")
    assert run("pytest -q", tmp_path / "plain").returncode == 0, "the payload does not work"

    found = verdict(command_of("benchmark"), Tree(after, before=benched(1000)), tmp_path)

    assert found.verdict == "Failed", found


def test_a_benchmark_in_a_file_of_another_name_is_the_same_one(tmp_path: Path) -> None:
    after = {"bench/test_sums.py": benched(1000)["test_bench.py"]}

    found = verdict(
        command_of("benchmark"), Tree(after, before=benched(1000)), tmp_path, tolerance=10_000
    )

    assert found.verdict == "Passed", found


def test_a_benchmark_of_another_name_is_the_same_one(tmp_path: Path) -> None:
    gate, before = command_of("benchmark"), benched(1000)
    renamed = before["test_bench.py"].replace("test_sum", "test_total")
    same = Tree({"test_bench.py": renamed}, before=before)
    other = Tree({"test_bench.py": renamed.replace("(sum,", "(sorted,")}, before=before)

    assert verdict(gate, same, tmp_path / "same", tolerance=10_000).verdict == "Passed"
    assert verdict(gate, other, tmp_path / "other", tolerance=10_000).verdict == "Failed"


def test_a_repository_without_benchmarks_has_nothing_to_be_measured_by(tmp_path: Path) -> None:
    tree = Tree(TESTED | benched(10), before=TESTED)

    found = verdict(command_of("benchmark"), tree, tmp_path)

    assert (found.verdict, found.reason) == ("Skipped", "NoBaseline")


BESIDE = {"one/p/a.py": "import q.b\n", "two/q/b.py": "import p.a\n"}
PACKAGES = {"one/p/__init__.py": "", "two/q/__init__.py": ""}


def test_a_circle_of_packages_that_are_found_nowhere_is_none(tmp_path: Path) -> None:
    """The page says so: without `__init__.py` nothing tells where a package begins."""
    gate = command_of("import_cycle")

    assert verdict(gate, Tree(BESIDE), tmp_path / "folders").verdict == "Passed"
    assert verdict(gate, Tree(BESIDE | PACKAGES), tmp_path / "packages").verdict == "Failed"
