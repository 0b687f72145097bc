"""Workflows on the command line: found by name, validated, run, and told of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from bernstein.cli.main import app
from bernstein.core.plans import file as plan_file
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.unit.cli import calls, courses
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import known_as
from tests.unit.core import objects
from tests.unit.core.plans.validation.workflow_files import CI_PIPELINE, node, workflow
from tests.unit.kube.apiserver import ApiServer


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where workflows have names, below the working folder."""
    monkeypatch.chdir(tmp_path)
    found = tmp_path / ".bernstein" / "workflows"
    found.mkdir(parents=True)
    return found


def invoked(runner: CliRunner, *words: str) -> tuple[int, str, str]:
    answer = runner.invoke(app, [*words])
    return answer.exit_code, answer.stdout, answer.stderr


@pytest.mark.parametrize("suffix", [".yaml", ".yml"])
def test_a_workflow_is_validated_by_its_name(runner: CliRunner, folder: Path, suffix: str) -> None:
    (folder / f"ci-pipeline{suffix}").write_text(CI_PIPELINE)

    code, told, _ = invoked(runner, "validate", "ci-pipeline")

    assert code == 0
    assert told.splitlines()[:2] == [
        f"✓ .bernstein/workflows/ci-pipeline{suffix} is valid",
        "  4 phases, 5 nodes, about 2 h 00 min, about $7.12",
    ]


