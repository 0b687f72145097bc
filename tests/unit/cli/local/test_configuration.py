"""What `bernstein.yaml` of a folder says, and what it may not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.api.approvals.policy import PROTECTED_PATHS
from bernstein.api.project import Project
from bernstein.checks.changes import Protected
from bernstein.cli.errors import CliError
from bernstein.cli.local import configuration
from bernstein.cli.main import app
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.settings import CliSettings
from tests.unit.cli import calls
from tests.unit.core import objects


def written(folder: Path, text: str) -> str:
    (folder / configuration.FILE).write_text(text)
    return str(folder)


def test_it_says_what_the_call_does_not(tmp_path: Path) -> None:
    folder = written(tmp_path, "context: staging\nnamespace: team\nproject: shop\n")

    found = configuration.completed(CliSettings(workdir=folder, namespace="mine"))

    assert (found.context, found.namespace) == ("staging", "mine")
    assert configuration.project(found) == "shop"


def test_without_the_option_it_is_the_current_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "namespace: team\n")
    monkeypatch.chdir(tmp_path)

    assert configuration.completed(CliSettings()).namespace == "team"


def test_a_change_of_it_by_an_agent_is_of_high_risk() -> None:
    guard = Protected(PROTECTED_PATHS)

    assert all(map(guard.holds, (configuration.FILE, f"web/{configuration.FILE}")))
    assert not guard.holds(f"docs/{configuration.FILE}.md")


@pytest.mark.parametrize("text", ["", "goal: Build a shop\nteam: [backend, qa]\ncli: auto\n"])
def test_what_it_holds_besides_is_not_read(tmp_path: Path, text: str) -> None:
    settings = CliSettings(workdir=written(tmp_path, text))

    assert configuration.completed(settings) == settings
    assert configuration.project(settings) is None


def test_a_folder_without_one_changes_nothing(tmp_path: Path) -> None:
    settings = CliSettings(workdir=str(tmp_path))

    assert configuration.completed(settings) is settings


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("namespce: team\n", "unknown field 'namespce', did you mean 'namespace'?"),
        ("context: 5\n", "context: expected a string, got 5"),
        ("project: ''\n", "project: expected a string, got ''"),
        ("- a\n", "expected a mapping, got array"),
        ("a: [\n", "expected the node content"),
    ],
)
def test_what_would_send_work_elsewhere_is_an_error(
    tmp_path: Path, text: str, problem: str
) -> None:
    with pytest.raises(CliError) as caught:
        configuration.completed(CliSettings(workdir=written(tmp_path, text)))

    assert (caught.value.reason, caught.value.code) == ("ConfigurationInvalid", 2)
    assert problem in caught.value.message
    assert "Failed to parse YAML plan" not in caught.value.message


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_every_command_takes_the_option_before_and_after_its_name(
    runner: CliRunner, tmp_path: Path, before: bool
) -> None:
    words = ["--workdir", str(tmp_path / "none")]
    call = [*words, "status"] if before else ["status", *words]

    result = runner.invoke(app, ["--json", *call])

    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["message"].startswith("there is no folder '")


def test_its_namespace_is_the_commands(runner: CliRunner, tmp_path: Path) -> None:
    folder = written(tmp_path, "namespace: no name\n")
    kubeconfig = calls.unreachable(tmp_path)

    result = runner.invoke(app, ["status", "--workdir", folder, "--kubeconfig", kubeconfig])

    assert result.exit_code == 2
    assert "'no name' is no name of a namespace" in result.stderr


def test_gates_in_it_are_told_to_have_no_effect(runner: CliRunner, tmp_path: Path) -> None:
    folder = written(tmp_path, "quality_gates:\n  lint: true\n")
    (tmp_path / "plan.yaml").write_text("name: p\n")

    checked = runner.invoke(app, ["validate", str(tmp_path / "plan.yaml"), "--workdir", folder])

    tells_of_gates(checked.stderr)


def tells_of_gates(told: str) -> None:
    assert "quality_gates has no effect here: the gates are those of the Project" in told
    assert "`bernstein init` writes a Project that has them, and says what differs" in told


@pytest.mark.parametrize(
    ("gates", "is_told"),
    [({}, True), ({"pipeline": [{"name": "lint"}]}, False), ({"enabled": False}, False)],
    ids=["by default", "chosen", "off"],
)
def test_gates_in_it_are_told_only_where_the_project_has_chosen_none(
    gates: dict[str, object], is_told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path, "quality_gates:\n  lint: true\n")
    terminal = Terminal(CliSettings(workdir=folder))

    spec = objects.project().whole.spec.dump() | {"gates": gates}
    project = Project.model_validate({"metadata": {"name": "default"}, "spec": spec})
    configuration.tell_gates(terminal, project)

    told = capsys.readouterr().err
    assert ("quality_gates has no effect here" in told) is is_told


def test_gates_in_it_are_told_where_nobody_may_read_the_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path, "quality_gates:\n  lint: true\n")

    configuration.tell_gates(Terminal(CliSettings(workdir=folder)), None)

    tells_of_gates(capsys.readouterr().err)
