"""`bernstein validate` of AgentRoles, and of objects whose roles are none that are built in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app

ROLE = """\
apiVersion: bernstein.dev/v1alpha1
kind: AgentRole
metadata: {name: sre}
spec:
  prompt: You work as {{ROLE}}.
  taskPrompt: "Do: {{TASK_DESCRIPTION}}"
  model: opus
"""
PROJECT = """\
apiVersion: bernstein.dev/v1alpha1
kind: Project
metadata: {name: default}
spec:
  repositories:
    - name: app
      url: https://git.example.com/a.git
      credentials:
        read: {secretName: git-read}
        work: {secretName: git-work}
        deliver: {secretName: git-deliver}
  agents: [{name: main, adapter: codex, image: "registry.example.com/codex:1"}]
  toolchain: {image: "registry.example.com/toolchain:1"}
  merge: {strategy: direct}
"""
PLAN_FILE = """\
name: Web
stages: [{name: a, steps: [{title: b, role: sre}]}]
"""
PLAN = """\
apiVersion: bernstein.dev/v1alpha1
kind: Plan
metadata: {name: web}
spec:
  name: Web
  stages: [{name: a, steps: [{title: b, role: sre}, {title: c, role: qa}]}]
"""


def validated(runner: CliRunner, tmp_path: Path, text: str) -> tuple[int, str]:
    path = tmp_path / "object.yaml"
    path.write_text(text)
    result = runner.invoke(app, ["validate", str(path)])
    return result.exit_code, result.output


def test_an_agent_role_is_valid(runner: CliRunner, tmp_path: Path) -> None:
    code, told = validated(runner, tmp_path, ROLE)

    assert code == 0
    assert "AgentRole 'sre'" in told


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{{ROLE}}", "{{X}}", "spec.prompt: line 1, column 13: unknown name 'X'"),
        ("{{TASK_DESCRIPTION}}", "it", "spec.taskPrompt: line 1, column 1: does not say"),
        ("model: opus", "modle: opus", "spec: unknown field 'modle', did you mean 'model'"),
        ("  prompt: You work as {{ROLE}}.\n", "", "spec.prompt: only a built-in role has a text"),
        ("name: sre", "name: 1-sre", "metadata.name is the role's"),
    ],
)
def test_what_is_wrong_with_one_is_told_with_its_place(
    runner: CliRunner, tmp_path: Path, old: str, new: str, words: str
) -> None:
    code, told = validated(runner, tmp_path, ROLE.replace(old, new))

    assert code == 2
    assert words in " ".join(told.split())


TASK = """\
apiVersion: bernstein.dev/v1alpha1
kind: Task
metadata: {name: web}
spec: {title: b, subtasks: [{title: c, role: sre}, {title: d, role: qa}]}
"""


@pytest.mark.parametrize(
    "text", [PLAN, PLAN.replace("role: sre", "subtasks: [{title: d, role: sre}]"), TASK]
)
def test_a_role_that_only_a_cluster_may_know_is_a_warning(
    runner: CliRunner, tmp_path: Path, text: str
) -> None:
    code, told = validated(runner, tmp_path, text)

    assert code == 0
    assert "role 'sre' is not built in: it needs an AgentRole" in " ".join(told.split())
    assert "'qa'" not in told


# --- those that plans may name --------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a plan file and one with the same as an object."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.yaml").write_text(PLAN_FILE)
    (tmp_path / "object.yaml").write_text(PLAN)
    return tmp_path


def of_files(folder: Path, **files: str) -> Path:
    """A folder of these files; `system_prompt` stands for `system_prompt.md`."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        suffix = "yaml" if name == "config" else "md"
        (folder / f"{name}.{suffix}").write_text(text)
    return folder


def told(runner: CliRunner, *words: str) -> tuple[int, str]:
    answer = runner.invoke(app, ["validate", *words])
    return answer.exit_code, answer.output


