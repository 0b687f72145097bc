"""`bernstein run` before it asks a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app
from tests.unit.cli import calls


def test_a_file_that_is_not_there_is_named(runner: CliRunner) -> None:
    calls.names_a_missing_file(runner, "run")


def test_an_empty_name_is_no_file_and_not_the_folder(runner: CliRunner) -> None:
    calls.takes_an_empty_name_for_no_file(runner, "run")


def test_with_json_a_plan_file_that_is_refused_is_the_answer(
    runner: CliRunner, tmp_path: Path
) -> None:
    calls.answers_a_refused_plan_file_in_json(runner, "run", tmp_path)


def test_an_invalid_plan_is_not_run_and_no_cluster_is_asked(runner: CliRunner, broken: str) -> None:
    result = runner.invoke(app, ["run", broken, "--kubeconfig", "/nowhere"])

    assert result.exit_code == 2
    assert "✗ max_agents: expected type integer, got string" in result.stderr
    assert "kubeconfig" not in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.yaml", "--from-plan", "b.yaml"],
        ["a.yaml", "--max-agents", "0"],
        ["-", "--timeout", "soon"],
    ],
)
def test_a_wrong_call_ends_with_2(runner: CliRunner, arguments: list[str]) -> None:
    calls.ends_with_2(runner, "run", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-", "--name", ""],
        ["-", "--project", ""],
        ["-", "-n", "a\nb"],
    ],
)
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, arguments: list[str], tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "run", *arguments)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "run", "-")
