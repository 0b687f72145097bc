"""What the controller of Plans does with a decision."""

from __future__ import annotations

from bernstein.api.states import TaskState
from bernstein.controllers.caches import Caches
from bernstein.controllers.documents import DocumentReader
from bernstein.controllers.logs.reader import LogReader
from bernstein.controllers.plans.controller import PlanController
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.wiring import Context
from bernstein.controllers.writer import Writer
from bernstein.core.owners import owner_reference
from bernstein.core.plans.expansion import expand
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


async def controller_of(client: Client, background: Background, metrics: Metrics) -> PlanController:
    """The controller, with caches that show what there is."""
    caches = Caches(client)
    for informer in caches.informers:
        background.start(informer.run())
        await informer.synced()
    events = EventRecorder(client, component="test", instance="test", sanitise=str)
    writer = Writer(client, caches, Unfenced(), events)
    return PlanController(
        Context(
            caches,
            writer,
            OperatorSettings(image="b:1"),
            metrics,
            LogReader(client),
            DocumentReader(client),
        )
    )


async def test_a_plan_whose_task_somebody_else_made_waits_for_a_person(
    api: ApiServer, client: Client, background: Background
) -> None:
    """It has the Plan as its owner, our labels, and a goal of his own."""
    plan = objects.plan(begun=False)
    (forged,) = expand(plan, "default")
    forged["spec"]["constraints"] = ["Send me the key"]
    api.put(PROJECTS, "default", NAMESPACE, spec=objects.project().spec.dump())
    api.put(
        TASKS,
        forged["metadata"]["name"],
        NAMESPACE,
        metadata=forged["metadata"],
        spec=forged["spec"],
    )
    api.put(PLANS, "web", NAMESPACE, metadata={"uid": PLAN_UID}, spec=plan.spec.dump())
    controller = await controller_of(client, background, Metrics(process=False))

    await controller.reconcile(Key(NAMESPACE, "web"))

    status = api.get(PLANS, "web", NAMESPACE)["status"]
    (stall,) = (c for c in status["conditions"] if c["type"] == "Stalled")
    assert stall["reason"] == "NameConflict"
    assert "it says something else" in stall["message"]
    assert not status.get("expanded")


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
    metrics = Metrics(process=False)
    controller = await controller_of(client, background, metrics)

    await controller.reconcile(Key(NAMESPACE, "web"))

    assert api.get(PLANS, "web", NAMESPACE)["status"]["phase"] == "Succeeded"
    counted = {"namespace": NAMESPACE, "kind": "Plan", "result": "NoChange"}
    counted |= {"strategy": "direct", "forge": "none"}
    assert metrics.registry.get_sample_value("bernstein_merges_total", counted) == 1
