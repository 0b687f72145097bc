"""Another round for what has failed in a workflow."""

from __future__ import annotations

from bernstein.api.states import TaskState
from bernstein.api.task import Round
from bernstein.core.plans.nodes import standing
from tests.unit.core import objects
from tests.unit.core.plans.nodes.played import World, states
from tests.unit.core.plans.workflows.stories.approvals import PIPELINE
from tests.unit.core.plans.workflows.stories.story import Outcome, Story

_CHAIN = Story(
    "a chain whose first node fails",
    "nodes: {a: , b: {depends_on: [a]}}",
    order="a#1",
    ends={"a": ["failed"]},
)


def failed() -> World:
    world = World.of(_CHAIN)
    world.go(_CHAIN)
    assert world.status.phase == "Failed"
    return world


def granted(world: World, name: str) -> None:
    """Its Task has got another round."""
    task = world.tasks[name]
    again = {"state": TaskState.OPEN, "round": Round(number=1, since=1)}
    world.tasks[name] = task.model_copy(update={"status": task.status.model_copy(update=again)})


def test_a_plan_that_has_failed_goes_on_with_the_run_that_got_another_round() -> None:
    world = failed()

    granted(world, "web-a-i1")
    world.settle()

    assert world.status.ended_at is None
    assert world.status.phase == "Running"
    assert states(world.status) == {"a": "Running", "b": "Pending"}
    world.end("web-a-i1", Outcome())
    status = world.tasks["web-a-i1"].status.model_copy(update={"round": Round(number=1, since=1)})
    world.tasks["web-a-i1"] = world.tasks["web-a-i1"].model_copy(update={"status": status})
    world.settle()
    world.go(Story("the rest", _CHAIN.said, order=""))
    assert world.order == "a#1 b#1"
    assert world.status.phase == "Succeeded"


def test_who_reads_why_it_failed_is_told_to_retry() -> None:
    world = failed()

    assert world.status.waiting is not None
    assert "`bernstein retry web`" in world.status.waiting.message
    assert standing.may_retry(world.plan, world.status, "web-a-i1")


def test_what_the_workflow_goes_on_from_gets_no_other_round() -> None:
    story = Story("the pipeline", PIPELINE, order="", ends={"run-tests": ["failed"]})
    world = World.of(story)
    for name in ("decompose", "build-api", "run-tests"):
        world.settle()
        world.decide("Approve")
        world.settle()
        world.end(f"web-{name}-i1", story.outcome(name, 1))
    world.settle()

    assert states(world.status)["run-tests"] == "Looping"
    assert not standing.may_retry(world.plan, world.status, "web-run-tests-i1")
    assert standing.may_retry(world.plan, world.status, "web-fix-bugs-i1"), "it is at work"
    assert not standing.may_retry(world.plan, world.status, "web-build-api-i1")
    assert standing.may_retry(objects.plan(), objects.plan().status, "work"), "no workflow"
