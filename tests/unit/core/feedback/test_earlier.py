"""The agent of a run that mends is told what was found in what it mends, and as data."""

from __future__ import annotations

from bernstein.api.states import TaskState
from bernstein.api.task import LONGEST_FEEDBACK, Task
from bernstein.core.feedback.earlier import found_before
from bernstein.core.prompts import parts
from bernstein.core.sessions.prompt import of_snapshot
from bernstein.core.snapshot import TaskSnapshot
from tests.unit.core import objects
from tests.unit.core.plans.nodes.played import World
from tests.unit.core.plans.workflows.stories.story import Outcome, Story

_LOOP = Story(
    "a loop",
    """
    phases: [work, check]
    nodes:
      build:
      test: {phase: check, depends_on: [build]}
      fix:
        depends_on: [{source: test, condition: "status == 'failed'"}]
        retry: {max_attempts: 3}
    """,
    order="",
)
_FOUND = "SignalFailed: test_passes: 2 failed"


def played(*ends: tuple[str, str]) -> World:
    """These runs have ended so, in that order; who failed was rejected for what was found."""
    world = World.of(_LOOP)
    for name, how in ends:
        world.settle()
        world.end(name, Outcome(how))  # type: ignore[arg-type]
        if how == "failed":
            rejected(world, name, f"{_FOUND} in {name}")
    world.settle()
    return world


def rejected(world: World, name: str, text: str) -> None:
    task = world.tasks[name]
    status = task.status.model_copy(update={"feedback": text})
    world.tasks[name] = task.model_copy(update={"status": status})


def seen(world: World, name: str) -> TaskSnapshot:
    task: Task = world.tasks[name]
    return TaskSnapshot(task, objects.project(), plan=world.plan, tasks=world.tasks)


def test_who_mends_is_told_what_was_found_in_the_last_run() -> None:
    world = played(
        ("web-build-i1", "done"),
        ("web-test-i1", "failed"),
        ("web-fix-i1", "done"),
        ("web-test-i2", "failed"),
    )

    told = found_before(seen(world, "web-fix-i2"))

    assert told == f"Task 'web-test-i2' (node 'test', run 2):\n{_FOUND} in web-test-i2"
    assert of_snapshot(seen(world, "web-fix-i2"), 1)[parts.EARLIER] == told


def test_a_run_of_what_was_mended_is_told_why_the_one_before_was_rejected() -> None:
    ends = ("web-build-i1", "done"), ("web-test-i1", "failed"), ("web-fix-i1", "done")

    told = found_before(seen(played(*ends), "web-test-i2"))

    assert told == f"Task 'web-test-i1' (node 'test', run 1):\n{_FOUND} in web-test-i1"


def test_a_first_run_follows_nothing_that_was_rejected() -> None:
    world = played(("web-build-i1", "done"))

    assert found_before(seen(world, "web-test-i1")) == ""


def test_what_is_told_has_the_room_of_a_rejection() -> None:
    world = played(("web-build-i1", "done"), ("web-test-i1", "failed"))
    rejected(world, "web-test-i1", "x" * LONGEST_FEEDBACK)

    assert len(found_before(seen(world, "web-fix-i1"))) == LONGEST_FEEDBACK


def test_a_task_without_a_workflow_is_told_nothing() -> None:
    task = objects.task(status=objects.status(TaskState.OPEN))

    assert found_before(TaskSnapshot(task, objects.project(), plan=objects.plan())) == ""
