"""A Task whose time is over is deleted at that time, as it was looked at, and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.controllers.tasks.controller import TaskController
from bernstein.core.tasks.decide import decide
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key
from bernstein.resources import PROJECTS, TASKS
from tests.background import Background, eventually
from tests.unit.controllers.jobs import built
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW, at
from tests.unit.kube.apiserver import ApiServer, Call

WEEK = 604800.0
KEY = Key(NAMESPACE, "work")


def put(api: ApiServer, task: Task, **more: Any) -> None:
    meta = {"creationTimestamp": at(-60).isoformat(), "generation": 1, **more}
    dumped = task.dump()
    api.put(TASKS, task.metadata.name, NAMESPACE, metadata=meta, **_content(dumped))


def _content(dumped: dict[str, Any]) -> dict[str, Any]:
    return {"spec": dumped["spec"], "status": dumped["status"]}


def over(name: str = "work", **spec: Any) -> Task:
    """A Task without a Plan that was Closed now, as it is written."""
    task = objects.task(name, plan=None, status=objects.closed(1, ended_at=NOW), **spec)
    written = decide(objects.snapshot(task), NOW).status
    return task.model_copy(update={"status": written})


class Retention(Rig):
    """A Project and the controller of its Tasks, at a time of day that a test sets."""

    controller: TaskController

    def __init__(self, api: ApiServer, client: Client, background: Background) -> None:
        super().__init__(api, client, background)
        self.seconds = 0.0
        clock = Clock(now=lambda: at(self.seconds))
        self.controller = TaskController(replace(self.context, clock=clock))
        self.project()

    def project(self, **retention: int) -> None:
        project = objects.project(retention=retention) if retention else objects.project()
        self.api.put(PROJECTS, "default", NAMESPACE, spec=project.spec.dump())

    def deletions(self) -> list[Call]:
        return [call for call in self.api.writes() if call.verb == "DELETE"]


@pytest.fixture
def world(api: ApiServer, client: Client, background: Background) -> Retention:
    return Retention(api, client, background)


async def test_it_is_looked_at_again_when_its_time_is_over(world: Retention) -> None:
    put(world.api, over())
    await world.start()

    world.seconds = WEEK - 30
    result = await world.controller.reconcile(KEY)

    assert (result.requeue_after, world.deletions()) == (30, [])


async def test_it_is_deleted_in_the_foreground_as_it_was_looked_at(world: Retention) -> None:
    put(world.api, over())
    await world.start()
    read = world.api.get(TASKS, "work", NAMESPACE)["metadata"]

    world.seconds = WEEK
    await world.controller.reconcile(KEY)

    (call,) = world.deletions()
    assert call.body["propagationPolicy"] == "Foreground"
    exactly = {"uid": read["uid"], "resourceVersion": read["resourceVersion"]}
    assert call.body["preconditions"] == exactly


async def test_what_changed_meanwhile_stays(world: Retention) -> None:
    put(world.api, over())
    await world.start()
    world.seconds = WEEK
    snapshot_of = world.caches.tasks.get(KEY)
    assert snapshot_of is not None
    stale = snapshot_of.metadata.model_copy(update={"resource_version": "1"})

    await world.controller._writer.delete_unchanged(KEY, TASKS, stale)

    assert world.api.get(TASKS, "work", NAMESPACE)


async def test_a_shorter_time_of_the_project_counts_at_once(world: Retention) -> None:
    put(world.api, over())
    await world.start()
    world.seconds = 3600
    world.run()

    world.project(tasksSeconds=60)

    await eventually(lambda: len(world.deletions()) == 1)


async def test_what_has_ended_is_looked_at_after_all_that_goes_on_and_by_name(
    world: Retention, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.project(tasksSeconds=3600)
    ended = [f"ended-{number}" for number in range(9)]
    for name in reversed(ended):
        put(world.api, over(name))
    put(world.api, objects.task("waits", plan=None, status=objects.status()))
    seen: list[str] = []

    async def see(key: Key) -> Result:
        seen.append(key.name)
        return Result()

    await world.start()
    monkeypatch.setattr(world.controller, "reconcile", see)
    world.run()

    await eventually(lambda: len({*seen}) == 10)
    assert [*dict.fromkeys(seen)] == ["waits", *ended]


async def kept_for(waits: Task, world: Retention) -> None:
    """Until the controller is at work, and has seen that `work` is kept for it after its time."""
    put(world.api, over())
    put(world.api, waits)
    await world.start()
    world.seconds = WEEK
    await world.controller.reconcile(KEY)
    assert world.deletions() == []
    world.run()


async def test_it_is_deleted_when_the_last_one_that_waited_for_it_has_ended(
    world: Retention,
) -> None:
    waits = objects.task("next", plan=None, dependsOn=["work"], status=objects.status())
    await kept_for(waits, world)

    ended = objects.status(TaskState.CANCELLED, ended_at=at(WEEK))
    put(world.api, objects.task("next", plan=None, dependsOn=["work"], status=ended))

    await eventually(lambda: len(world.deletions()) == 1)


async def test_it_is_deleted_when_the_last_one_that_waited_for_it_is_being_deleted(
    world: Retention,
) -> None:
    waits = objects.task("next", plan=None, dependsOn=["work"], status=objects.status())
    await kept_for(waits, world)

    leaving = {"deletionTimestamp": at(WEEK).isoformat(), "finalizers": ["example.com/held"]}
    put(world.api, waits, **leaving)

    await eventually(lambda: len(world.deletions()) == 1)


def test_finished_pods_stay_as_long_as_the_project_says() -> None:
    project = objects.project(retention={"podsSeconds": 300})

    job = built.agent_job(project, built.PLAIN_SETTINGS)

    assert job["spec"]["ttlSecondsAfterFinished"] == 300
