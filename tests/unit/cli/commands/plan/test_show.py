"""`bernstein plan show`: of a file, of an object in one, and of the cluster."""

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
from tests.unit.cli import calls, splits
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import AT, HOSTILE, plan, running_tasks
from tests.unit.cli.scenes import name as task_name
from tests.unit.core import objects
from tests.unit.core.plans.plan_files import RATE_LIMIT
from tests.unit.kube.apiserver import ApiServer

SHOWN = """\
rate-limit-api
  Add Redis-backed rate limiting to the public API.

  estimate       about 1 h 30 min, about $4.11 of a budget of $5.00 (critical path; tokens by \
scope and complexity, one attempt per step, list prices)
  budget         $5.00
  agents         at most 4 at the same time
  approval       the plan begins without a yes
                 verified work lands without a yes, but for protected paths
                 a Project may ask for more
  constraints    All HTTP calls must declare an explicit timeout.

design
  Decide the algorithm and storage.
  ○ Pick rate-limit algorithm (token bucket vs sliding window)
    architect · opus/max · 30 min assumed
  ○ Document Redis key schema
    docs · sonnet/high · 30 min assumed

implement, after design
  Build the middleware + tests.
  ○ Add RateLimiter middleware
    backend · sonnet/high · 30 min assumed
    files          src/api/middleware/rate_limiter.py
    signals        file_contains: src/api/middleware/rate_limiter.py contains 'class RateLimiter'
  ○ Wire middleware into FastAPI app
"""


def manifest() -> str:
    data = plan_file.parse(RATE_LIMIT)
    assert isinstance(data, dict)
    return yaml.safe_dump(plan_file.plan_object(data))


def test_a_plan_file_is_shown_and_no_cluster_is_asked(
    runner: CliRunner, good: str, tmp_path: Path
) -> None:
    answer = runner.invoke(app, ["plan", "show", good, "--kubeconfig", calls.unreachable(tmp_path)])

    assert (answer.exit_code, answer.stderr) == (0, "")
    assert answer.stdout.startswith(SHOWN)


@pytest.mark.parametrize("form", ["object", "among others", "list"])
def test_a_plan_as_an_object_is_shown_like_its_file(
    runner: CliRunner, tmp_path: Path, form: str
) -> None:
    other = "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    text = manifest()
    if form == "among others":
        text += other
    if form == "list":
        held = yaml.safe_load(text)
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [held]})
    path = tmp_path / "plan"
    path.write_text(text)

    from_file = runner.invoke(app, ["plan", "show", str(path)])
    from_input = runner.invoke(app, ["plan", "show", "-"], input=text)

    assert from_file.exit_code == 0, from_file.output
    assert from_file.stdout.startswith(SHOWN)
    assert from_input.stdout == from_file.stdout


