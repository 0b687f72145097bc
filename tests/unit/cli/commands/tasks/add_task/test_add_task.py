"""`bernstein add-task` before it asks a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app
from tests.unit.cli import calls
from tests.unit.core.tasks.test_declared import SEED

SCRIPT = (
    *("add-task", "Add SBOM endpoint", "--role", "backend", "--priority", "1"),
    *("--description", "Expose POST /sbom that returns CycloneDX.", "--scope", "small"),
)


def test_a_dry_run_prints_the_object_and_asks_no_cluster(runner: CliRunner) -> None:
    result = runner.invoke(app, [*SCRIPT, "--dry-run", "-n", "team", "--kubeconfig", "/nowhere"])

    made = json.loads(result.stdout)
    assert (result.exit_code, made["kind"], made["metadata"]["namespace"]) == (0, "Task", "team")
    assert made["metadata"]["name"].startswith("add-sbom-endpoint-")
    assert made["spec"] == {
        "title": "Add SBOM endpoint",
        "description": "Expose POST /sbom that returns CycloneDX.",
        "role": "backend",
        "priority": 1,
        "scope": "small",
    }


def test_it_is_also_called_task_compose(runner: CliRunner) -> None:
    plain = runner.invoke(app, [*SCRIPT, "--dry-run"])
    other = runner.invoke(app, ["task", "compose", *SCRIPT[1:], "--dry-run"])

    assert other.exit_code == 0
    assert other.stdout == plain.stdout
    assert "compose" not in runner.invoke(app, ["--help"]).stdout


def test_every_field_of_the_contract_is_an_option(runner: CliRunner) -> None:
    call = ["add-task", "t", "-d", "x", "--complexity", "high", "--depends-on", "T-deadbeef"]

    result = runner.invoke(app, [*call, "--depends-on", "other", "--name", "mine", "--dry-run"])

    made = json.loads(result.stdout)
    assert made["metadata"]["name"] == "mine"
    assert made["spec"]["dependsOn"] == ["t-deadbeef", "other"]
    assert made["spec"]["complexity"] == "high"


def test_the_projects_name_comes_from_the_call_or_the_folder(
    runner: CliRunner, tmp_path: Path
) -> None:
    (tmp_path / "bernstein.yaml").write_text("project: shop\nnamespace: team\n")
    call = ["add-task", "t", "--dry-run", "--workdir", str(tmp_path)]

    folder = json.loads(runner.invoke(app, call).stdout)
    given = json.loads(runner.invoke(app, [*call, "--project", "other"]).stdout)

    assert folder["spec"]["projectRef"] == "shop"
    assert folder["metadata"]["namespace"] == "team"
    assert given["spec"]["projectRef"] == "other"


def test_a_folder_of_task_files_gives_all_of_its_tasks_in_their_order(
    runner: CliRunner, tmp_path: Path
) -> None:
    (tmp_path / "1.yaml").write_text(SEED)
    (tmp_path / "2.yml").write_text("id: TSK-040\ntitle: First\n---\ntitle: Alone\n")
    (tmp_path / "notes.txt").write_text("[")

    result = runner.invoke(app, ["add-task", "-f", str(tmp_path), "--dry-run"])

    assert result.exit_code == 0, result.stderr
    made = [each["metadata"]["name"] for each in json.loads(result.stdout)]
    assert [name for name in made if name.startswith("tsk")] == ["tsk-040", "tsk-042"]
    assert len(made) == 3


def test_a_task_file_comes_on_standard_input_too(runner: CliRunner) -> None:
    result = runner.invoke(app, ["add-task", "-f", "-", "--dry-run"], input=SEED)

    (made,) = json.loads(result.stdout)
    assert made["metadata"]["name"] == "tsk-042"


def test_all_that_is_wrong_in_files_is_told_by_file(runner: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("title: a\npriority: 9\n---\nid: b\n")
    (tmp_path / "b.yaml").write_text("a: [\n")
    (tmp_path / "c.yaml").write_text("")
    call = ["add-task", "-f", str(tmp_path), "--kubeconfig", "/nowhere"]

    plain, scripted = runner.invoke(app, call), runner.invoke(app, [*call, "--json"])

    assert (plain.exit_code, scripted.exit_code) == (2, 2)
    assert "a.yaml: 2 problems" in plain.stderr
    assert "document 1: priority: must be between 1 and 5, got 9" in plain.stderr
    assert "document 2: missing required field 'title'" in plain.stderr
    assert "nothing in it" in plain.stderr
    assert "Failed to parse YAML plan" not in plain.stderr
    found = json.loads(scripted.stdout)
    assert (found["valid"], [len(file["errors"]) for file in found["files"]]) == (False, [2, 1, 1])


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_file_that_is_not_there_and_a_folder_without_one_are_told(
    runner: CliRunner, tmp_path: Path, what: str
) -> None:
    path = tmp_path if what == "folder" else tmp_path / "none.yaml"

    result = runner.invoke(app, ["add-task", "-f", str(path), "--dry-run"])

    assert result.exit_code == 2
    problem = "no task file in it" if what == "folder" else "there is no such file"
    assert problem in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "a task needs a title"),
        (["t", "-f", "x.yaml"], "it takes no TITLE"),
        (["-f", "x.yaml", "--role", "qa", "-d", "x"], "it takes no --role, --description"),
        (["t", "--priority", "9"], "priority: must be between 1 and 5, got 9"),
        (["t", "--scope", "huge"], "scope: invalid value 'huge'"),
        (["t", "--role", "Dev Ops"], "role: invalid value 'Dev Ops'"),
        (["t", "--name", "a/b"], "'a/b' is no name for a Task"),
        (["t", "--name", "a" * 41], "' is no name for a Task"),
        (["t", "--project", ""], "'' is no name for a Project"),
    ],
)
def test_a_wrong_call_ends_with_2_and_says_why(
    runner: CliRunner, tmp_path: Path, arguments: list[str], words: str
) -> None:
    call = ["--json", "add-task", *arguments, "--kubeconfig", calls.unreachable(tmp_path)]

    result = runner.invoke(app, call)

    assert result.exit_code == 2
    assert words in json.loads(result.stdout)["error"]["message"]


def test_a_dry_run_only_warns_of_a_role_that_the_cluster_may_have(
    runner: CliRunner, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text("title: a\n---\ntitle: b\nrole: sre\n")

    one = runner.invoke(app, ["add-task", "t", "--role", "sre", "--dry-run"])
    of_file = runner.invoke(app, ["add-task", "-f", str(tmp_path / "a.yaml"), "--dry-run"])

    assert (one.exit_code, json.loads(one.stdout)["spec"]["role"]) == (0, "sre")
    assert one.stderr.startswith("! role: invalid value 'sre', must be one of [")
    assert of_file.exit_code == 0
    assert of_file.stderr.startswith("! document 2: role: invalid value 'sre'")


def test_several_tasks_take_no_name(runner: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("title: a\n---\ntitle: b\n")

    result = runner.invoke(app, ["add-task", "-f", str(tmp_path), "--name", "one", "--dry-run"])

    assert result.exit_code == 2
    assert "--name names one task, and there are 2" in result.stderr


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "add-task", "x")
