"""A Secret that turns up in the pod of a Project's probe wakes who waits for it, at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.project import Probe, Project
from bernstein.api.task import Task
from bernstein.api.waiting import Waiting
from bernstein.controllers.plans.controller import PlanController
from bernstein.controllers.tasks.controller import TaskController
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.resource import JOBS, Resource
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.background import Background, eventually
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, at
from tests.unit.core.waits import waits
from tests.unit.kube.apiserver import ApiServer

GATES = {"pipeline": [{"name": "own", "command": "make test", "image": "own:1"}]}
MISSING = 'secret "git-read" not found'


def project(*missing: str) -> Project:
    """Whose probe waits for these."""
    told = [{"subject": "read", "reason": "SecretNotFound", "message": text} for text in missing]
    probe = Probe.model_validate({"generation": 1, "number": 2, "findings": told})
    found = objects.project(gates=GATES)
    return found.model_copy(update={"status": found.status.model_copy(update={"probe": probe})})


def rarely(reason: str, message: str) -> Waiting:
    """Of what tries every minute, and has done so twenty seconds before `at(60)`."""
    tried = {"reason": reason, "generation": 1, "times": 30}
    times = {"since": at(40), "until": at(100), "until_alone": at(48)}
    return waits(reason, message, tried=tried, needs_person=True, **times)


class Waiters(Rig):
    """With a Project, and a controller whose clock stands still."""

    def __init__(self, api: ApiServer, client: Client, background: Background) -> None:
        super().__init__(api, client, background)
        self.context = replace(self.context, clock=Clock(now=lambda: at(60)))
        self.put(PROJECTS, project(MISSING))

    def put(self, resource: Resource, obj: Project | Plan | Task) -> None:
        dumped = obj.dump()
        meta = {"creationTimestamp": at(-60).isoformat(), "generation": 1}
        own = {k: v for k, v in dumped["metadata"].items() if k in ("uid", "ownerReferences")}
        name, status = dumped["metadata"]["name"], dumped.get("status", {})
        self.api.put(
            resource, name, NAMESPACE, metadata=meta | own, spec=dumped["spec"], status=status
        )

    def status(self, resource: Resource, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.api.get(resource, name, NAMESPACE)["status"]
        return found


async def test_a_check_that_could_not_start_for_want_of_it_is_run_again(
    api: ApiServer, client: Client, background: Background
) -> None:
    world = Waiters(api, client, background)
    world.controller = TaskController(world.context)
    text = f"'own' could not run: SecretNotFound: {MISSING}"
    world.put(PLANS, objects.plan())
    world.put(TASKS, objects.task(status=objects.done(waiting=rarely("GateErrored", text))))
    await world.start()
    world.run()
    await eventually(lambda: world.status(TASKS, "work").get("conditions"))
    assert api.names(JOBS) == []

    world.put(PROJECTS, project())

    await eventually(lambda: "work-s1-own-0" in api.names(JOBS))


async def test_a_plan_that_could_not_begin_for_want_of_it_asks_for_its_turn(
    api: ApiServer, client: Client, background: Background
) -> None:
    world = Waiters(api, client, background)
    world.controller = PlanController(world.context)
    status = PlanStatus(
        observed_generation=1, expanded=True, waiting=rarely("SecretNotFound", MISSING)
    )
    world.put(PLANS, objects.plan(status=status, begun=False))
    await world.start()
    world.run()
    await eventually(lambda: world.status(PLANS, "web").get("conditions"))
    assert "beginning" not in world.status(PLANS, "web")

    world.put(PROJECTS, project())

    await eventually(lambda: world.status(PLANS, "web").get("beginning") == "Asks")
