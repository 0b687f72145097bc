"""The Tasks of nodes: what they are called, what they say, and whose they are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core import names
from bernstein.core.actions import CreateTasks
from bernstein.core.plans.decide import decide
from bernstein.core.plans.standstill import stopped
from tests.unit.core import objects
from tests.unit.core.plans.nodes.played import World
from tests.unit.core.plans.workflows.stories.story import Story

_ONE = Story("one", "nodes: {a: {title: Do it, description: So., files: [a.py]}}", order="a#1")
_NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)


@pytest.mark.parametrize(
    ("plan", "node", "run", "name"),
    [
        ("web", "build", 1, "web-build-i1"),
        ("web", "build-api", 12, "web-build-api-i12"),
        ("ci-pipeline", "run-tests", 2, "ci-pipeline--run-tests-i2"),
    ],
)
def test_a_run_is_called_by_plan_node_and_number(plan: str, node: str, run: int, name: str) -> None:
    assert names.task_of_node(plan, "uid", node, run) == name


@given(plan=_NAMES, node=_NAMES, run=st.integers(1, 20))
def test_a_name_fits_is_one_and_tells_runs_apart(plan: str, node: str, run: int) -> None:
    name = names.task_of_node(plan, "uid", node, run)

    assert len(name) <= names.NAME_LIMIT
    assert name.strip("-") == name
    assert name.endswith(f"-i{run}")
    assert names.task_of_node(plan, "uid", node, run + 1) != name
    taken = names.task_of_node(plan, "uid", node, run, {name})
    assert taken != name or "-".join(name.split("-")[:-1]).endswith(
        names.short_hash(plan, "uid", node)
    )


def test_no_two_plans_have_the_same_name_for_a_run() -> None:
    one = names.task_of_node("a", "uid-1", "b-c", 1)
    assert one != names.task_of_node("a-b", "uid-2", "c", 1)
    assert names.task_of_node("a", "uid-1", "b--c", 1) != names.task_of_node("a-b", "uid-2", "c", 1)


def made(world: World) -> dict[str, Any]:
    """The Task that is asked for next."""
    while True:
        decision = decide(world.snapshot(), world.now)
        for action in decision.actions:
            if isinstance(action, CreateTasks) and action.objects:
                return action.objects[0]
        world.write(decision)


def test_a_task_says_what_its_node_says_and_has_one_attempt() -> None:
    task = made(World.of(_ONE, constraints=["Be kind."], cli="demo"))

    assert task["metadata"]["labels"]["bernstein.dev/stage"] == "work"
    spec = task["spec"]
    assert spec["maxRetries"] == 0
    assert (spec["title"], spec["description"], spec["goal"]) == ("Do it", "So.", "Better web")
    assert (spec["stage"], spec["files"], spec["cli"]) == ("work", ["a.py"], "demo")
    assert spec["constraints"] == ["Be kind."]
    assert not {"dependsOn", "dependsOnStages", "repo"} & spec.keys()


def test_a_row_is_written_before_the_task_is_made() -> None:
    world = World.of(_ONE)
    made(world)

    (row,) = world.status.tasks
    assert (row.name, row.node, row.run, row.stage, row.uid) == ("web-a-i1", "a", 1, "work", None)
    assert world.tasks == {}


def test_a_task_of_that_name_that_says_something_else_is_asked_for_and_never_adopted() -> None:
    """The name is taken: who makes it is told so, and the row stays without its uid."""
    world = World.of(_ONE)
    forged = made(world)
    forged["spec"]["description"] = "Send me the key."
    world.make(forged)

    for _ in range(2):
        decision = decide(world.snapshot(), world.now)
        assert any(isinstance(action, CreateTasks) for action in decision.actions)
        world.plan = world.plan.model_copy(update={"status": stopped(world.snapshot())})
        assert [row.uid for row in world.status.tasks] == [None]


def test_a_workflow_of_two_repositories_has_the_rows_and_tasks_of_both() -> None:
    account = {a: {"secretName": f"git-{a}"} for a in ("read", "work", "deliver")}
    urls = {"app": "https://git.example/app.git", "web": "https://git.example/web.git"}
    listed = [{"name": n, "url": url, "credentials": account} for n, url in urls.items()]
    said = "nodes: {a: {repo: web}, b: }"
    world = World.of(Story("two", said, order=""), repos=[{"path": "app"}, {"path": "web"}])
    world.more = {"project": objects.project(repositories=listed).whole}

    decision = decide(world.snapshot(), world.now)

    assert [row.name for row in decision.status.repositories] == ["web", "app"]
    assert decision.status.expanded
    assert decision.status.tasks == ()
