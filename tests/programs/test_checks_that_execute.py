"""Signals and gates that execute a command, run as their Jobs run them: on a tree, by `sh -c`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from pydantic.alias_generators import to_camel

from bernstein.api.signals import Signal
from bernstein.checks import gates, signals
from bernstein.checks.gate import Command, Writes
from bernstein.checks.signal import SignalCommand
from bernstein.core.judging import answers, written
from bernstein.places import LAUNCHER
from tests.programs.gate_runs import run, verdict, write
from tests.programs.pods.test_launcher import launcher
from tests.unit.checks import examples
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

__all__ = ("launcher",)


def commands() -> dict[str, tuple[Command, Tree, Tree]]:
    """By name: the command, a tree that it passes and one that it fails."""
    found = {}
    for gate in gates.GATES:
        if isinstance(gate.runs, Command):
            tree = examples.of_gate(gate.name)
            found[gate.name] = (gate.runs, tree.accept, tree.reject)
    for kind in signals.SIGNALS:
        if isinstance(kind.runs, SignalCommand):
            example = examples.of_signal(kind.type)
            fields = {to_camel(key): value for key, value in example.accepted.items()}
            command = kind.runs.command(Signal.model_validate(fields))
            assert command is not None
            found[kind.type] = (Command(command), example.holds, example.fails)
    return found


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_it_passes_and_fails(name: str, launcher: Path, tmp_path: Path) -> None:
    command, good, bad = COMMANDS[name]
    # A pod has the launcher at its own place.
    here = command.command.replace(LAUNCHER, str(launcher))
    command = dataclasses.replace(command, command=here)

    passed = verdict(command, good, tmp_path / "good")
    failed = verdict(command, bad, tmp_path / "bad")

    assert (passed.verdict, failed.verdict) == ("Passed", "Failed"), (passed, failed)
    if command.against_base:
        example = examples.of_gate(name)
        assert failed.reason == example.reason
        assert example.told in failed.excerpt


# --- what a model writes ------------------------------------------------------------------------

PYTEST = "def test_a() -> None:\n    assert "


def ends(name: str, test: str, tree: Tree, folder: Path) -> int:
    """The exit code of the gate's command, with this test beside the tree."""
    writes = gates.of(name).runs
    assert isinstance(writes, Writes)
    workspace, tools = folder / "workspace", folder / "tools"
    write(tree, workspace)
    tools.mkdir()
    (tools / written.FILE).write_text(test)
    return run(writes.command, workspace, {"TEST": str(tools / written.FILE)}).returncode


@pytest.mark.parametrize("name", gates.that_write())
def test_a_written_test_passes_what_is_right_and_fails_what_is_not(
    name: str, tmp_path: Path
) -> None:
    example = examples.of_gate(name)
    test = answers.written_test(example.yes)

    assert ends(name, test, example.accept, tmp_path / "right") == 0
    assert ends(name, test, example.reject, tmp_path / "wrong") == 1


@pytest.mark.parametrize(
    "test",
    [
        "import nowhere\n",
        "def test_a(:\n",
        "X = 1\n",
        "def test_a(nobody_has_that) -> None:\n    pass\n",
        f"import pytest\n\n\n@pytest.mark.skip\n{PYTEST}False\n",
        f"import pytest\n\n\n@pytest.mark.xfail\n{PYTEST}False\n",
        "import os\n\nos._exit(0)\n",
        "import os\n\nos._exit(1)\n",
        "import pytest\n\npytest.exit('over', 0)\n",
    ],
    ids=[
        *("import", "syntax", "empty", "fixture", "skipped", "expected-to-fail"),
        *("ends-with-0", "ends-with-1", "exit"),
    ],
)
def test_a_written_test_that_does_not_run_to_its_end_says_nothing_of_the_work(
    test: str, tmp_path: Path
) -> None:
    tree = examples.of_gate("integration_test_gen").accept

    assert ends("integration_test_gen", test, tree, tmp_path) == 2


def test_a_failure_counts_beside_a_test_that_could_not_run(tmp_path: Path) -> None:
    test = f"{PYTEST}False\n\n\ndef test_b(nobody_has_that) -> None:\n    pass\n"

    assert ends("integration_test_gen", test, Tree({}), tmp_path) == 1


def test_neither_conftest_nor_configuration_of_the_work_decides_what_comes_of_it(
    tmp_path: Path,
) -> None:
    passing = "def pytest_runtest_call(item):\n    item.obj = lambda: None\n"
    files = {"conftest.py": passing, "pytest.ini": "[pytest]\naddopts = --collect-only\n"}

    assert ends("integration_test_gen", f"{PYTEST}False\n", Tree(files), tmp_path) == 1


def test_modules_of_a_folder_src_are_there(tmp_path: Path) -> None:
    tree = Tree({"src/app.py": "X = 1\n"})

    assert (
        ends("integration_test_gen", f"import app\n\n\n{PYTEST}app.X == 1\n", tree, tmp_path) == 0
    )