def test_a_name_is_looked_up_below_another_working_folder(
    runner: CliRunner, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "ci.yaml").write_text(CI_PIPELINE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert invoked(runner, "validate", "ci")[0] == 2
    assert invoked(runner, "validate", "ci", "--workdir", "..")[0] == 0


def test_a_file_of_that_name_comes_first(runner: CliRunner, folder: Path, tmp_path: Path) -> None:
    (folder / "ci.yaml").write_text("name: [")
    (tmp_path / "ci").write_text(CI_PIPELINE)

    assert invoked(runner, "validate", "ci")[:2] == (
        0,
        invoked(runner, "validate", "./ci")[1].replace("./ci", "ci"),
    )


@pytest.mark.parametrize("command", ["run", "validate"])
def test_a_name_that_is_not_there_is_answered_with_those_that_are(
    runner: CliRunner, folder: Path, command: str
) -> None:
    for name in ("ci-pipeline.yaml", "release.yml", "README.md"):
        (folder / name).write_text(CI_PIPELINE)

    code, _, told = invoked(runner, command, "ci-pipelin")

    assert code == 2
    assert told.splitlines()[0] == (
        "✗ Plan file not found: ci-pipelin, and .bernstein/workflows has no workflow of that name, "
        "only 'ci-pipeline', 'release', did you mean 'ci-pipeline'?"
    )


def test_without_any_workflow_that_is_said(runner: CliRunner, folder: Path) -> None:
    none = invoked(runner, "run", "--from-plan", "ci")
    folder.rmdir()

    assert none == invoked(runner, "run", "ci")
    assert none[2].splitlines()[0] == (
        "✗ Plan file not found: ci, and there is no workflow in .bernstein/workflows"
    )


def test_of_very_many_workflows_some_are_named(runner: CliRunner, folder: Path) -> None:
    for number in range(30):
        (folder / f"flow-{number:02}.yaml").write_text(CI_PIPELINE)

    told = invoked(runner, "validate", "x")[2]

    assert "only 'flow-00', " in told
    assert "'flow-19', …\n" in told


def test_two_files_of_one_name_are_no_choice_of_ours(runner: CliRunner, folder: Path) -> None:
    for suffix in (".yaml", ".yml"):
        (folder / f"ci{suffix}").write_text(CI_PIPELINE)

    for command in ("run", "validate"):
        code, _, told = invoked(runner, command, "ci")
        assert code == 2
        assert (
            "'ci' names two files: .bernstein/workflows/ci.yaml and .bernstein/workflows/ci.yml"
            in told
        )


@pytest.mark.parametrize("word", ["../secret", "..", "a/../../secret", ".secret", "secret.yaml"])
def test_a_name_leads_to_no_other_folder(runner: CliRunner, folder: Path, word: str) -> None:
    (folder.parent / "secret.yaml").write_text(CI_PIPELINE)
    (folder.parent / ".secret.yaml").write_text(CI_PIPELINE)

    code, told, error = invoked(runner, "run", word)

    assert (code, told) == (2, "")
    assert "secret" not in error.replace(word, "")


def test_a_link_out_of_the_folder_is_not_followed(
    runner: CliRunner, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("password: x\n")
    (folder / "ci.yaml").symlink_to(tmp_path / "secret")
    (folder / "real.yaml").write_text(CI_PIPELINE)
    (folder / "other.yaml").symlink_to("real.yaml")

    code, _, told = invoked(runner, "validate", "ci")

    assert code == 2
    assert "'.bernstein/workflows/ci.yaml' leads out of its folder" in told
    assert "password" not in told
    assert invoked(runner, "validate", "other")[0] == 0


def test_a_folder_of_files_is_checked_with_its_workflows(runner: CliRunner, folder: Path) -> None:
    (folder / "good.yaml").write_text(CI_PIPELINE)
    (folder / "bad.yaml").write_text(yaml.safe_dump(workflow(a=node(phase="x"))))

    code, told, error = invoked(runner, "validate", str(folder))

    assert code == 2
    assert "good.yaml: plan file" in told
    assert "nodes.a.phase: unknown phase 'x'" in error


def manifest(data: dict[str, Any]) -> dict[str, Any]:
    return plan_file.plan_object(data, namespace="team")


def test_an_object_is_told_its_problems_with_the_places_of_objects(
    runner: CliRunner, tmp_path: Path
) -> None:
    path = tmp_path / "plan.yaml"
    edge = {"source": "a", "condition": "status = 'done'"}
    wrong = workflow(a=node(role="qa"), b=node("check", "backend", depends_on=[edge]))
    path.write_text(yaml.safe_dump(manifest(wrong)))

    code, _, told = invoked(runner, "validate", str(path))

    assert code == 2
    assert told.splitlines() == [
        f"✗ {path}: 2 problems",
        "    spec.workflow.nodes[1].role: 'backend' is not allowed in phase 'check', must be one "
        "of [qa, security]",
        "    spec.workflow.nodes[1].dependsOn[0].condition: '=' compares nothing, write '==' "
        "(column 8)",
    ]


def test_the_documented_workflow_is_a_valid_object_too(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(manifest(yaml.safe_load(CI_PIPELINE))))

    assert invoked(runner, "validate", str(path)) == (0, f"✓ {path}: Plan 'ci-pipeline'\n", "")


SHOWS = pytest.mark.parametrize(
    "command", [("plan", "show"), ("plan", "graph"), ("plan", "--graph")]
)


@SHOWS
def test_a_workflow_is_shown_and_drawn_by_its_name_and_no_cluster_is_asked(
    runner: CliRunner, folder: Path, tmp_path: Path, command: tuple[str, str]
) -> None:
    (folder / "ci.yaml").write_text(CI_PIPELINE)
    nowhere = ("--kubeconfig", calls.unreachable(tmp_path))
    by_path = invoked(runner, *command, ".bernstein/workflows/ci.yaml", *nowhere)

    code, told, error = invoked(runner, *command, "ci", *nowhere)

    assert (code, told) == by_path[:2]
    assert code == 0
    assert error == "'ci' is .bernstein/workflows/ci.yaml; plan/ci is a Plan of the cluster\n"


@SHOWS
def test_what_is_shown_by_a_name_is_what_validate_finds(
    runner: CliRunner, folder: Path, tmp_path: Path, command: tuple[str, str]
) -> None:
    (folder / "ci.yaml").write_text("name: [")
    (folder / "two.yaml").write_text(CI_PIPELINE)
    (folder / "two.yml").write_text(CI_PIPELINE)
    (tmp_path / "secret").write_text(CI_PIPELINE)
    (folder / "link.yaml").symlink_to(tmp_path / "secret")
    elsewhere = ("--workdir", str(folder))

    for words in (("two",), ("link",), ("ci",)):
        assert invoked(runner, *command, *words)[0] == invoked(runner, "validate", *words)[0] == 2
    calls.needs_a_kubeconfig(runner, tmp_path, *command, "ci", *elsewhere)
    calls.needs_a_kubeconfig(runner, tmp_path, *command, "plan/ci")
    (tmp_path / "ci").write_text(CI_PIPELINE)
    assert invoked(runner, *command, "ci")[::2] == (0, "")


# --- in a cluster ---------------------------------------------------------------------------------


@pytest.fixture
def mended(api: ApiServer) -> str:
    obj = courses.mended().dump()
    name: str = obj["metadata"]["name"]
    api.put(PLANS, name, "team", **obj)
    fixing = courses.task("fix-bugs", state="InProgress")
    api.put(TASKS, fixing.metadata.name, "team", **fixing.dump())
    return name


async def test_a_workflow_is_run_by_its_name(
    bernstein: Bernstein, api: ApiServer, folder: Path
) -> None:
    (folder / "ci-pipeline.yaml").write_text(CI_PIPELINE)
    known_as(api, "dana")
    api.put(PROJECTS, "default", "team", **objects.project().dump())

    answer = await bernstein("run", "ci-pipeline", "--no-wait", "--workdir", str(folder.parents[1]))

    assert answer.code == 0, answer
    made = api.get(PLANS, "ci-pipeline", "team")
    assert [each["name"] for each in made["spec"]["workflow"]["nodes"]][-1] == "deploy"


async def test_status_shows_nodes_with_their_tasks(bernstein: Bernstein, mended: str) -> None:
    told = (await bernstein("status", mended)).out

    rows = [" ".join(row.split()) for row in told.splitlines()]
    assert "● fix-bugs running ci-pipeline-fix-bugs-i1 at work" in rows
    assert "◆ run-tests looping ci-pipeline-run-tests-i1 waits for fix-bugs to decide" in rows


async def test_with_json_the_status_of_each_node_has_its_edges(
    bernstein: Bernstein, mended: str
) -> None:
    record = json.loads((await bernstein("--json", "status", mended)).out)["workflow"]

    assert record["phases"][1] == {
        "name": "implement",
        "allowed_roles": [],
        "requires_approval": True,
        "approval": "ci-pipeline-a1",
        "decision": None,
    }
    assert record["nodes"][3] == {
        "name": "fix-bugs",
        "phase": "implement",
        "title": "fix-bugs",
        "role": "backend",
        "state": "running",
        "run": 1,
        "task": "ci-pipeline-fix-bugs-i1",
        "exhausted": False,
        "edges": [
            {
                "source": "run-tests",
                "condition": "status == 'failed'",
                "satisfied": True,
                "run": 1,
                "values": 'status = "failed"',
            }
        ],
    }


async def test_plan_show_and_graph_know_how_each_node_stands(
    bernstein: Bernstein, mended: str
) -> None:
    shown = (await bernstein("plan", "show", mended)).out
    drawn = (await bernstein("plan", "graph", mended)).out

    assert '    decided        run-tests: yes, status = "failed"\n' in shown
    assert drawn.endswith("\n2 done, 1 looping, 1 running, 1 pending\n")


async def test_a_workflow_of_the_cluster_that_cannot_run_is_refused_with_its_problems(
    bernstein: Bernstein, api: ApiServer
) -> None:
    obj = manifest(workflow(a=node(depends_on=["b"]), b=node(depends_on=["a"])))
    api.put(PLANS, "w", "team", **obj)

    answer = await bernstein("plan", "show", "w")

    assert answer.code == 2
    assert "Cycle detected: a -> b -> a" in answer.err


def test_the_names_of_missing_files_are_as_before(runner: CliRunner) -> None:
    calls.names_a_missing_file(runner, "run")
