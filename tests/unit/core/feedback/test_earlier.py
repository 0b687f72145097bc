"""Who does what was rejected once more, or mends it, is told what was found in it, and as data."""

from __future__ import annotations

from typing import Any

from bernstein.api.plan import PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import LONGEST_FEEDBACK, Split, Task
from bernstein.core.feedback.earlier import found_before
from bernstein.core.prompts import parts
from bernstein.core.scheduling.parts import names_of
from bernstein.core.sessions.prompt import of_snapshot
from bernstein.core.snapshot import TaskSnapshot
from tests.unit.core import objects
from tests.unit.core.plans.nodes.played import World
from tests.unit.core.plans.workflows.stories.story import Outcome, Story
from tests.unit.core.tasks.parts.splits import ROW

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
    where = "node 'test', run 2; its work has not landed"

    assert told == f"Task 'web-test-i2' ({where}):\n{_FOUND} in web-test-i2"
    assert of_snapshot(seen(world, "web-fix-i2"), 1)[parts.EARLIER] == told


def test_a_run_of_what_was_mended_is_told_why_the_one_before_was_rejected() -> None:
    ends = ("web-build-i1", "done"), ("web-test-i1", "failed"), ("web-fix-i1", "done")

    told = found_before(seen(played(*ends), "web-test-i2"))

    where = "node 'test', run 1; its work has not landed"
    assert told == f"Task 'web-test-i1' ({where}):\n{_FOUND} in web-test-i1"


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


# --- subtasks that are made anew ------------------------------------------------------------------


def part_of(whole: Task, name: str) -> TaskSnapshot:
    rows = [ROW, {"name": name, "stage": "-", "parent": "work"}]
    own = PlanStatus.model_validate({"observed_generation": 1, "tasks": rows})
    part = objects.task(name, status=objects.status(TaskState.OPEN))
    return objects.snapshot(part, others=(whole,), plan=objects.plan(status=own))


def split_by(spec: dict[str, Any], **before: Any) -> tuple[Task, str]:
    """A Task that is split once more, and the name of its subtask."""
    (name,) = names_of(objects.task(), 2, 1)
    status = objects.status(
        TaskState.WAITING_FOR_SUBTASKS,
        split=Split(number=2, since=objects.at(0)).model_dump(),
        subtasks=[{"name": name}],
        **before,
    )
    return objects.task(status=status, **spec), name


_SAID: dict[str, Any] = {"subtasks": [{"title": "The endpoint"}]}
_OF_ALL = "this is a part of it; what its parts had done before is in your files"


def test_a_part_is_told_why_all_parts_together_were_rejected() -> None:
    whole, name = split_by(_SAID, feedback=_FOUND)
    snapshot = part_of(whole, name)

    assert found_before(snapshot) == f"Task 'work' ({_OF_ALL}):\n{_FOUND}"
    assert _FOUND in of_snapshot(snapshot, 1)[parts.EARLIER]


def test_a_part_of_the_first_split_is_told_nothing() -> None:
    whole, name = split_by(_SAID)

    assert found_before(part_of(whole, name)) == ""


def test_nor_is_a_part_of_the_time_before() -> None:
    whole, _ = split_by(_SAID, feedback=_FOUND)
    (before,) = names_of(objects.task(), 1, 1)

    assert found_before(part_of(whole, before)) == ""


def test_nor_is_one_whose_manager_was_told() -> None:
    whole, name = split_by({"role": "manager"}, feedback=_FOUND)

    assert found_before(part_of(whole, name)) == ""
