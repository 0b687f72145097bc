"""Who reconciles a new Task: its own controller where a person decides about its Plan; and what
wakes one that is Planned."""

from __future__ import annotations

import asyncio

import pytest

from bernstein.api.approvals.approval import AskedApproval, Asks
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.kube.client import Client
from bernstein.kube.resource import Key, Resource
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.background import Background, eventually
from tests.unit.controllers.tasks.test_siblings import Siblings
from tests.unit.core import objects
from tests.unit.core.approvals.asked import asking
from tests.unit.core.objects import NAMESPACE, at
from tests.unit.kube.apiserver import ApiServer


def asked() -> Plan:
    """A Plan that a person has yet to approve."""
    plan: Plan = objects.plan()
    asks = AskedApproval(name="web-1", asks=Asks(digest="d"), since=at(0))
    update = {"approval": asks, "integration": None}
    return plan.model_copy(update={"status": plan.status.model_copy(update=update)})


async def test_a_new_task_is_planned_where_its_plan_asks_only_after_it_was_seen(
    api: ApiServer, client: Client, background: Background
) -> None:
    """It was left to the schedule, which does not begin it any more."""
    rig = Siblings(api, client, background)
    new = objects.status(observed_generation=-1, project=None)
    rig.put(TASKS, objects.task(status=new))
    await rig.start()
    rig.run()
    await asyncio.sleep(0.05)
    assert api.get(TASKS, "work", NAMESPACE)["status"].get("observedGeneration", -1) == -1

    rig.put(PLANS, asked())

    await eventually(lambda: api.get(TASKS, "work", NAMESPACE)["status"]["state"] == "Planned")
    assert rig.caches.tasks.get(Key(NAMESPACE, "work")) is not None


STRICT = asking(approverIsNotAuthor=True)


@pytest.mark.parametrize("mended", ["the Plan", "the Project"])
async def test_what_lacks_an_author_goes_on_once_there_is_one_or_nobody_asks(
    api: ApiServer, client: Client, background: Background, mended: str
) -> None:
    rig = Siblings(api, client, background)
    rig.put(PROJECTS, STRICT)
    rig.put(PLANS, authored(None))
    rig.put(TASKS, objects.task(status=objects.status(TaskState.PLANNED)))
    await rig.start()
    rig.run()
    await eventually(lambda: reason_of(api) == "AuthorMissing")

    if mended == "the Plan":
        change(api, PLANS, authored("ann@example.org"))
    else:
        change(api, PROJECTS, objects.project())

    await eventually(lambda: reason_of(api) != "AuthorMissing")


def authored(author: str | None) -> Plan:
    plan: Plan = objects.plan(author=author)
    return plan


def change(api: ApiServer, kind: Resource, obj: Plan | Project) -> None:
    """As a person does, of the spec alone."""
    meta = {"generation": 2}
    api.put(kind, obj.metadata.name, NAMESPACE, metadata=meta, spec=obj.dump()["spec"])


def reason_of(api: ApiServer) -> str | None:
    waiting = api.get(TASKS, "work", NAMESPACE)["status"].get("waiting") or {}
    reason: str | None = waiting.get("reason")
    return reason