def record(runner: CliRunner, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(runner.invoke(app, ["--json", "validate", *words]).stdout)
    return found


@pytest.mark.parametrize("plan", ["plan.yaml", "object.yaml"])
@pytest.mark.parametrize("form", ["object", "folder of three files", "folder of folders", "list"])
def test_a_role_of_a_file_or_folder_is_known_to_the_plan(
    runner: CliRunner, folder: Path, plan: str, form: str
) -> None:
    place = folder / "roles"
    if form == "folder of three files":
        place = of_files(folder / "sre", system_prompt="You work.", config="model: opus\n")
    elif form == "folder of folders":
        of_files(place / "sre", system_prompt="You work.", config="model: opus\n")
        (place / "other.yaml").write_text(ROLE.replace("sre", "other"))
        (place / "foreign.yaml").write_text("apiVersion: v1\nkind: ConfigMap\n")
    elif form == "list":
        place.write_text(f"{PROJECT}---\n{ROLE}")
    else:
        place.write_text(ROLE)

    code, words = told(runner, plan, "--roles", str(place))

    assert (code, "'sre'" in told(runner, plan)[1]) == (0, True)
    assert "! " not in words
    assert "it needs an AgentRole" not in words


def test_the_estimate_is_that_of_the_models_of_these_roles(runner: CliRunner, folder: Path) -> None:
    of_files(folder / "sre", system_prompt="You work.", config="model: opus\n")

    without = record(runner, "plan.yaml")["estimate"]["cost_usd"]
    assert record(runner, "plan.yaml", "--roles", "sre")["estimate"]["cost_usd"] > without


def test_a_role_of_another_name_does_not_help(runner: CliRunner, folder: Path) -> None:
    of_files(folder / "srx", system_prompt="You work.")

    code, words = told(runner, "plan.yaml", "--roles", "srx")

    assert code == 0
    assert "'sre'" in words
    assert ", srx, " in " ".join(words.split())


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"system_prompt": "You {{X}}."}, "system_prompt.md:1:5: unknown name 'X'"),
        ({"system_prompt": "x", "config": "modle: opus"}, "config.yaml:1: unknown field 'modle'"),
        ({"config": "model: opus"}, "spec.prompt: only a built-in role has a text"),
        ({}, "holds no AgentRole, and no folder of a role"),
    ],
)
def test_what_is_wrong_with_a_folder_of_a_role_is_told_beside_the_plan(
    runner: CliRunner, folder: Path, files: dict[str, str], words: str
) -> None:
    of_files(folder / "sre", **files)

    code, output = told(runner, "plan.yaml", "--roles", "sre")

    assert code == 2
    assert words in " ".join(output.split())
    assert "plan.yaml: plan file" in output


def test_what_cannot_be_read_or_is_no_role_is_named(runner: CliRunner, folder: Path) -> None:
    (folder / "bad.yaml").write_text("a: [")
    of_files(folder / "sre").joinpath("system_prompt.md").write_bytes(b"\xff")

    assert "nowhere: 1 problem" in told(runner, "plan.yaml", "--roles", "nowhere")[1]
    assert "Failed to parse YAML" in told(runner, "plan.yaml", "--roles", "bad.yaml")[1]
    assert "no text in UTF-8" in told(runner, "plan.yaml", "--roles", "sre")[1]
    assert "holds no AgentRole" in told(runner, "plan.yaml", "--roles", "object.yaml")[1]


def test_two_roles_of_one_name_are_refused(runner: CliRunner, folder: Path) -> None:
    (folder / "role.yaml").write_text(ROLE)
    of_files(folder / "sre", system_prompt="You work.")

    code, output = told(runner, "plan.yaml", "--roles", "role.yaml", "--roles", "sre")

    assert code == 2
    assert "metadata.name: 'sre' is the role of role.yaml, too" in " ".join(output.split())


def test_the_model_of_a_role_is_one_that_a_project_beside_it_knows(
    runner: CliRunner, folder: Path
) -> None:
    (folder / "project.yaml").write_text(PROJECT)
    (folder / "role.yaml").write_text(ROLE.replace("opus", "opsu"))
    words = ("plan.yaml", "project.yaml", "--roles", "role.yaml")

    alone = told(runner, "plan.yaml", "--roles", "role.yaml")[0]
    code, output = told(runner, *words)
    (folder / "role.yaml").write_text(ROLE)

    assert (alone, code, told(runner, *words)[0]) == (0, 2, 0)
    assert (
        "spec.model: the Project 'default' and the table of prices do not know the model 'opsu'"
        in " ".join(output.split())
    )
