"""The program around its commands."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.cli.commands import COMMANDS, Subcommand
from bernstein.cli.main import app
from tests.unit.cli import calls

PROGRAM = "from bernstein.cli.main import main; main()"
LISTING = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
OPERATOR = Path(__file__).parents[3] / "operator"
CLI = OPERATOR / "bernstein" / "cli"
ENVIRONMENT = {"PYTHONPATH": str(OPERATOR)}
HEAVY = {"aiohttp", "kubernetes", "pydantic", "structlog", "yaml"}
LOOK_OR_DECIDE = {"status", "list-tasks", "pending", "verify", "suspend", "resume", "stop", "retry"}
LOOK_OR_DECIDE |= {"approve", "reject", "cancel", "unblock"}
NOT_FOR_THESE = {"fastapi", "kopf", "kubernetes", "pygments", "rich.traceback", "structlog", "yaml"}
NOT_FOR_THESE |= {"bernstein.agents", "bernstein.api.prices", "bernstein.checks.gates"}
NOT_FOR_THESE |= {"bernstein.checks.signals", "bernstein.core.plans.approval", "bernstein.crds"}
NOT_FOR_THESE |= {"bernstein.core.plans.estimate", "bernstein.kube.informer"}


def imported_by(*arguments: str) -> set[str]:
    """What the program has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", LISTING + PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
    )
    return set(done.stderr.splitlines()[-1].split())


def of_ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("bernstein.")}


def test_the_program_is_imported_without_what_only_some_commands_need() -> None:
    code = (
        "import sys; from bernstein.cli.main import app; "
        "print(*(m for m in ('pydantic', 'kubernetes', 'aiohttp', 'yaml') if m in sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT,
    )

    assert done.stdout.strip() == ""


@pytest.mark.parametrize("arguments", [["--help"], [], ["--version"], ["--json", "--help"]])
def test_to_list_the_commands_none_of_them_is_imported(arguments: list[str]) -> None:
    found = imported_by(*arguments)

    assert "bernstein.cli.commands" in found
    assert not {command.module for command in COMMANDS} & found
    assert not HEAVY & found
    assert {name.split(".")[1] for name in of_ours(found)} == {"cli"}


def test_of_what_is_ours_most_is_imported_with_a_command_and_no_other_command_is() -> None:
    listing, calling = imported_by("--help"), imported_by("validate", "/nowhere")

    assert {c.name for c in COMMANDS if c.module in calling} == {"validate"}
    assert len(of_ours(listing)) * 3 < len(of_ours(calling))


def test_commands_that_look_or_decide_are_imported_without_what_checks_and_watches() -> None:
    modules = [command.module for command in COMMANDS if command.name in LOOK_OR_DECIDE]
    assert len(modules) == len(LOOK_OR_DECIDE)
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"

    loaded = subprocess.check_output([sys.executable, "-c", code], text=True, env=ENVIRONMENT)

    assert set(loaded.split()) & NOT_FOR_THESE == set()


def test_nothing_that_is_told_names_a_file_of_the_repository() -> None:
    """Who has the program has no checkout of it."""
    told = [f"{path.name}: {text}" for path in CLI.rglob("*.py") for text in texts(path)]

    assert [each for each in told if re.search(r"\b(docs|crds|charts|images|tests)/", each)] == []


def texts(path: Path) -> Iterator[str]:
    """Every string in a module but its docstrings."""
    module = ast.parse(path.read_text())
    alone = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def test_an_unknown_command_ends_with_2(runner: CliRunner) -> None:
    calls.ends_with_2(runner, "unknown")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_misspelled_command_is_answered_with_the_right_one(
    runner: CliRunner, command: Subcommand
) -> None:
    *group, name = command.words
    misspelled = name[:-1] + "x" if len(name) > 3 else name + "x"

    result = runner.invoke(app, ["--json", *group, misspelled])

    assert result.exit_code == 2
    assert f"No such command '{misspelled}'. Did you mean '{name}'" in result.stdout


@pytest.mark.parametrize("json", [True, False])
def test_a_word_that_is_none_of_an_options_is_told_with_those_that_are(
    runner: CliRunner, json: bool
) -> None:
    result = runner.invoke(app, ["--json"] * json + ["completion", "bsh"])

    assert result.exit_code == 2
    said = result.output.replace("\n", " ")
    assert "'bash|zsh|fish': 'bsh' is not one of 'bash', 'zsh', 'fish'." in said


def test_the_help_of_a_command_of_two_words_is_like_that_of_others(runner: CliRunner) -> None:
    assert "<bool>" not in runner.invoke(app, ["task", "--help"]).output


def test_what_is_like_no_command_is_only_refused(runner: CliRunner) -> None:
    result = runner.invoke(app, ["frobnicate"])

    assert result.exit_code == 2
    assert "No such command 'frobnicate'." in result.stderr
    assert "Did you mean" not in result.stderr


@pytest.mark.parametrize("arguments", ["validate /nowhere", "unknown", "status --kubeconfig /x"])
def test_a_reader_that_goes_away_gets_no_traceback(arguments: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "--json", *arguments.split()],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=ENVIRONMENT,
    )
    os.close(writing)

    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_the_version_is_shown(runner: CliRunner) -> None:
    result = runner.invoke(app, ["--version"])

    assert result.exit_code == 0
    assert result.stdout.startswith("bernstein ")


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("validate", "PATH..."),
        ("diff", "TASK"),
        ("completion", "bash|zsh|fish"),
        ("run", "[PLAN.yaml]"),
        ("status", "[PLAN]"),
        ("schema", "[plan-file|plan|task|project|agentrole]"),
        ("merge", "[TASK_OR_PLAN]..."),
        ("doctor", ""),
    ],
)
def test_a_usage_line_has_brackets_around_what_may_be_left_out_and_no_others(
    runner: CliRunner, command: str, arguments: str
) -> None:
    shown = runner.invoke(app, [command, "--help"]).stdout

    usage = next(row for row in shown.splitlines() if "Usage:" in row)
    assert usage.strip() == f"Usage: bernstein {command} [OPTIONS] {arguments}".strip()
