"""A new leader changes what it found before it acts on it: then a late write of the one before is
refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.controllers.plans.controller import PlanController
from bernstein.controllers.sessions.controller import SessionController
from bernstein.controllers.tasks.controller import TaskController
from bernstein.controllers.wiring import Context, KindController
from bernstein.kube.client import Client
from bernstein.kube.errors import Requeue
from bernstein.kube.resource import JOBS, Key, Resource
from bernstein.resources import PLANS, PROJECTS, SESSIONS, TASKS
from tests.background import Background, eventually
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, at, with_session
from tests.unit.kube.apiserver import ApiServer

CLAIMED = objects.task(plan=None, status=with_session(TaskState.CLAIMED))
WORK, SESSION = Key(NAMESPACE, "work"), Key(NAMESPACE, "work-s1")


class Leader(Rig):
    """One controller of a process that has just begun to lead."""

    def __init__(self, api: ApiServer, client: Client, background: Background) -> None:
        super().__init__(api, client, background)
        self.put(PROJECTS, objects.project())

    def put(self, resource: Resource, obj: Project | Task | AgentSession) -> None:
        dumped = obj.dump()
        meta = {"creationTimestamp": at(-60).isoformat(), "generation": 1}
        known = dumped["metadata"]
        own = {k: known[k] for k in ("uid", "ownerReferences", "finalizers") if known.get(k)}
        content = {k: dumped[k] for k in ("spec", "status") if k in dumped}
        self.api.put(resource, known["name"], NAMESPACE, metadata=meta | own, **content)

    async def lead(self, kind: Callable[[Context], KindController]) -> None:
        self.controller = kind(self.context)
        await self.start()
        self.guard.begin(self.controller.rests_on)
        self.controller.begin()

    async def look(self, key: Key) -> None:
        """Until nothing has to come first any more."""
        again = True
        while again:
            again = False
            with suppress(Requeue):
                again = True
                await self.controller.reconcile(key)
                again = False
            await eventually(lambda: self.guard.caught_up(key))

    def done(self) -> list[tuple[str, str]]:
        """Verb and kind of each write, in order."""
        reads = ("GET", "WATCH")
        return [(call.verb, call.plural) for call in self.api.calls if call.verb not in reads]


async def test_a_task_is_taken_over_before_its_session_is_made(
    api: ApiServer, client: Client, background: Background
) -> None:
    world = Leader(api, client, background)
    world.put(TASKS, CLAIMED)
    world.context.claims.note(CLAIMED, CLAIMED.status)
    await world.lead(TaskController)

    await world.look(WORK)

    assert world.done()[:2] == [("PATCH", "tasks"), ("POST", "agentsessions")]


async def test_a_session_and_its_task_are_taken_over_before_its_job_is_made(
    api: ApiServer, client: Client, background: Background
) -> None:
    world = Leader(api, client, background)
    world.put(TASKS, CLAIMED)
    world.put(SESSIONS, objects.session())
    await world.lead(SessionController)

    await world.look(SESSION)

    *before, made = world.done()[: world.done().index(("POST", "jobs")) + 1]
    assert before[:2] == [("PATCH", "agentsessions"), ("PATCH", "tasks")]
    assert (made, api.names(JOBS)) == (("POST", "jobs"), ["work-s1"])


async def test_a_claim_that_comes_late_is_given_back_without_a_session(
    api: ApiServer, client: Client, background: Background
) -> None:
    world = Leader(api, client, background)
    await world.lead(TaskController)
    world.put(TASKS, CLAIMED)
    await eventually(lambda: world.caches.tasks.get(WORK) is not None)

    await world.look(WORK)

    assert api.get(TASKS, "work", NAMESPACE)["status"]["state"] == "Open"
    assert world.done() == [("PATCH", "tasks")]


async def test_a_plan_rests_on_itself(
    api: ApiServer, client: Client, background: Background
) -> None:
    world = Leader(api, client, background)
    await world.lead(PlanController)

    assert list(world.controller.rests_on(WORK)) == [(PLANS, WORK)]
