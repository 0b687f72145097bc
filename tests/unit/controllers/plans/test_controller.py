"""What the controller of Plans does with a decision."""

from __future__ import annotations

from bernstein.api.states import TaskState
from bernstein.controllers.caches import Caches
from bernstein.controllers.log_reader import LogReader
from bernstein.controllers.plans.controller import PlanController
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.wiring import Context
from bernstein.controllers.writer import Writer
from bernstein.core.owners import owner_reference
from bernstein.kube.client import Client
from bernstein.kube.events import EventRecorder
from bernstein.kube.resource import Key
from bernstein.observe.metrics import Metrics
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.background import Background
from tests.fence import Unfenced
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, PLAN_UID
from tests.unit.kube.apiserver import ApiServer


async def test_the_delivery_of_a_plan_is_counted(
    api: ApiServer, client: Client, background: Background
) -> None:
    plan, task = objects.plan(), objects.task(status=objects.status(TaskState.CLOSED))
    api.put(PROJECTS, "default", NAMESPACE, spec=objects.project().spec.dump())
    owned = {"ownerReferences": [owner_reference("Plan", "web", PLAN_UID)]}
    api.put(
        TASKS, "work", NAMESPACE, metadata=owned, spec=task.spec.dump(), status=task.status.dump()
    )
    subject = {"spec": plan.spec.dump(), "status": plan.status.dump()}
    api.put(PLANS, "web", NAMESPACE, metadata={"uid": PLAN_UID}, **subject)
    caches, metrics = Caches(client), Metrics(process=False)
    for informer in caches.informers:
        background.start(informer.run())
        await informer.synced()
    events = EventRecorder(client, component="test", instance="test", sanitise=str)
    writer = Writer(client, caches, Unfenced(), events)
    controller = PlanController(
        Context(caches, writer, OperatorSettings(image="b:1"), metrics, LogReader(client))
    )

    await controller.reconcile(Key(NAMESPACE, "web"))

    assert api.get(PLANS, "web", NAMESPACE)["status"]["phase"] == "Succeeded"
    counted = {"namespace": NAMESPACE, "kind": "Plan", "result": "NoChange"}
    assert metrics.registry.get_sample_value("bernstein_merges_total", counted) == 1
