"""Who reconciles a new Task: its own controller where a person decides about its Plan."""

from __future__ import annotations

import asyncio

from bernstein.api.approvals.approval import AskedApproval, Asks
from bernstein.api.plan import Plan
from bernstein.kube.client import Client
from bernstein.kube.resource import Key
from bernstein.resources import PLANS, TASKS
from tests.background import Background, eventually
from tests.unit.controllers.tasks.test_siblings import Siblings
from tests.unit.core import objects
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