def test_a_file_without_a_suffix_is_one_where_it_is_there(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "limits").write_text(RATE_LIMIT)

    assert runner.invoke(app, ["plan", "show", "limits"]).stdout.startswith(SHOWN)
    calls.needs_a_kubeconfig(runner, tmp_path, "plan", "show", "plan/limits")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (calls.BROKEN, "Cycle detected: a -> b -> a"),
        ("{", "Failed to parse YAML plan: "),
        ("kind: Plan\n{", "Failed to parse YAML: "),
        (manifest().replace("maxAgents: 4", "maxAgents: many"), "spec.maxAgents: "),
        (f"{manifest()}\n---\n{manifest()}", "holds 2 Plans"),
        ("apiVersion: v1\n---\nkind: b\n", "holds 0 Plans"),
    ],
)
def test_what_is_no_valid_plan_ends_with_2(
    runner: CliRunner, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(text)

    plain = runner.invoke(app, ["plan", "show", str(path)])
    scripted = runner.invoke(app, ["--json", "plan", "show", str(path)])

    assert (plain.exit_code, scripted.exit_code, plain.stdout) == (2, 2, "")
    assert said in plain.stderr
    assert {"valid", "error"} & json.loads(scripted.stdout).keys()


@pytest.mark.parametrize("path", ["/nowhere/plan.yaml", "", "nowhere.json"])
def test_a_missing_file_is_named(runner: CliRunner, path: str) -> None:
    answer = runner.invoke(app, ["plan", "show", path])

    assert answer.exit_code == 2
    assert f"Plan file not found: {path or repr(path)}" in answer.stderr


def test_a_folder_is_none(runner: CliRunner, tmp_path: Path) -> None:
    answer = runner.invoke(app, ["plan", "show", str(tmp_path)])

    assert answer.exit_code == 2
    assert f"'{tmp_path}' is a folder\n  name a file with one plan\n" in answer.stderr


@pytest.fixture
def running(api: ApiServer) -> str:
    """A Plan in the middle of its run, of a Project that has every result approved."""
    obj = plan(project="default", estimate={"minutes": 77, "costUsd": "1.5", "basis": "b"}).dump()
    name: str = obj["metadata"]["name"]
    api.put(PLANS, name, "team", **obj)
    for task in running_tasks():
        api.put(TASKS, task.metadata.name, "team", **task.dump())
    project = objects.project().dump()
    project["spec"]["approval"] = {"result": "Always"}
    api.put(PROJECTS, "default", "team", **project)
    return name


@pytest.mark.parametrize("prefix", ["", "plan/", "plans/"])
async def test_of_a_plan_of_the_cluster_each_step_has_its_state(
    bernstein: Bernstein, running: str, prefix: str
) -> None:
    answer = await bernstein("plan", "show", f"{prefix}{running}")

    rows = answer.out.splitlines()
    assert [row.strip() for row in rows if row.strip().startswith(("✓", "●", "◆", "✗", "○"))] == [
        "✓ Pick rate-limit algorithm (token bucket vs sliding window)",
        "✓ Document Redis key schema",
        "● Add RateLimiter middleware",
        "◆ Wire middleware into FastAPI app",
        "✗ Write rate-limiter unit tests",
        "○ Run full test suite",
        "○ Update API reference",
    ]
    assert "    in progress · backend · " in answer.out


@pytest.fixture
def split(api: ApiServer) -> str:
    return splits.put(api)


async def test_subtasks_stand_below_the_step_whose_task_was_split_with_their_states(
    bernstein: Bernstein, split: str
) -> None:
    told = (await bernstein("plan", "show", split)).out

    rows = told.splitlines()
    first = next(at for at, row in enumerate(rows) if "Add RateLimiter middleware" in row)
    found = rows[first : next(at for at, row in enumerate(rows) if "Wire middleware" in row)]
    assert [row for row in found if "└" in row or " · " in row] == [
        "    waiting for subtasks · backend · sonnet/high · 30 min assumed",
        f"    └ ● First part gnp.exe {AT}everyone",
        "        waiting for subtasks · qa · sonnet/high · 45 min",
        "      └ ● First of the first",
        "          in progress · qa · sonnet/high · 30 min assumed",
        "      └ ✓ part-a-2",
        "    └ ⊘ part-b",
    ]
    assert "\x1b" not in told


async def test_scripts_and_reviewers_are_told_of_subtasks(bernstein: Bernstein, split: str) -> None:
    record = json.loads((await bernstein("--json", "plan", "show", split)).out)
    written = (await bernstein("plan", "show", split, "--markdown")).out

    steps = [step for stage in record["stages"] for step in stage["steps"]]
    parts = steps[splits.WHOLE]["split_into"]
    assert [(p["task"], p["parent"], p["status"]) for p in parts] == [
        ("part-a", task_name(splits.WHOLE), "waiting_for_subtasks"),
        ("part-a-1", "part-a", "in_progress"),
        ("part-a-2", "part-a", "closed"),
        ("part-b", task_name(splits.WHOLE), "cancelled"),
    ]
    assert [p["estimated_minutes"] for p in parts] == [45, 30, None, None]
    assert all(step["split_into"] == [] for step in steps if step is not steps[splits.WHOLE])
    assert (
        "| in progress | └ └ `First of the first` | `qa` | `sonnet/high` | 30 min assumed |  |"
        in (written.splitlines())
    )


async def test_of_a_plan_of_the_cluster_estimate_and_approval_are_those_that_hold(
    bernstein: Bernstein, running: str
) -> None:
    answer = await bernstein("plan", "show", running)

    assert "about 1 h 17 min, about $1.50 of a budget of $5.00 (b)" in answer.out
    assert "verified work needs a yes before it lands" in answer.out
    assert "a Project may ask for more" not in answer.out


async def test_what_people_decided_about_a_plan_is_told(
    api: ApiServer, bernstein: Bernstein
) -> None:
    asked = {
        "name": "a-1",
        "asks": {"digest": "a" * 32},
        "since": "2030-01-01T00:00:00Z",
        "decision": "Approve",
        "by": "ada",
        "reason": f"good {HOSTILE}",
    }
    obj = plan(approval=asked).dump()
    api.put(PLANS, "limits", "team", **obj | {"metadata": obj["metadata"] | {"name": "limits"}})

    answer = await bernstein("plan", "show", "limits")

    assert "  decision       approved by ada, who says: good gnp.exe " in answer.out
    assert "\x1b" not in answer.out


async def test_a_plan_that_is_not_there_is_answered_with_those_that_are(
    bernstein: Bernstein, running: str
) -> None:
    answer = await bernstein("plan", "show", running[:-1])

    assert answer.code == 1
    assert f"there is no Plan '{running[:-1]}'" in answer.err
    assert running in answer.err


REPOSITORIES = {
    "repos": [{"path": "api"}, {"path": "web"}],
    "stages": [{"name": "a", "steps": [{"title": "b", "dependsOnRepo": "api"}]}],
}
UNKNOWN = [{"name": "a", "dependsOn": ["b"], "steps": [{"title": "b"}]}]


@pytest.mark.parametrize("command", ["show", "graph"])
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({}, "Cycle detected: design -> verify -> implement -> design"),
        (REPOSITORIES, "Cycle detected: repository 'api' -> step 'b' -> repository 'api'"),
        ({"stages": UNKNOWN}, "Stage 'a' depends on unknown stage 'b'"),
    ],
)
async def test_a_plan_of_the_cluster_without_an_order_is_refused(
    api: ApiServer, bernstein: Bernstein, command: str, spec: dict[str, Any], said: str
) -> None:
    obj = plan(phase="Invalid").dump()
    obj["spec"]["stages"][0]["dependsOn"] = ["verify"]
    obj["spec"] |= spec
    api.put(PLANS, "limits", "team", **obj | {"metadata": obj["metadata"] | {"name": "limits"}})

    answer = await bernstein("plan", command, "limits")

    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert "Traceback" not in answer.err


async def test_with_json_it_is_what_scripts_read(
    bernstein: Bernstein, running: str, good: str
) -> None:
    of_file = json.loads((await bernstein("--json", "plan", "show", good)).out)
    of_cluster = json.loads((await bernstein("--json", "plan", "show", running)).out)

    assert (of_file["id"], of_cluster["id"]) == (None, running)
    assert of_file["stages"][1]["depends_on"] == ["design"]
    step, same = of_file["stages"][1]["steps"][0], of_cluster["stages"][1]["steps"][0]
    assert (step["model"], step["effort"], step["estimated_minutes"]) == ("sonnet", "high", 30)
    assert (step["task"], step["status"]) == (None, None)
    assert (same["task"], same["status"]) == (task_name(2), "in_progress")
    assert of_cluster["approval"]["result"] == "Always"


async def test_as_markdown_it_is_for_a_review(bernstein: Bernstein, running: str) -> None:
    answer = await bernstein("plan", "show", running, "--markdown")

    assert answer.out.startswith("# Plan `rate-limit-api`\n\n")
    assert "\n| State | Step | Role | Model | Minutes | Files |\n" in answer.out
    assert "\n| in progress | `Add RateLimiter middleware` | `backend` | " in answer.out
