"""`bernstein validate` of AgentRoles, and of objects whose roles are none that are built in."""

from __future__ import annotations

from pathlib import Path

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


def test_a_role_that_only_a_cluster_may_know_is_a_warning(
    runner: CliRunner, tmp_path: Path
) -> None:
    code, told = validated(runner, tmp_path, PLAN)

    assert code == 0
    assert "role 'sre' is not built in: it needs an AgentRole" in " ".join(told.split())
    assert "'qa'" not in told
