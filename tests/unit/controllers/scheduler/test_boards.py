"""A Board that is kept says what a new one would, whatever has happened in between."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.controllers.caches.parsed import Parsed
from bernstein.controllers.caches.settlement import AT_ONCE
from bernstein.controllers.scheduler import boards as boards_module
from bernstein.controllers.scheduler.boards import Boards
from bernstein.core import projects
from bernstein.core.delivery import ledger
from bernstein.core.scheduling import line as line_module
from bernstein.core.scheduling import schedule as schedule_module
from bernstein.core.scheduling.schedule import Board, Schedule
from bernstein.kube.clock import REAL
from bernstein.kube.resource import Key
from tests.unit.controllers.scheduler.caches_as_they_are import project_snapshot
from tests.unit.controllers.scheduler.changing import PROJECTS, Changing
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, at
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import reasons, schedule, starts

KEY = Key(NAMESPACE, "default")


def fresh(cluster: Changing, key: Key) -> Schedule | None:
    """The schedule by a look at everything that goes on."""
    snapshot = project_snapshot(cluster.caches, key)
    return schedule(snapshot, cluster.now) if snapshot is not None else None


def of_all(cluster: Changing, key: Key) -> Schedule | None:
    """The same by a look at what is settled, too."""
    snapshot = project_snapshot(cluster.caches, key)
    return schedule(_with_settled(cluster, snapshot), cluster.now) if snapshot is not None else None


def _with_settled(cluster: Changing, snapshot: ProjectSnapshot) -> ProjectSnapshot:
    caches = cluster.caches
    tasks = dict(caches.tasks.by_name(NAMESPACE))
    plan_of = {
        name: plan
        for plan in caches.plans.by_name(NAMESPACE).values()
        if plan.metadata.deletion_timestamp is None
        for name in ledger.members(plan.status, caches.tasks.of_plan(plan.metadata))
    }
    beside = caches.projects.by_name(NAMESPACE)
    members = projects.members(snapshot.project, tasks, plan_of, beside)
    sessions = dict(caches.sessions.by_name(NAMESPACE))
    return replace(snapshot, tasks=tasks, plan_of=plan_of, members=members, sessions=sessions)


async def changed(cluster: Changing, data: st.DataObject, pick: Callable[..., Any]) -> None:
    """Changes, looks and what they decide, in any order."""
    boards = Boards(cluster.caches, REAL)
    for _ in range(data.draw(st.integers(1, 40))):
        cluster.anything()
        if pick((True, False)):
            await asyncio.sleep(0)  # what has ended may be settled
        if pick((True, False)):
            continue
        for name in PROJECTS:
            key = Key(NAMESPACE, name)
            for _ in range(pick((0, 1, 5))):
                boards.look_ahead(key, cluster.now)
            found = boards.look(key, cluster.now)
            assert found == fresh(cluster, key)
            assert found == of_all(cluster, key)
            if found is not None and pick((True, False)):
                cluster.write((*found.moves, *found.waits))


@pytest.mark.parametrize("at_once", [2, 200])
@given(data=st.data())
def test_a_kept_schedule_is_that_of_a_look_at_everything(at_once: int, data: st.DataObject) -> None:
    def pick(options: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(options))

    async def life() -> None:
        await changed(Changing(pick), data, pick)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(schedule_module, "WAITS_AT_ONCE", at_once)
        patched.setattr(boards_module, "PIECE", 1)
        patched.setattr(boards_module, "MOST_NOTED", 3)
        patched.setattr(line_module, "_PIECE", 1)
        asyncio.run(life())


class Namespace(Changing):
    """One whose changes a test says itself."""

    def __init__(self) -> None:
        super().__init__(lambda options: options[-1])
        self.boards = Boards(self.caches, REAL)
        self._put_anew(self.caches.projects, objects.project())

    def _put_anew(self, parsed: Parsed[Any], model: Project | Plan | Task) -> None:
        live = parsed.informer.get(Key(NAMESPACE, model.metadata.name))
        self._put(parsed.informer, model.dump(), live)

    def task(self, name: str, state: TaskState, *, plan: str | None = None, **spec: Any) -> None:
        status = objects.status(state)
        self._put_anew(self.caches.tasks, objects.task(name, plan=plan, status=status, **spec))

    def plan(self, name: str, phase: str, *rows: str, last: str | None = None) -> None:
        """A Plan with these Tasks in one stage, and one in another."""
        staged = (*(("build", row) for row in rows), ("test", last))
        status = PlanStatus(
            tasks=tuple(PlanTask(name=n, stage=stage, step=0) for stage, n in staged if n),
            expanded=True,
            ended_at=at(-1) if phase != "Running" else None,
            phase=phase,
        )
        self._put_anew(self.caches.plans, objects.plan(name, status=status, begun=True))

    async def has_settled(self, *names: str) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        settled = self.caches.tasks.settled_keys(NAMESPACE)
        assert {key.name for key in settled} == {*names}

    def look(self) -> Schedule:
        found = self.boards.look(KEY, at(0))
        assert found is not None
        return found


async def test_what_has_been_settled_is_held_by_no_board() -> None:
    world = Namespace()
    world.task("over", TaskState.DONE)
    world.task("another", TaskState.OPEN)
    model = weakref.ref(world.caches.tasks.going(NAMESPACE)["over"])
    world.look()
    world.task("over", TaskState.CLOSED)
    world.task("another", TaskState.DONE)  # the caches keep what the last event was about
    await world.has_settled("over")
    gc.collect()
    assert model() is not None

    world.look()

    gc.collect()
    assert model() is None


async def test_a_new_task_starts_after_a_settled_one_that_it_names() -> None:
    world = Namespace()
    world.task("first", TaskState.CLOSED)
    world.task("failed", TaskState.CANCELLED)
    await world.has_settled("first", "failed")
    world.look()

    world.task("second", TaskState.OPEN, dependsOn=["first"])
    world.task("third", TaskState.OPEN, dependsOn=["failed"])
    found = world.look()

    assert starts(found) == ["second"]
    assert "Task 'failed' ended as Cancelled" in reasons(found)["third"]


async def test_a_task_that_names_a_settled_one_from_now_on_starts_after_it() -> None:
    world = Namespace()
    world.task("first", TaskState.CLOSED)
    world.task("second", TaskState.OPEN, dependsOn=["missing"])
    await world.has_settled("first")
    assert starts(world.look()) == []

    world.task("second", TaskState.OPEN, dependsOn=["first"])

    assert starts(world.look()) == ["second"]


async def test_a_plan_that_goes_on_again_has_what_had_been_settled_of_it() -> None:
    world = Namespace()
    world.plan("web", "Failed", "a", "b")
    world.task("a", TaskState.CLOSED, plan="web")
    world.task("b", TaskState.CANCELLED, plan="web")
    await world.has_settled("a", "b")
    world.look()

    world.plan("web", "Running", "a", "b", last="c")
    world.task("b", TaskState.CLOSED, plan="web")
    world.task("c", TaskState.OPEN, plan="web", stage="test", dependsOnStages=["build"])
    await world.has_settled()
    found = world.look()

    assert starts(found) == ["c"]
    world.task("c", TaskState.CLOSED, plan="web")
    world.plan("web", "Succeeded", "a", "b", last="c")
    await world.has_settled("a", "b", "c")
    assert world.look() == fresh(world, KEY)


async def test_a_plan_of_which_more_is_settled_than_fits_in_one_step_is_looked_at_meanwhile() -> (
    None
):
    world, names = Namespace(), [f"task-{number}" for number in range(2 * AT_ONCE)]
    world.plan("web", "Running", *names)
    for name in names:
        world.task(name, TaskState.CLOSED, plan="web")
    world.look()
    world.plan("web", "Succeeded", *names)
    await asyncio.sleep(0)
    assert 0 < len(world.caches.tasks.settled_keys(NAMESPACE)) <= AT_ONCE
    assert world.look() == of_all(world, KEY)

    world.plan("web", "Running", *names)
    world.task("next", TaskState.OPEN, dependsOn=names[:1])

    assert starts(world.look()) == ["next"]


async def test_all_tasks_of_a_plan_that_comes_are_put_in_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its Tasks have not changed; whose they are has."""
    world, names = Namespace(), [f"task-{number}" for number in range(3 * boards_module.PIECE)]
    for name in names:
        world.task(name, TaskState.OPEN, plan="web", stage="build")
    while world.boards.look_ahead(KEY, at(0)):
        pass
    world.look()
    put, original = Counter[int](), Board.put_task

    def counted(board: Board, *given: Any, **more: Any) -> None:
        put[piece] += 1
        original(board, *given, **more)

    monkeypatch.setattr(Board, "put_task", counted)
    world.plan("web", "Running", *names)

    piece = 0
    while world.boards.look_ahead(KEY, at(0)):
        piece += 1
    found = world.look()

    assert [*put.values()] == 3 * [boards_module.PIECE]
    assert len(starts(found)) > 0
