"""A Task that has passed says at once whom it lands after, so that the schedule need not."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.api.delivery import Delivery
from bernstein.api.task import Task, TaskStatus
from bernstein.core.delivery.landing import step_of
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.objects import at, project
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import schedule

MAIN = "refs/heads/main"
OPEN_PROJECT = project(gates={"enabled": False})
DONE = objects.done()


def other(name: str, step: str | None, of: str = "default") -> Task:
    delivery = Delivery(state="Pending", onto=MAIN, step=step)
    status = objects.done(delivery=delivery, project=of)
    return objects.task(name, plan=None, status=status)


def passed(*others: Task) -> TaskStatus:
    """The status of a Task whose checks, of which there are none, have just passed."""
    subject = objects.task(plan=None, status=DONE)
    tasks = {t.metadata.name: t for t in (subject, *others)}
    found = TaskSnapshot(task=subject, project=OPEN_PROJECT, tasks=tasks)
    return decide(found, at(0)).status


class ByName(dict[str, Task]):
    """Tasks of which thousands have ended: each is found by its name, and none by a walk."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("all Tasks are walked through")

    keys = values = items = __iter__  # type: ignore[assignment]


def message(status: TaskStatus) -> str:
    assert status.waiting is not None
    assert status.waiting.reason == "MergeQueue"
    return status.waiting.message


def test_who_is_behind_another_one_says_so_and_the_schedule_has_nothing_to_add() -> None:
    first = other("first", "Landing")

    status = passed(first)

    assert message(status) == "'first' lands first"
    subject = objects.task(plan=None, status=status)
    of = ProjectSnapshot(OPEN_PROJECT, [first, subject], {}, {"first": first, "work": subject})
    decided = schedule(of, at(1))
    assert (decided.moves, decided.waits) == ((), ())


def test_who_is_alone_asks_for_its_turn_and_does_not_take_it() -> None:
    status = passed()

    assert message(status) == "it is verified and waits for its turn"
    assert step_of(status) is None


def test_tasks_of_another_project_land_elsewhere() -> None:
    assert "its turn" in message(passed(other("first", "Landing", of="other")))


def test_those_that_have_ended_are_not_looked_at() -> None:
    subject, first = objects.task(plan=None, status=DONE), other("first", "Landing")
    going = {task.metadata.name: task for task in (subject, first)}
    found = TaskSnapshot(subject, project=OPEN_PROJECT, tasks=ByName(going), going=going)

    assert message(decide(found, at(0)).status) == "'first' lands first"
