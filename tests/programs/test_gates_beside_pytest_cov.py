"""Gates that run pytest, in a repository whose own configuration measures with pytest-cov.

A plugin stands for it that does what matters here: it measures from when the tests begin, so that
whoever measured before does not, and fails where they run too little.
"""

from __future__ import annotations

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

PLUGIN = """
import coverage


def pytest_addoption(parser):
    parser.addoption("--cov", action="append")
    parser.addoption("--cov-fail-under", type=float, default=0)
    parser.addoption("--no-cov", action="store_true")


def pytest_configure(config):
    if config.option.cov and not config.option.no_cov:
        config.measured = coverage.Coverage(source=config.option.cov, data_file=None)
        config.measured.start()


def pytest_sessionfinish(session):
    measured = getattr(session.config, "measured", None)
    if measured is None:
        return
    measured.stop()
    with open("/dev/null", "w") as nowhere:
        if measured.report(file=nowhere) < session.config.option.cov_fail_under:
            session.exitstatus = 1
"""
MEASURES = {"pytest.ini": "[pytest]\naddopts = --cov=. --cov-fail-under=90\n"}
TESTED = {
    "a.py": CODE,
    "test_a.py": CHECKS,
    "b.py": "def twice(n: int) -> int:\n    if n:\n        return 2 * n\n    return 0\n",
    "test_b.py": "from b import twice\n\n\ndef test_b() -> None:\n    assert twice(1) == 2\n"
    "    assert twice(0) == 0\n",
}


def with_plugin(folder: Path) -> dict[str, str]:
    """Variables of a process whose pytest has the plugin."""
    (folder / "pytest_cov-7.dist-info").mkdir(parents=True)
    (folder / "pytest_cov.py").write_text(PLUGIN)
    (folder / "pytest_cov-7.dist-info/METADATA").write_text("Name: pytest-cov\nVersion: 7\n")
    entry = "[pytest11]\npytest_cov = pytest_cov\n"
    (folder / "pytest_cov-7.dist-info/entry_points.txt").write_text(entry)
    return {"PYTHONPATH": str(folder)}


def judged(gate: str, tree: Tree, folder: Path) -> CheckVerdict:
    command = gates.of(gate).runs
    assert isinstance(command, Command)
    return verdict(command, tree, folder / "gate", variables=with_plugin(folder / "packages"))


def test_whoever_measured_before_the_plugin_measures_nothing(tmp_path: Path) -> None:
    """What the other tests of this file are about does happen."""
    write(Tree(TESTED | MEASURES), tmp_path / "tree")
    image = with_plugin(tmp_path / "packages")

    whole = run("python3 -m pytest -q", tmp_path / "tree", image)
    part = run("python3 -m pytest -q test_a.py", tmp_path / "tree", image)
    plainly = "coverage run --source=. -m pytest -q && coverage report -i"
    measured = run(plainly, tmp_path / "tree", image)

    assert (whole.returncode, part.returncode) == (0, 1)
    assert measured.stdout.split()[-1] == "0%"


def test_tests_that_are_gone_are_missed(tmp_path: Path) -> None:
    before = TESTED | MEASURES
    gone = {path: text for path, text in before.items() if path != "test_b.py"}

    found = judged("coverage_delta", Tree(gone, before=before), tmp_path)

    assert (found.verdict, found.reason) == ("Failed", "WorseThanBase"), found


@pytest.mark.parametrize(("tests", "told"), [(CHECKS, "Passed"), (RUNS, "Failed")])
def test_faults_are_put_into_what_changed_tests_run_however_little_that_is(
    tests: str, told: str, tmp_path: Path
) -> None:
    before = {path: text for path, text in {**TESTED, **MEASURES}.items() if path != "test_a.py"}

    found = judged("agent_test_mutation", Tree({**before, "test_a.py": tests}, before), tmp_path)

    assert found.verdict == told, found
    assert "faults are noticed" in found.excerpt


def test_benchmarks_need_not_run_all_code(tmp_path: Path) -> None:
    bench = "def test_sum(benchmark) -> None:\n    benchmark(sum, range(100))\n"
    tree = {**TESTED, **MEASURES, "test_bench.py": bench}
    command = gates.of("benchmark").runs
    assert isinstance(command, Command)
    image = with_plugin(tmp_path / "packages")

    found = verdict(command, Tree(tree, before=tree), tmp_path / "gate", 10_000, image)

    assert found.verdict == "Passed", found
