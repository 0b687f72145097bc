"""`bernstein validate` of objects, of several documents and of folders."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.api.projects.repository import NO_USER, NO_USER_OF_API
from bernstein.cli.main import app
from tests.unit.core import objects
from tests.unit.core.plans.plan_files import RATE_LIMIT

PLAN = """\
apiVersion: bernstein.dev/v1alpha1
kind: Plan
metadata: {name: web}
spec:
  name: Web
  budget: 5
  stages: [{name: s, steps: [{title: a, role: backend}]}]
"""
TASK = """\
apiVersion: bernstein.dev/v1alpha1
kind: Task
metadata: {generateName: one-}
spec: {title: t, dependsOn: [other]}
"""


def validated(runner: CliRunner, *paths: object) -> tuple[int, str, str]:
    result = runner.invoke(app, ["validate", *map(str, paths)])
    return result.exit_code, result.stdout, result.stderr


def test_a_file_of_several_objects_is_one_line(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(f"{PLAN}---\n{TASK}---\n")

    assert validated(runner, path) == (0, f"✓ {path}: Plan 'web', Task\n", "")


def test_a_folder_is_searched_and_what_is_not_ours_passed_over(
    runner: CliRunner, tmp_path: Path
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.yaml").write_text(RATE_LIMIT)
    (tmp_path / "deep" / "b.yml").write_text(PLAN)
    (tmp_path / "values.yaml").write_text("image: x\n")
    (tmp_path / "service.yaml").write_text("apiVersion: v1\nkind: Service\n")
    (tmp_path / "notes.txt").write_text("{")

    code, out, err = validated(runner, tmp_path)

    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"✓ {tmp_path}/a.yaml: plan file",
        f"✓ {tmp_path}/deep/b.yml: Plan 'web'",
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("role: backend", "rolle: backend", "spec.stages[0].steps[0]: unknown field 'rolle'"),
        ("title: a,", "", "step must have a 'title' or 'goal' field"),
        ("budget: 5", "budget: 5 EUR", "spec.budget: "),
        ("stages: [", "max: 1\n  stages: [", "spec: unknown field 'max'"),
        ("role: backend", "priority: '2'", "spec.stages[0].steps[0].priority: "),
        ("role: backend", "role: '-'", "spec.stages[0].steps[0].role: "),
        ("v1alpha1", "v2", "is not bernstein.dev/v1alpha1"),
        ("kind: Plan", "kind: Plann", "is none of AgentRole, Plan, Project, Task"),
        ("metadata: {name: web}\n", "", "metadata: "),
        ("spec:\n", "spec: ]\n", "Failed to parse YAML: "),
    ],
)
def test_what_is_wrong_with_an_object_is_told_with_its_place(
    runner: CliRunner, tmp_path: Path, old: str, new: str, told: str
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.replace(old, new))

    code, out, err = validated(runner, path, path)

    assert (code, out) == (2, "")
    assert told in err


@pytest.mark.parametrize(("budget", "warned"), [("0", True), ("'$0.00'", True), ("5", False)])
def test_a_budget_of_nothing_is_a_warning(
    runner: CliRunner, tmp_path: Path, budget: str, warned: bool
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.replace("budget: 5", f"budget: {budget}"))

    code, _, err = validated(runner, path)

    told = "spec.budget: with a budget of $0.00 no session starts"
    assert code == 0
    assert (told in err) is warned


def test_a_signal_of_a_task_is_checked_like_that_of_a_step(
    runner: CliRunner, tmp_path: Path
) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(TASK.replace("title: t", "title: t, completionSignals: [{type: path_exists}]"))

    code, _, err = validated(runner, path)

    assert code == 2
    assert "spec.completionSignals[0]: missing required field 'path'" in err


def test_with_json_every_file_has_its_record(runner: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(PLAN)
    (tmp_path / "bad.yaml").write_text(PLAN.replace("budget", "budgett"))

    result = runner.invoke(app, ["validate", "--json", str(tmp_path)])

    answer = json.loads(result.stdout)
    assert result.exit_code == 2
    assert answer["valid"] is False
    assert [(Path(f["file"]).name, f["valid"]) for f in answer["files"]] == [
        ("bad.yaml", False),
        ("good.yaml", True),
    ]
    assert answer["files"][0]["errors"][0]["path"] == "spec.budgett"


def listed(*objects: str) -> str:
    """As `kubectl get -o yaml` prints several objects."""
    items = "".join(textwrap.indent(each, "    ").replace("    ", "  - ", 1) for each in objects)
    return f"apiVersion: v1\nkind: List\nitems:\n{items}"


def test_the_objects_of_a_list_are_checked(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "backup.yaml"
    path.write_text(listed(PLAN, TASK))
    assert validated(runner, path) == (0, f"✓ {path}: Plan 'web', Task\n", "")
    assert validated(runner, tmp_path)[:2] == (0, f"✓ {path}: Plan 'web', Task\n")

    path.write_text(listed(TASK, PLAN.replace("role:", "rol:")))
    for where in (path, tmp_path):
        code, _, err = validated(runner, where)
        assert code == 2
        assert "document 2, Plan 'web'" in err
        assert "unknown field 'rol', did you mean 'role'?" in err


def test_a_list_of_other_objects_is_passed_over(runner: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "services.yaml").write_text(listed("apiVersion: v1\nkind: Service\n"))
    (tmp_path / "plan.yaml").write_text(PLAN)

    code, out, err = validated(runner, tmp_path)

    assert (code, out, err) == (0, f"✓ {tmp_path}/plan.yaml: Plan 'web'\n", "")


@pytest.mark.parametrize("kind", ["Approval", "AgentSession"])
def test_what_the_operator_alone_makes_is_said_to_be(
    runner: CliRunner, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"apiVersion: bernstein.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: a}}\n")

    code, _, err = validated(runner, path)

    assert code == 2
    assert f"kind: the operator alone makes objects of the kind '{kind}'" in err


def test_a_folder_without_anything_of_ours_is_no_success(runner: CliRunner, tmp_path: Path) -> None:
    code, _, err = validated(runner, tmp_path)

    assert code == 2
    assert "Nothing to check" in err


def test_standard_input_takes_objects_too(runner: CliRunner) -> None:
    good = runner.invoke(app, ["validate", "-"], input=f"{PLAN}---\n{TASK}")
    bad = runner.invoke(app, ["validate", "-"], input=PLAN.replace("budget: 5", "bugdet: 5"))

    assert (good.exit_code, good.stdout) == (0, "✓ standard input: Plan 'web', Task\n")
    assert bad.exit_code == 2
    assert "✗ standard input: 1 problem" in bad.stderr
    assert "did you mean 'budget'?" in bad.stderr


def test_an_error_says_in_which_of_several_documents_it_is(
    runner: CliRunner, tmp_path: Path
) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(f"{PLAN}---\n{PLAN.replace('name: web', 'name: second').replace('5', '-5')}")

    code, _, err = validated(runner, path)
    scripted = runner.invoke(app, ["--json", "validate", str(path)])

    assert code == 2
    assert "    document 2, Plan 'second': spec.budget: " in err
    assert "document 1" not in err
    (error,) = json.loads(scripted.stdout)["files"][0]["errors"]
    assert (error["path"], error["document"]) == ("spec.budget", "document 2, Plan 'second'")


@pytest.mark.parametrize(("budget", "code"), [("5", 0), ("'5.5'", 0), ("$5.50", 0), ("5.5", 2)])
def test_a_budget_is_taken_as_the_api_server_takes_it(
    runner: CliRunner, tmp_path: Path, budget: str, code: int
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.replace("budget: 5", f"budget: {budget}"))

    found, _, err = validated(runner, path)

    assert found == code
    assert ("write it in quotes: '5.5'" in err) is (code == 2)


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ("-1", ", got -1"),
        (
            "1000000000",
            ", with at most 9 digits before the point, 6 after it and no exponent, got 1000000000",
        ),
        ("5 USD", ", got '5 USD'"),
    ],
)
def test_a_budget_is_refused_in_the_words_of_a_plan_file(
    runner: CliRunner, tmp_path: Path, budget: str, told: str
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.replace("budget: 5", f"budget: {budget}"))

    _, _, err = validated(runner, path)

    assert f'spec.budget: expected US dollars such as "$5" or 5.00{told}\n' in err


def project(tmp_path: Path, **spec: Any) -> Path:
    path = tmp_path / "project.json"
    meta = {"apiVersion": "bernstein.dev/v1alpha1", "kind": "Project", "metadata": {"name": "p"}}
    said = objects.project(**spec).spec
    written = said.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    path.write_text(json.dumps(meta | {"spec": written}))
    return path


CODEX = {"name": "codex", "adapter": "codex", "image": "codex:1"}
GPT = {"name": "gpt-5", "provider": "openai", "key": {"name": "k", "key": "k"}}
NO_REVIEWER = (
    "spec.agents[0]: gates.crossModel: no model of the Project is known to be of another than "
    "OpenAI, whose model writes"
)


@pytest.mark.parametrize(
    ("gates", "told"),
    [
        ({"crossModel": {"enabled": True}}, [NO_REVIEWER]),
        ({"crossModel": {"enabled": True, "onIssues": "Report"}}, []),
        ({}, []),
    ],
)
def test_a_project_whose_changes_nobody_could_review_is_warned_of(
    runner: CliRunner, tmp_path: Path, gates: dict[str, object], told: list[str]
) -> None:
    """The API server takes it: only Plans and Tasks would tell."""
    path = project(tmp_path, gates=gates, agents=[CODEX], models=[GPT])

    code, out, err = validated(runner, path)

    assert (code, out) == (0, f"✓ {path}: Project 'p'\n")
    assert [line.strip().removeprefix("! ") for line in err.splitlines()] == told


def test_a_project_with_models_that_can_answer_is_warned_of_nothing(
    runner: CliRunner, tmp_path: Path
) -> None:
    gates = {"crossModel": {"enabled": True}, "pipeline": [{"name": "review_rubric"}]}
    key = {"name": "k", "key": "k"}
    claude = {"name": "claude-x", "provider": "anthropic", "key": key}
    path = project(tmp_path, gates=gates, agents=[CODEX], models=[claude])

    assert validated(runner, path) == (0, f"✓ {path}: Project 'p'\n", "")


def test_of_a_value_whose_form_is_wrong_it_says_what_form_it_has(
    runner: CliRunner, tmp_path: Path
) -> None:
    path = project(tmp_path)
    path.write_text(path.read_text().replace("https://", "http://", 1))

    code, _, err = validated(runner, path)

    assert code == 2
    assert err.splitlines() == [
        f"✗ {path}: 1 problem",
        "    spec.repositories[0].url: must be an https:// address without credentials, or one "
        "that begins with ssh://",
    ]


def test_a_password_in_an_address_is_told_and_not_shown(runner: CliRunner, tmp_path: Path) -> None:
    path = project(tmp_path)
    path.write_text(path.read_text().replace("https://", "https://ann:s3cret@", 1))

    code, out, err = validated(runner, path)

    assert code == 2
    assert err.splitlines()[1:] == [f"    spec.repositories[0].url: {NO_USER}"]
    assert "s3cret" not in out + err


def test_nor_is_one_in_the_address_of_a_forges_api(runner: CliRunner, tmp_path: Path) -> None:
    path = project(tmp_path)
    data = json.loads(path.read_text())
    forge = {"type": "gitea", "token": {"name": "forge", "key": "token"}}
    forge["api"] = "https://ann:s3cret@git.example/api/v1"
    data["spec"]["repositories"][0]["forge"] = forge
    path.write_text(json.dumps(data))

    code, out, err = validated(runner, path)

    assert code == 2
    assert err.splitlines()[1:] == [f"    spec.repositories[0].forge.api: {NO_USER_OF_API}"]
    assert "s3cret" not in out + err


def test_a_list_that_lacks_an_entry_is_still_told_to(runner: CliRunner, tmp_path: Path) -> None:
    path = project(tmp_path)
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"spec": data["spec"] | {"repositories": []}}))

    _, _, err = validated(runner, path)

    assert "spec.repositories: must have at least 1 item" in err


CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"


def test_other_objects_beside_ours_are_passed_over(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(f"{CONFIG}---\n{PLAN}")
    piped = runner.invoke(app, ["validate", "-"], input=f"{CONFIG}---\n{PLAN}")

    assert validated(runner, path) == (0, f"✓ {path}: Plan 'web'\n", "")
    assert (piped.exit_code, piped.stdout) == (0, "✓ standard input: Plan 'web'\n")


def test_a_file_of_other_objects_alone_is_told_what_it_is(
    runner: CliRunner, tmp_path: Path
) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(f"{CONFIG}---\n{CONFIG}")

    code, _, err = validated(runner, path)

    assert code == 2
    assert "apply it with kubectl apply -f" in err
