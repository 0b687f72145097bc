"""`bernstein init` writes what is valid, over nothing that is there, and says what to look at."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from bernstein import agents
from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.api.project import parse as parse_project
from bernstein.cli import objects
from bernstein.cli.commands.doctor.projects import named
from bernstein.cli.commands.init.files import TO_DO
from bernstein.cli.main import app
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.estimate import estimate
from bernstein.core.plans.fields import plan_spec
from bernstein.core.plans.validation import validate_file
from bernstein.kube.resource import SECRETS

URL = "https://git.example.com/team-a/app.git"
FILES = ["bernstein.yaml", "plan.yaml", "project.yaml", "secrets.yaml"]
OF_GENERIC = ("--agent", "generic", "--agent-command", "sh run-agent")


def call(runner: CliRunner, folder: Path, *more: str, url: str | None = URL) -> Any:
    where = () if url is None else ("--repository", url)
    return runner.invoke(app, ["init", str(folder), *where, *more])


def project_in(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((folder / "project.yaml").read_text())
    return found


def secrets_in(folder: Path) -> dict[str, dict[str, Any]]:
    documents = yaml.safe_load_all((folder / "secrets.yaml").read_text())
    return {each["metadata"]["name"]: each for each in documents}


def test_it_writes_four_files_and_says_what_comes_next(runner: CliRunner, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"

    done = call(runner, folder, "-n", "team-a", "--context", "staging")

    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in folder.iterdir()) == FILES
    said = yaml.safe_load((folder / "bernstein.yaml").read_text())
    assert said == {"context": "staging", "namespace": "team-a", "project": "default"}
    following = done.stdout.partition("Next:\n")[2].splitlines()
    assert [row.split()[:2] for row in following] == [
        *(["kubectl", "--context"], ["kubectl", "--context"]),
        *(["bernstein", "doctor"], ["bernstein", "run"]),
    ]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--namespace", "team-a", "--model", "gpt-5.5"),
        OF_GENERIC,
        ("--agent", "demo"),
        ("--merge", "pr", "--forge", "gitea"),
        ("--merge", "direct", "--forge", "gitlab", "--branch", "release/1"),
        ("--repository", "git@github.com:a/b.git"),
        ("--agent-image", "a/b:1", "--toolchain-image", "c/d@sha256:" + "0" * 64),
    ],
    ids=" ".join,
)
def test_what_it_writes_is_valid(
    runner: CliRunner, tmp_path: Path, options: tuple[str, ...]
) -> None:
    assert call(runner, tmp_path, *options).exit_code == 0

    project = project_in(tmp_path)
    assert objects.problems(project) == ()
    ProjectSpec.model_validate(project["spec"])
    plan: dict[str, Any] = yaml.safe_load((tmp_path / "plan.yaml").read_text())
    PlanSpec.model_validate(plan_spec(plan))
    files = [str(tmp_path / name) for name in ("project.yaml", "plan.yaml")]
    checked = runner.invoke(app, ["validate", *files])
    assert checked.exit_code == 0, checked.output


def test_the_first_plan_costs_little(runner: CliRunner, tmp_path: Path) -> None:
    call(runner, tmp_path)

    data: Any = plan_file.parse((tmp_path / "plan.yaml").read_bytes())
    assert validate_file(data).warnings == ()
    spec = PlanSpec.model_validate(plan_spec(data))
    assert [step.model for stage in spec.stages for step in stage.steps] == ["haiku"]
    assert spec.budget is not None
    guess = estimate(spec)
    assert guess.minutes <= 10


def test_no_budget_is_promised_of_an_agent_that_tells_no_tokens(
    runner: CliRunner, tmp_path: Path
) -> None:
    call(runner, tmp_path, *OF_GENERIC)

    assert "budget" not in yaml.safe_load((tmp_path / "plan.yaml").read_text())


def test_the_script_that_the_demo_agent_plays_is_named_and_told(
    runner: CliRunner, tmp_path: Path
) -> None:
    done = call(runner, tmp_path, "-n", "team-a", "--agent", "demo")

    (agent,) = project_in(tmp_path)["spec"]["agents"]
    assert agent["configMap"] == "demo-scenario"
    assert "! spec.agents[0].configMap: " in done.stdout
    made = "kubectl -n team-a create configmap demo-scenario --from-file=scenario.yaml"
    assert made in done.stdout


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), ["git-read", "git-work", "git-deliver", "model-key"]),
        (OF_GENERIC, ["git-read", "git-work", "git-deliver"]),
        (
            ("--forge", "gitea", "--merge", "pr"),
            ["git-read", "git-work", "git-deliver", "forge-token", "model-key"],
        ),
    ],
    ids=["codex", "generic", "pull request"],
)
def test_there_is_a_template_for_every_secret_with_its_keys_and_no_value(
    runner: CliRunner, tmp_path: Path, options: tuple[str, ...], names: list[str]
) -> None:
    call(runner, tmp_path, "-n", "team-a", *options)

    found, project = secrets_in(tmp_path), parse_project(project_in(tmp_path))
    needed = {each.name: each.keys for each in named(project) if each.resource == SECRETS}
    assert [*found] == names
    for name, secret in found.items():
        assert secret["metadata"] == {"name": name, "namespace": "team-a"}
        assert [*secret["stringData"]] == [*needed[name], TO_DO]
        assert {*secret["stringData"].values()} == {""}


@pytest.mark.parametrize(
    ("url", "kind"),
    [(URL, "basic-auth"), ("ssh://git@git.example.com/a/b.git", "ssh-auth")],
)
def test_the_accounts_have_the_type_that_the_address_asks_for(
    runner: CliRunner, tmp_path: Path, url: str, kind: str
) -> None:
    call(runner, tmp_path, url=url)

    assert secrets_in(tmp_path)["git-read"]["type"] == f"kubernetes.io/{kind}"


def test_nobody_else_may_read_what_will_hold_secrets(runner: CliRunner, tmp_path: Path) -> None:
    call(runner, tmp_path)

    assert (tmp_path / "secrets.yaml").stat().st_mode & 0o777 == 0o600


def test_nothing_is_overwritten_unless_it_is_asked_for(runner: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "project.yaml").write_text("mine")
    (tmp_path / "bernstein.yaml").write_text("namespace: team-b\n")

    refused = call(runner, tmp_path)

    assert refused.exit_code == 2
    assert "project.yaml of" in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bernstein.yaml", "project.yaml"]

    assert call(runner, tmp_path, "--force").exit_code == 0
    assert project_in(tmp_path)["metadata"]["namespace"] == "team-b"
    assert (tmp_path / "bernstein.yaml").read_text() == "namespace: team-b\n"


def test_a_link_is_replaced_and_what_it_leads_to_is_left_alone(
    runner: CliRunner, tmp_path: Path
) -> None:
    mine, folder = tmp_path / "mine", tmp_path / "folder"
    mine.write_text("mine")
    folder.mkdir()
    (folder / "secrets.yaml").symlink_to(mine)
    (folder / "plan.yaml").symlink_to(tmp_path / "nowhere")

    assert call(runner, folder).exit_code == 2
    assert call(runner, folder, "--force").exit_code == 0
    assert mine.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("words", [("--dry-run",), ("-",)])
def test_it_can_print_and_write_nothing(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)

    done = runner.invoke(app, ["init", "--repository", URL, *words])

    assert done.exit_code == 0
    assert [*tmp_path.iterdir()] == []
    documents = [*yaml.safe_load_all(done.stdout)]
    kinds = [each.get("kind") for each in documents]
    assert kinds == ["Project", *["Secret"] * 4, None, None]
    assert "Next:" in done.stderr


def test_it_answers_in_json(runner: CliRunner, tmp_path: Path) -> None:
    done = runner.invoke(app, ["--json", "init", str(tmp_path), "--repository", URL])

    found = json.loads(done.stdout)
    assert (found["repository"], found["written"]) == (URL, True)
    assert sorted(file["name"] for file in found["files"]) == FILES
    assert {note["path"] for note in found["notes"]} == {
        *("spec.agents[0].image", "spec.agents[0].models", "spec.toolchain.image")
    }
    assert len(found["next"]) == 4


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    git("init", "--quiet")
    git("remote", "add", "origin", "https://me:geheim@gitlab.example.com/a/b.git")
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    return tmp_path


def test_a_clone_says_the_repository_its_branch_and_forge(runner: CliRunner, clone: Path) -> None:
    done = call(runner, clone, url=None)

    (repository,) = project_in(clone)["spec"]["repositories"]
    assert (repository["url"], repository["branch"]) == (
        "https://gitlab.example.com/a/b.git",
        "trunk",
    )
    assert repository["forge"]["type"] == "gitlab"
    assert project_in(clone)["spec"]["merge"] == {"strategy": "pr"}
    assert done.stdout.startswith("https://gitlab.example.com/a/b.git, branch trunk, agent codex\n")
    written = "".join((clone / name).read_text() for name in FILES)
    assert "geheim" not in written + done.output


def test_gates_of_the_folder_are_translated_and_the_rest_is_told(
    runner: CliRunner, tmp_path: Path
) -> None:
    (tmp_path / "bernstein.yaml").write_text(
        "project: shop\nquality_gates:\n  tests: true\n  test_command: make test\n"
        "  intent_verification: {enabled: true, model: google/x}\n  lnt: true\n"
    )

    done = call(runner, tmp_path)

    project = project_in(tmp_path)
    assert project["metadata"]["name"] == "shop"
    assert [each["name"] for each in project["spec"]["gates"]["pipeline"]] == [
        *("tests", "intent_verification"),
    ]
    assert [model["name"] for model in project["spec"]["models"]] == ["google/x"]
    assert "judge-key" in secrets_in(tmp_path)
    assert "! quality_gates.lnt: it is not known here, did you mean 'lint'?" in done.stdout
    assert objects.problems(project) == ()


def test_a_review_that_nobody_could_make_is_told(runner: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "bernstein.yaml").write_text("quality_gates: {cross_model: {enabled: true}}\n")

    done = call(runner, tmp_path, *OF_GENERIC)

    assert "! spec.agents[0]" in done.stdout
    assert "it is not known whose model" in done.stdout


def test_a_file_that_says_another_namespace_is_left_and_told(
    runner: CliRunner, tmp_path: Path
) -> None:
    (tmp_path / "bernstein.yaml").write_text("namespace: team-b\n")

    done = call(runner, tmp_path, "-n", "team-a")

    assert project_in(tmp_path)["metadata"]["namespace"] == "team-a"
    assert "write into it: namespace: team-a, project: default" in done.stdout
    assert f"bernstein doctor --workdir {tmp_path} -n team-a\n" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--repository", "http://git.example.com/a"), "is neither https nor ssh"),
        (("--agent", "codx"), "did you mean 'codex'?"),
        (("--agent", "generic"), "--agent-command"),
        (("--agent-command", "x"), "takes no command"),
        (("--merge", "pr"), "--forge"),
        (("--forge", "githb"), "did you mean 'github'?"),
        (("--branch", "a..b"), "git takes no branch"),
        (("--agent-image", "a b"), "spec.agents[0].image"),
        (("--project", "Shop"), "metadata.name"),
        (("-n", "no name"), "is no name of a namespace"),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_what_would_be_refused_is_not_written(
    runner: CliRunner, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    done = call(runner, tmp_path, *options)

    assert done.exit_code == 2
    assert words in done.stderr
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_is_no_clone_needs_the_option(runner: CliRunner, tmp_path: Path) -> None:
    done = call(runner, tmp_path / "none", url=None)

    assert done.exit_code == 2
    assert "say it with --repository" in done.stderr


def test_a_folder_that_cannot_be_written_to_is_told(runner: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    done = call(runner, tmp_path / "file" / "below")

    assert done.exit_code == 1
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize("agent", agents.names())
def test_every_adapter_can_be_chosen(runner: CliRunner, tmp_path: Path, agent: str) -> None:
    more = OF_GENERIC[2:] if agent == "generic" else ()

    assert call(runner, tmp_path, "--agent", agent, *more).exit_code == 0
