"""Changes, deletions and Approvals that the API server refuses the operator: who says so, and how
often it asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import Cancel
from bernstein.controllers.plans.controller import PlanController
from bernstein.controllers.sessions.controller import SessionController
from bernstein.controllers.tasks.controller import TaskController
from bernstein.controllers.wiring import KindController
from bernstein.controllers.writer import REFUSED_SECONDS, Writer
from bernstein.core import labels
from bernstein.core.approvals import asking, plans
from bernstein.core.owners import owner_reference
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.errors import WriteRefused
from bernstein.kube.events import EventRecorder
from bernstein.kube.resource import JOBS, PODS, Key, Object, Resource
from bernstein.resources import PLANS, PROJECTS, SESSIONS, TASKS
from tests.background import Background, eventually
from tests.fence import Unfenced
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects, scheduled
from tests.unit.core.approvals import asked
from tests.unit.core.delivery.tasks import verified
from tests.unit.core.objects import NAMESPACE, at
from tests.unit.kube.apiserver import ApiServer, Call

OURS = {labels.MANAGED_BY: labels.MANAGER}


class Refusing(Rig):
    """A cluster at a time that a test sets, which refuses changes of one kind."""

    def __init__(self, api: ApiServer, client: Client, background: Background) -> None:
        super().__init__(api, client, background)
        self.seconds = 0.0
        clock = Clock(now=lambda: at(self.seconds), monotonic=lambda: self.seconds)
        events = EventRecorder(client, component="test", instance="test", sanitise=str)
        writer = Writer(client, self.caches, Unfenced(), events, clock)
        self.context = replace(self.context, writer=writer, clock=clock)
        self.api.put(PROJECTS, "default", NAMESPACE, spec=objects.project().spec.dump())

    def put(self, resource: Resource, subject: Plan | Task | AgentSession) -> Key:
        meta = subject.metadata
        made: Object = {
            "uid": meta.uid,
            "generation": meta.generation,
            "creationTimestamp": at(-60).isoformat(),
            "ownerReferences": [r.dump() for r in meta.owner_references],
        }
        dumped = subject.dump()
        parts = {"spec": dumped["spec"], "status": dumped["status"]}
        self.api.put(resource, meta.name, NAMESPACE, metadata=made, **parts)
        return Key(NAMESPACE, meta.name)

    def job(self, name: str, kind: str, owner: str, uid: str) -> None:
        """One of ours at work, of this owner."""
        meta: Object = {
            "labels": OURS | {labels.JOB: "check"},
            "creationTimestamp": at(-5).isoformat(),
            "ownerReferences": [owner_reference(kind, owner, uid)],
        }
        self.api.put(JOBS, name, NAMESPACE, metadata=meta, spec={"template": {}}, status={})

    def refuse(self, verb: str, plural: str, status: int = 403) -> None:
        """But for what is written of a status."""

        def fault(call: Call) -> int | None:
            of_status = isinstance(call.body, dict) and "status" in call.body
            refused = (call.verb, call.plural) == (verb, plural) and not of_status
            return status if refused else None

        self.api.fault = fault

    async def look(self, controller: type[KindController], key: Key) -> float | None:
        """One reconcile, once the caches show what there is."""
        subject = controller(self.context)
        made = {r.plural: r for r in (PLANS, TASKS, SESSIONS)}
        informers = [i for i in self.caches.informers if i.resource.plural in made]

        def is_seen() -> bool:
            return all(
                (seen := informer.get(Key(NAMESPACE, name))) is not None
                and seen["metadata"]["resourceVersion"]
                == self.api.get(informer.resource, name, NAMESPACE)["metadata"]["resourceVersion"]
                for informer in informers
                for name in self.api.names(informer.resource)
            )

        await eventually(is_seen)
        return (await subject.reconcile(key)).requeue_after

    def stall(self, resource: Resource, key: Key) -> Object | None:
        status = self.api.get(resource, key.name, NAMESPACE).get("status") or {}
        found = [c for c in status.get("conditions", ()) if c["type"] == "Stalled"]
        return found[0] if found else None

    def asked(self, verb: str, plural: str) -> int:
        def is_it(call: Call) -> bool:
            of_status = isinstance(call.body, dict) and "status" in call.body
            return (call.verb, call.plural) == (verb, plural) and not of_status

        return sum(map(is_it, self.api.calls))


@pytest.fixture
def world(api: ApiServer, client: Client, background: Background) -> Refusing:
    return Refusing(api, client, background)


def cancelled(task: Task) -> Task:
    return task.model_copy(update={"spec": task.spec.model_copy(update={"cancel": Cancel()})})


def a_plan(world: Refusing) -> Key:
    """A cancelled Plan, which is to have its Task cancelled."""
    plan = objects.plan()
    spec = plan.spec.model_copy(update={"cancel": Cancel()})
    world.put(TASKS, objects.task(status=objects.status(TaskState.OPEN)))
    return world.put(PLANS, plan.model_copy(update={"spec": spec}))


def a_task(world: Refusing) -> Key:
    """A cancelled Task, whose check is to be ended."""
    task = objects.task(plan=None, status=objects.status(TaskState.DONE, sessions=1))
    world.job("work-s1-lint-1", "Task", "work", task.metadata.uid)
    return world.put(TASKS, cancelled(task))


def a_session(world: Refusing) -> Key:
    """A session that is to end before its agent has started."""
    world.job("work-s1", "AgentSession", "work-s1", "uid-work-s1")
    return world.put(
        SESSIONS,
        objects.session(state=SessionState.STARTING, stop="Cancelled", job="work-s1"),
    )


def an_asking_plan(world: Refusing) -> Key:
    """A Plan that people are asked about, and whose Approval is not there."""
    plan = objects.plan(begun=False, approval={"plan": "Always"})
    question = plans.question(plan, objects.project(), plan.status)
    assert question is not None
    asks = asking.ask(plan.status, question, at(0)).model_copy(update={"phase": "PendingApproval"})
    return world.put(PLANS, plan.model_copy(update={"status": asks}))


def an_asking_task(world: Refusing) -> Key:
    """The same of a Task whose work is verified."""
    strict = asked.asking()
    uid = {"uid": strict.metadata.uid}
    world.api.put(PROJECTS, "default", NAMESPACE, metadata=uid, spec=strict.spec.dump())
    judged = {"digest": asked.DIGEST, "protected_by": "unknown"}
    task = objects.task(plan=None, status=verified(verification=judged))
    decision = scheduled.decide(objects.snapshot(task, project=strict, plan=None), at(0))
    assert decision.status.state is TaskState.PENDING_APPROVAL
    return world.put(TASKS, task.model_copy(update={"status": decision.status}))


CASES: list[Any] = [
    pytest.param(PlanController, PLANS, a_plan, "PATCH", "tasks", id="Plan"),
    pytest.param(TaskController, TASKS, a_task, "DELETE", "jobs", id="Task"),
    pytest.param(SessionController, SESSIONS, a_session, "DELETE", "jobs", id="AgentSession"),
    pytest.param(PlanController, PLANS, an_asking_plan, "POST", "approvals", id="Plan that asks"),
    pytest.param(TaskController, TASKS, an_asking_task, "POST", "approvals", id="Task that asks"),
]
Make = Callable[[Refusing], Key]


@pytest.mark.parametrize("status", [403, 422])
@pytest.mark.parametrize(("controller", "resource", "make", "verb", "plural"), CASES)
async def test_it_is_stalled_with_a_remedy_until_the_change_is_let_through(
    world: Refusing,
    controller: type[KindController],
    resource: Resource,
    make: Make,
    verb: str,
    plural: str,
    status: int,
) -> None:
    key = make(world)
    await world.start()
    world.refuse(verb, plural, status)

    again = await world.look(controller, key)

    stall = world.stall(resource, key)
    assert stall is not None
    reason = "ApprovalRefused" if plural == "approvals" else "WriteRefused"
    assert (stall["status"], stall["reason"]) == ("True", reason)
    assert f"({status})" in stall["message"]
    assert "Remedy: Give the operator's account the rights" in stall["message"]
    assert again is not None
    assert 0 < again <= PROBE_SECONDS

    world.api.fault = lambda _: None
    world.seconds += PROBE_SECONDS
    await world.look(controller, key)
    assert world.stall(resource, key) is None


@pytest.mark.parametrize(("controller", "resource", "make", "verb", "plural"), CASES)
async def test_however_often_it_is_looked_at_it_is_asked_for_rarely_and_told_once(
    world: Refusing,
    controller: type[KindController],
    resource: Resource,
    make: Make,
    verb: str,
    plural: str,
) -> None:
    key = make(world)
    await world.start()
    world.refuse(verb, plural)

    await world.look(controller, key)
    await world.look(controller, key)  # a Plan counts the Tasks that it has made
    told = world.api.get(resource, key.name, NAMESPACE)["status"]
    for _ in range(20):
        world.seconds += REFUSED_SECONDS / 20.5
        await world.look(controller, key)

    assert world.asked(verb, plural) == 1
    assert world.api.get(resource, key.name, NAMESPACE)["status"] == told
    world.seconds += REFUSED_SECONDS
    await world.look(controller, key)
    assert world.asked(verb, plural) == 2


async def test_a_task_says_what_its_session_needs_a_person_for(world: Refusing) -> None:
    key = a_session(world)
    status = objects.status(TaskState.CLAIMED, sessions=1, session="work-s1")
    task = cancelled(objects.task(plan=None, status=status))
    world.put(TASKS, task)
    await world.start()
    world.refuse("DELETE", "jobs")
    await world.look(SessionController, key)

    await world.look(TaskController, Key(NAMESPACE, "work"))

    stall = world.stall(TASKS, Key(NAMESPACE, "work"))
    assert stall is not None
    assert stall["reason"] == "WriteRefused"
    assert "refuses to delete Job 'work-s1'" in stall["message"]

    world.api.fault = lambda _: None
    world.seconds += PROBE_SECONDS
    await world.look(SessionController, key)
    await world.look(TaskController, Key(NAMESPACE, "work"))
    assert world.stall(TASKS, Key(NAMESPACE, "work")) is None


async def test_how_something_ended_stays_when_what_is_left_of_it_may_not_be_cleared_away(
    world: Refusing,
) -> None:
    """The queue tries again, less and less often, and an Event says why."""
    task = objects.task(plan=None, status=objects.closed(1, ended_at=at(0)))
    key = world.put(TASKS, task)
    world.job("work-s1-lint-1", "Task", "work", task.metadata.uid)
    await world.start()
    await world.look(TaskController, key)
    before = world.api.get(TASKS, "work", NAMESPACE)["status"]
    world.seconds += 2 * REFUSED_SECONDS
    world.job("work-s1-lint-2", "Task", "work", task.metadata.uid)
    await eventually(lambda: world.caches.jobs.get(Key(NAMESPACE, "work-s1-lint-2")) is not None)
    world.refuse("DELETE", "jobs")

    with pytest.raises(WriteRefused, match="refuses to delete Job 'work-s1-lint-2'"):
        await world.look(TaskController, key)

    assert world.api.get(TASKS, "work", NAMESPACE)["status"] == before


async def test_a_session_is_not_let_go_before_its_pods_are(world: Refusing) -> None:
    ended = objects.dead().model_copy(update={"metadata": objects.session(deleting=True).metadata})
    key = world.put(SESSIONS, ended)
    live = world.api.get(SESSIONS, key.name, NAMESPACE)
    live["metadata"] |= {"finalizers": [labels.FINALIZER], "deletionTimestamp": at(0).isoformat()}
    world.api.put(SESSIONS, key.name, NAMESPACE, metadata=live["metadata"])
    pod = {
        "labels": OURS | {labels.JOB: "agent", labels.SESSION: key.name},
        "finalizers": [labels.FINALIZER],
    }
    world.api.put(PODS, "work-s1-x", NAMESPACE, metadata=pod, spec={}, status={})
    await world.start()
    world.refuse("PATCH", "pods")

    with pytest.raises(WriteRefused, match="take the finalizer"):
        await world.look(SessionController, key)

    assert key.name in world.api.names(SESSIONS)
