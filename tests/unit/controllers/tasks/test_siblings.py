"""What a Task's siblings do wakes it, where its gate fails on its base, too, or it is Blocked on
them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.controllers.tasks.controller import TaskController
from bernstein.core import names
from bernstein.core.fsm import move
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.resource import Resource
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.background import Background, eventually
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, at
from tests.unit.core.waits import waits
from tests.unit.kube.apiserver import ApiServer

OWN = {"name": "own", "command": "make test", "image": "own:1"}
OFF = ({"name": "lint", "enabled": False}, {"name": "pii_scan", "enabled": False})
PROJECT = objects.project(gates={"pipeline": [OWN, *OFF]})


class Siblings(Rig):
    """A Plan with Tasks, and the controller of these."""

    controller: TaskController

    def __init__(self, api: ApiServer, client: Client, background: Background) -> None:
        super().__init__(api, client, background)
        clock = Clock(now=lambda: at(60))
        self.controller = TaskController(replace(self.context, clock=clock))
        self.put(PROJECTS, PROJECT)
        self.put(PLANS, objects.plan())

    def put(self, resource: Resource, obj: Project | Plan | Task) -> None:
        dumped = obj.dump()
        meta = {"creationTimestamp": at(-60).isoformat(), "generation": 1}
        known = dumped["metadata"]
        own = {k: known[k] for k in ("uid", "ownerReferences") if known.get(k)}
        content = {"spec": dumped["spec"], "status": dumped.get("status", {})}
        name = dumped["metadata"]["name"]
        self.api.put(resource, name, NAMESPACE, metadata=meta | own, **content)

    def observed(self, name: str) -> bool:
        """Its first look is over: only an event wakes it again."""
        conditions = self.api.get(TASKS, name, NAMESPACE)["status"].get("conditions") or []
        return any(each["type"] in ("Stalled", "Reconciling") for each in conditions)

    def reason(self) -> str | None:
        waiting = self.api.get(TASKS, "work", NAMESPACE)["status"].get("waiting") or {}
        return waiting.get("reason")


def at_work() -> TaskStatus:
    """It is verified, and waits for its turn to land."""
    found = move(objects.status(), TaskState.CLAIMED, "Scheduled", at(-30))
    judged = objects.verification(passed=True, checks=[objects.gate("own", of=PROJECT)])
    queued = Delivery(state="Pending", onto=names.integration_ref(objects.PLAN_UID))
    done: dict[str, Any] = {"state": TaskState.DONE, "session": "writer-s1", "delivery": queued}
    done |= {"verification": judged, "waiting": waits("MergeQueue")}
    return found.model_copy(update=done)


def behind(reason: str) -> Task:
    own = {"name": "own", "kind": "gate", "verdict": "Skipped", "reason": "BaseFails"}
    judged = objects.verification(round=1, checks=[own])
    tried = {"reason": "BaseFails", "generation": 1}
    waiting = waits(reason, "waits", tried=tried, needs_person=reason == "BaseFails")
    return objects.task(status=objects.done(verification=judged, waiting=waiting))


@pytest.mark.parametrize("reason", ["SiblingsAtWork", "BaseFails"])
async def test_it_is_judged_on_what_a_sibling_has_landed(
    api: ApiServer, client: Client, background: Background, reason: str
) -> None:
    world = Siblings(api, client, background)
    world.put(TASKS, behind(reason))
    world.put(TASKS, objects.task("writer", status=at_work()))
    await world.start()
    world.run()
    await eventually(lambda: world.observed("work"))

    world.put(TASKS, objects.task("writer", status=objects.closed(7)))

    await eventually(lambda: world.reason() == "MergeQueue")


async def test_it_stands_still_once_its_siblings_have_ended_without_landing(
    api: ApiServer, client: Client, background: Background
) -> None:
    world = Siblings(api, client, background)
    world.put(TASKS, behind("SiblingsAtWork"))
    world.put(TASKS, objects.task("writer", status=at_work()))
    await world.start()
    world.run()
    await eventually(lambda: world.observed("work"))

    ended = objects.status(TaskState.CANCELLED, ended_at=at(0))
    world.put(TASKS, objects.task("writer", status=ended))

    await eventually(lambda: world.reason() == "BaseFails")


# --- Blocked --------------------------------------------------------------------------------------


def blocked_on(*names: str) -> Task:
    said = {"session": "work-s1", "text": "the API", "tasks": list(names)}
    return objects.task(status=objects.with_session(TaskState.BLOCKED, blocked=said))


async def blocked(world: Siblings) -> Siblings:
    """It waits for the Task `writer`, which is at work."""
    world.put(TASKS, blocked_on("writer"))
    world.put(TASKS, objects.task("writer", status=at_work()))
    await world.start()
    world.run()
    await eventually(lambda: world.reason() == "Blocked")
    return world


async def test_a_blocked_task_is_open_again_when_the_one_that_it_waits_for_is_closed(
    api: ApiServer, client: Client, background: Background
) -> None:
    world = await blocked(Siblings(api, client, background))

    world.put(TASKS, objects.task("writer", status=objects.closed(7)))

    await eventually(lambda: api.get(TASKS, "work", NAMESPACE)["status"]["state"] == "Open")


async def test_it_needs_a_person_when_that_one_waits_for_it_in_turn(
    api: ApiServer, client: Client, background: Background
) -> None:
    world = await blocked(Siblings(api, client, background))

    said = {"session": "writer-s1", "text": "the work", "tasks": ["work"]}
    ring = objects.status(TaskState.BLOCKED, session="writer-s1", sessions=1, blocked=said)
    world.put(TASKS, objects.task("writer", status=ring))

    def stalls() -> bool:
        waiting = api.get(TASKS, "work", NAMESPACE)["status"].get("waiting") or {}
        return bool(waiting.get("needsPerson"))

    await eventually(stalls)
