"""`bernstein validate`, which needs no cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app
from tests.unit.cli import calls
from tests.unit.cli.calls import PROBLEMS
from tests.unit.core.plans.plan_files import RATE_LIMIT


def test_a_valid_plan_is_praised_with_an_estimate(runner: CliRunner, good: str) -> None:
    result = runner.invoke(app, ["validate", good])

    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == f"✓ {good} is valid"
    assert "3 stages, 7 steps, about 1 h 30 min, about $" in result.stdout
    assert result.stderr == ""


def test_a_plan_may_come_from_standard_input(runner: CliRunner) -> None:
    assert runner.invoke(app, ["validate", "-"], input=RATE_LIMIT).exit_code == 0


def test_every_problem_is_a_line_on_standard_error(runner: CliRunner, broken: str) -> None:
    result = runner.invoke(app, ["validate", broken])

    assert result.exit_code == 2
    assert result.stdout == ""
    warning, *rest = result.stderr.splitlines()
    assert warning.startswith("! stages[0].steps[0].role: invalid value 'devsecops'")
    assert [row.partition(" (at ")[0] for row in rest[:-1]] == [f"✗ {p}" for p in PROBLEMS]
    assert rest[-1] == f"{broken}: 5 problems"


@pytest.mark.parametrize("arguments", [["--json", "validate"], ["validate", "--json"]])
def test_json_may_be_asked_for_before_and_after_the_command(
    runner: CliRunner, broken: str, arguments: list[str]
) -> None:
    result = runner.invoke(app, [*arguments, broken])

    assert result.exit_code == 2
    answer = json.loads(result.stdout)
    assert answer["valid"] is False
    assert [problem["message"] for problem in answer["errors"]] == PROBLEMS
    assert answer["errors"][1]["path"] == "stages[0].steps[0].priority"
    assert len(answer["warnings"]) == 1


def test_the_json_of_a_valid_plan_has_the_estimate(runner: CliRunner, good: str) -> None:
    answer = json.loads(runner.invoke(app, ["validate", "--json", good]).stdout)

    assert answer["valid"] is True
    assert answer["estimate"]["minutes"] == 90
    assert answer["estimate"]["cost_usd"] > 0


def test_a_file_that_is_not_there_is_named(runner: CliRunner) -> None:
    calls.names_a_missing_file(runner, "validate")


def test_an_empty_name_is_no_file_and_not_the_folder(runner: CliRunner) -> None:
    calls.takes_an_empty_name_for_no_file(runner, "validate")


def test_with_json_a_plan_file_that_is_refused_is_the_answer(
    runner: CliRunner, tmp_path: Path
) -> None:
    calls.answers_a_refused_plan_file_in_json(runner, "validate", tmp_path)


def test_a_plan_of_standard_input_is_called_so(runner: CliRunner) -> None:
    good = runner.invoke(app, ["validate", "-"], input=RATE_LIMIT)
    bad = runner.invoke(app, ["validate", "-"], input="name: x\n")

    assert good.stdout.splitlines()[0] == "✓ standard input is valid"
    assert bad.stderr.splitlines()[-1] == "standard input: 1 problem"


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("$0.10", "the estimate $0.55 exceeds the budget $0.10"),
        ("0", "the estimate $0.55 exceeds the budget $0.00"),
        ("0.549999", "the estimate $0.55 exceeds the budget $0.549999"),
    ],
)
def test_a_budget_below_the_estimate_is_a_warning(
    runner: CliRunner, tmp_path: Path, budget: str, words: str
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"name: x\nbudget: '{budget}'\nstages: [{{name: a, steps: [{{title: t}}]}}]\n")

    plain = runner.invoke(app, ["validate", str(path)])
    scripted = runner.invoke(app, ["validate", str(path), "--json"])

    assert (plain.exit_code, scripted.exit_code) == (0, 0)
    assert plain.stderr == scripted.stderr == f"! budget: {words}\n"
    answer = json.loads(scripted.stdout)
    assert answer["valid"] is True
    assert answer["warnings"] == [{"path": "budget", "message": f"budget: {words}"}]


@pytest.mark.parametrize("option", ["--namespace", "-n", "--context", "--kubeconfig"])
def test_validate_refuses_options_that_would_have_no_effect(
    runner: CliRunner, good: str, option: str
) -> None:
    before = runner.invoke(app, [option, "/nope", "validate", good])
    after = runner.invoke(app, ["validate", good, option, "/nope"])
    scripted = runner.invoke(app, ["--json", option, "/nope", "validate", good])

    assert (before.exit_code, after.exit_code, scripted.exit_code) == (2, 2, 2)
    assert before.stdout == after.stdout == ""
    assert "No such option" in after.stderr
    spelled = "--namespace" if option == "-n" else option
    assert before.stderr == (
        f"Error: validate works without a cluster and takes no {spelled}\n  leave it out\n"
    )
    assert json.loads(scripted.stdout)["error"]["reason"] == "Usage"


def test_a_file_that_is_no_yaml_is_refused_with_the_line(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name: x\nstages: [\n")

    result = runner.invoke(app, ["validate", str(path)])

    assert result.exit_code == 2
    assert result.stderr.startswith("✗ Failed to parse YAML plan: ")
    assert "(line 3, column 1)" in result.stderr


def test_an_object_that_is_no_yaml_is_not_called_a_plan(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "project.yaml"
    path.write_text("apiVersion: bernstein.dev/v1alpha1\nkind: Project\nspec: [\n")

    result = runner.invoke(app, ["validate", str(path)])

    assert result.exit_code == 2
    assert "Failed to parse YAML: " in result.stderr
    assert "YAML plan" not in result.stderr


def test_words_of_a_plan_file_cannot_steer_the_terminal(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text('name: x\n"\\e]0;owned\\a\\u202e": 1\nstages: []\n')

    result = runner.invoke(app, ["validate", str(path)])

    assert result.exit_code == 2
    assert not {"\x1b", "\x07", "\u202e"} & set(result.stderr)
