"""The operator dies before each of its writes while work is formatted: none is judged twice over,
and none lands but the commit that was judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from bernstein.api.states import TaskState
from tests.unit.core import objects
from tests.unit.core.simulation.apiserver import Crash
from tests.unit.core.simulation.state import TARGET
from tests.unit.core.simulation.world import World

OFF = {"name": "pii_scan", "enabled": False}


def world() -> World:
    """A Task without a Plan, whose work is to be formatted."""
    project = objects.project(gates={"pipeline": [OFF, {"name": "auto_format"}]})
    subject = objects.task(plan=None, files=["a.py"])
    return World(project, None, [subject])


def pods_end(world: World, fate: str = "good") -> None:
    for _ in range(3):
        for name in list(world.jobs):
            world.play(name, fate)


def pods_end_unheard(world: World) -> None:
    pods_end(world, "lost")


def pushes_are_refused(world: World) -> None:
    for name in list(world.jobs):
        if world.jobs[name].main == "format":
            world.play(name, "bad")


def jobs_are_deleted(world: World) -> None:
    for name in list(world.jobs):
        world.play(name, "deleted")


def nobody_asks_any_more(world: World) -> None:
    world.change_project(objects.project(gates={"pipeline": [OFF]}))


EVENTS: list[Callable[[World], None]] = [
    lambda _: None,
    pods_end,
    pods_end_unheard,
    pushes_are_refused,
    jobs_are_deleted,
    nobody_asks_any_more,
]


def crashed() -> Iterator[World]:
    """The world as it is when the operator has died before its first write, its second, ..."""
    for writes in count():
        subject = world()
        subject.budget = writes
        try:
            subject.run_on()
        except Crash:
            subject.budget = None
            yield subject
        else:
            assert writes > 8
            return


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_a_crash_anywhere_while_work_is_formatted(event: Callable[[World], None]) -> None:
    landed_formatted = 0
    for subject in crashed():
        event(subject)
        subject.check()
        subject.run_on()
        (task,) = subject.tasks.values()
        judged = task.status.verification
        assert task.status.state is TaskState.CLOSED
        assert judged is not None
        files = subject.remote.files(subject.remote.refs[TARGET])
        has_formatted = files["a.py"].endswith(", formatted")
        form = judged.formatting
        assert has_formatted == (form is not None and form.work is not None)
        assert not files["a.py"].endswith(", formatted, formatted")
        landed_formatted += has_formatted
    assert landed_formatted
