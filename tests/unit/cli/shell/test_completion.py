"""`bernstein completion`, and what the shell asks for afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app
from bernstein.cli.shell.program import COMPLETION

PROGRAM = "from bernstein.cli.main import main; main()"
PACKAGE = Path(__file__).parents[4] / "operator"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_the_program_by_its_variable(runner: CliRunner, shell: str) -> None:
    result = runner.invoke(app, ["completion", shell])

    assert result.exit_code == 0
    assert f"{COMPLETION}=complete_{shell}" in result.stdout


def test_another_shell_is_a_wrong_call(runner: CliRunner) -> None:
    assert runner.invoke(app, ["completion", "tcsh"]).exit_code == 2


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("bernstein st", ["status", "stop", "start"]),
        ("bernstein add", ["add-task"]),
        ("bernstein add-task --idem", ["--idempotency-key"]),
        ("bernstein task c", ["compose"]),
        ("bernstein task compose --dep", ["--depends-on"]),
        ("bernstein run --app", ["--approval"]),
        ("bernstein --work", ["--workdir"]),
        ("bernstein status --all", ["--all-namespaces"]),
        ("bernstein res", ["resume"]),
        ("bernstein pl", ["plan"]),
        ("bernstein plan sh", ["show"]),
        ("bernstein plan show --ma", ["--markdown"]),
        ("bernstein plan --gr", ["--graph"]),
        ("bernstein schema pl", ["plan-file", "plan"]),
        ("bernstein schema age", ["agentrole"]),
        ("bernstein plan graph plan.yaml --format m", ["mermaid"]),
        ("bernstein plan --graph plan.yaml --format d", ["dot"]),
    ],
)
def test_commands_and_their_options_are_completed(words: str, answer: list[str]) -> None:
    asked = {COMPLETION: "complete_bash", "COMP_WORDS": words}
    position = {"COMP_CWORD": str(len(words.split()) - 1), "PYTHONPATH": str(PACKAGE)}

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **asked, **position},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.split() == answer
