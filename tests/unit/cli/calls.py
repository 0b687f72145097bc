"""Calls of the program that go wrong without a cluster, and what every command answers to them."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from bernstein.cli.main import app
from tests.unit.core.plans.plan_files import RATE_LIMIT

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


def unreachable(tmp_path: Path, **cluster: str) -> str:
    """A kubeconfig of a cluster that does not answer."""
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


def ends_with_2(runner: CliRunner, *arguments: str) -> None:
    """The call is wrong: said without a traceback, and with `--json` in JSON."""
    plain = runner.invoke(app, arguments, input=RATE_LIMIT)
    scripted = runner.invoke(app, ["--json", *arguments], input=RATE_LIMIT)

    assert (plain.exit_code, scripted.exit_code) == (2, 2)
    assert "Traceback" not in plain.output + scripted.output
    error = json.loads(scripted.stdout)["error"]
    assert error["message"] in scripted.stderr
    assert error["reason"] in ("Usage", "InvalidStatus", "InvalidReason", "InvalidTimeout")


def needs_a_kubeconfig(runner: CliRunner, tmp_path: Path, *arguments: str) -> None:
    nowhere = str(tmp_path / "none")

    result = runner.invoke(app, [*arguments, "--kubeconfig", nowhere], input=RATE_LIMIT)

    assert result.exit_code == 1
    first, second = result.stderr.splitlines()[-2:]
    assert first.startswith(f"Error: cannot use the kubeconfig '{nowhere}': ")
    assert second == "  check --kubeconfig, --context or KUBECONFIG"


def is_no_name(runner: CliRunner, tmp_path: Path, *arguments: str) -> None:
    """Refused before a cluster is asked."""
    given = [*arguments, "--kubeconfig", unreachable(tmp_path)]

    plain = runner.invoke(app, given, input=RATE_LIMIT)
    scripted = runner.invoke(app, ["--json", *given], input=RATE_LIMIT)

    assert (plain.exit_code, scripted.exit_code) == (2, 2)
    first, second = plain.stderr.splitlines()
    assert first.startswith("Error: '")
    assert second.startswith("  ")
    error = json.loads(scripted.stdout)["error"]
    assert error["reason"] == "InvalidName"
    assert f"Error: {error['message']}\n  {error['remedy']}\n" == plain.stderr == scripted.stderr


def names_a_missing_file(runner: CliRunner, command: str) -> None:
    result = runner.invoke(app, [command, "/nowhere/plan.yaml"])

    assert result.exit_code == 2
    assert "Plan file not found: /nowhere/plan.yaml" in result.stderr


def takes_an_empty_name_for_no_file(runner: CliRunner, command: str) -> None:
    """And not for the folder."""
    result = runner.invoke(app, [command, ""])

    assert result.exit_code == 2
    assert result.stderr == "✗ Plan file not found: ''\n'': 1 problem\n"


def answers_a_refused_plan_file_in_json(runner: CliRunner, command: str, tmp_path: Path) -> None:
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
