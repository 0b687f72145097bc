"""Commands that need no cluster, and what is said when there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app
from tests.unit.core.plans import RATE_LIMIT

PROGRAM = "from bernstein.cli.main import main; main()"
BROKEN = """\
name: p
max_agents: many
stages:
  - name: a
    depends_on: [b]
    steps:
      - {title: same, role: devsecops, priority: 9}
      - {title: same}
  - name: b
    steps: []
"""
PROBLEMS = [
    "max_agents: expected type integer, got string",
    "stages[0].steps[0].priority: must be between 1 and 5, got 9",
    "stages[1].steps: must contain at least one step",
    "Duplicate task title: 'same'",
    "Cycle detected: a -> b -> a",
]


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner(env={"COLUMNS": "200"})


@pytest.fixture
def broken(tmp_path: Path) -> str:
    path = tmp_path / "broken.yaml"
    path.write_text(BROKEN)
    return str(path)


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.yaml"
    path.write_text(RATE_LIMIT)
    return str(path)


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


@pytest.mark.parametrize("command", ["validate", "run"])
def test_a_file_that_is_not_there_is_named(runner: CliRunner, command: str) -> None:
    result = runner.invoke(app, [command, "/nowhere/plan.yaml"])

    assert result.exit_code == 2
    assert "Plan file not found: /nowhere/plan.yaml" in result.stderr


@pytest.mark.parametrize("command", ["validate", "run"])
def test_an_empty_name_is_no_file_and_not_the_folder(runner: CliRunner, command: str) -> None:
    result = runner.invoke(app, [command, ""])

    assert result.exit_code == 2
    assert result.stderr == "✗ Plan file not found: ''\n'': 1 problem\n"


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


@pytest.mark.parametrize("command", ["validate", "run"])
def test_with_json_every_plan_file_that_is_refused_is_answered_alike(
    runner: CliRunner, command: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name: x\n")

    refused = runner.invoke(app, ["--json", command, str(path)])
    missing = runner.invoke(app, ["--json", command, "/nowhere/plan.yaml"])

    assert (refused.exit_code, missing.exit_code) == (2, 2)
    assert json.loads(refused.stdout) == {
        "valid": False,
        "errors": [{"path": "stages", "message": "Missing required top-level field 'stages'"}],
        "warnings": [],
    }
    (problem,) = json.loads(missing.stdout)["errors"]
    assert problem["message"] == "Plan file not found: /nowhere/plan.yaml"


def test_words_of_a_plan_file_cannot_steer_the_terminal(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text('name: x\n"\\e]0;owned\\a\\u202e": 1\nstages: []\n')

    result = runner.invoke(app, ["validate", str(path)])

    assert result.exit_code == 2
    assert not {"\x1b", "\x07", "\u202e"} & set(result.stderr)


def test_an_invalid_plan_is_not_run_and_no_cluster_is_asked(runner: CliRunner, broken: str) -> None:
    result = runner.invoke(app, ["run", broken, "--kubeconfig", "/nowhere"])

    assert result.exit_code == 2
    assert "✗ max_agents: expected type integer, got string" in result.stderr
    assert "kubeconfig" not in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "a.yaml", "--from-plan", "b.yaml"],
        ["run", "a.yaml", "--max-agents", "0"],
        ["run", "-", "--timeout", "soon"],
        ["list-tasks", "--status-filter", "shut"],
        ["logs", "x", "--follow", "--json"],
        ["cancel", "x", "--reason", " "],
        ["unknown"],
    ],
)
def test_wrong_usage_ends_with_2(runner: CliRunner, arguments: list[str]) -> None:
    plain = runner.invoke(app, arguments, input=RATE_LIMIT)
    scripted = runner.invoke(app, ["--json", *arguments], input=RATE_LIMIT)

    assert (plain.exit_code, scripted.exit_code) == (2, 2)
    assert "Traceback" not in plain.output + scripted.output
    error = json.loads(scripted.stdout)["error"]
    assert error["message"] in scripted.stderr
    assert error["reason"] in ("Usage", "InvalidStatus", "InvalidReason", "InvalidTimeout")


@pytest.mark.parametrize(
    "arguments",
    [["status"], ["list-tasks"], ["logs", "x"], ["cancel", "x"], ["run", "-"]],
)
def test_without_a_kubeconfig_every_command_says_so(
    runner: CliRunner, arguments: list[str], tmp_path: Path
) -> None:
    nowhere = str(tmp_path / "none")

    result = runner.invoke(app, [*arguments, "--kubeconfig", nowhere], input=RATE_LIMIT)

    assert result.exit_code == 1
    first, second = result.stderr.splitlines()[-2:]
    assert first.startswith("Error: cannot use the kubeconfig: ")
    assert second == "  check --kubeconfig, --context or KUBECONFIG"


def test_with_json_errors_are_the_answer_and_told_on_standard_error(
    runner: CliRunner, tmp_path: Path
) -> None:
    result = runner.invoke(app, ["--json", "--kubeconfig", str(tmp_path / "none"), "status"])

    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["reason"] == "KubeConfigInvalid"
    assert result.stderr == f"Error: {error['message']}\n  {error['remedy']}\n"


def unreachable(tmp_path: Path, **cluster: str) -> str:
    path = tmp_path / "kubeconfig"
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"} | cluster}],
                "users": [{"name": "u", "user": {"token": "t"}}],
            }
        )
    )
    return str(path)


def test_a_cluster_that_does_not_answer_is_named(runner: CliRunner, tmp_path: Path) -> None:
    result = runner.invoke(app, ["status", "--kubeconfig", unreachable(tmp_path)])

    assert result.exit_code == 1
    first, second = result.stderr.splitlines()
    assert first.startswith("Error: the API server https://127.0.0.1:1 cannot be reached: ")
    assert "refused" in first
    assert second == ("  check that the cluster runs, or choose another --context or --kubeconfig")


def test_a_certificate_that_is_missing_is_named(runner: CliRunner, tmp_path: Path) -> None:
    broken = unreachable(tmp_path, **{"certificate-authority": "/nowhere/ca.crt"})

    result = runner.invoke(app, ["status", "--kubeconfig", broken])

    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert "/nowhere/ca.crt" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["status", ""],
        ["status", ".."],
        ["status", "mine/status"],
        ["status", "100%"],
        ["logs", ""],
        ["logs", "."],
        ["logs", "plan/"],
        ["cancel", ""],
        ["cancel", "task/"],
        ["cancel", "plan/"],
        ["cancel", "task/.."],
        ["cancel", "task/mine/status"],
        ["list-tasks", "--plan", ""],
        ["run", "-", "--name", ""],
        ["run", "-", "--project", ""],
        ["status", "--namespace", "t1/../x"],
        ["status", "--namespace", "Team"],
        ["list-tasks", "--namespace", "n" * 64],
        ["logs", "x", "-n", ".."],
        ["cancel", "x", "-n", "a b"],
        ["run", "-", "-n", "a\nb"],
    ],
)
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, arguments: list[str], tmp_path: Path
) -> None:
    arguments = [*arguments, "--kubeconfig", unreachable(tmp_path)]

    plain = runner.invoke(app, arguments, input=RATE_LIMIT)
    scripted = runner.invoke(app, ["--json", *arguments], input=RATE_LIMIT)

    assert (plain.exit_code, scripted.exit_code) == (2, 2)
    first, second = plain.stderr.splitlines()
    assert first.startswith("Error: '")
    assert second.startswith("  ")
    error = json.loads(scripted.stdout)["error"]
    assert error["reason"] == "InvalidName"
    assert f"Error: {error['message']}\n  {error['remedy']}\n" == plain.stderr == scripted.stderr


def test_the_namespace_of_a_kubeconfig_is_looked_at_too(runner: CliRunner, tmp_path: Path) -> None:
    path = Path(unreachable(tmp_path))
    path.write_text(
        path.read_text().replace('"cluster": "c", ', '"cluster": "c", "namespace": "A", ')
    )

    result = runner.invoke(app, ["status", "--kubeconfig", str(path)])

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: 'A' is no name of a namespace\n")


def test_help_and_validate_start_without_what_only_a_cluster_needs() -> None:
    code = (
        "import sys; from bernstein.cli.main import app; "
        "print(*(m for m in ('pydantic', 'kubernetes', 'aiohttp', 'yaml') if m in sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[3] / "operator")},
    )

    assert done.stdout.strip() == ""


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
        env={"PYTHONPATH": str(Path(__file__).parents[3] / "operator")},
    )
    os.close(writing)

    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_the_version_is_shown(runner: CliRunner) -> None:
    result = runner.invoke(app, ["--version"])

    assert result.exit_code == 0
    assert result.stdout.startswith("bernstein ")
