"""What the scheduler writes, and what it does where a write goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.controllers.scheduler.boards import Boards
from bernstein.controllers.scheduler.controller import MOST_PIECES, SchedulerController
from bernstein.controllers.scheduler.unanswered import FIRST_SECONDS
from bernstein.controllers.writer import REFUSED_SECONDS
from bernstein.core.scheduling import schedule
from bernstein.kube.client import Client
from bernstein.kube.errors import ApiError, Conflict, TransportError
from bernstein.kube.resource import Key, Object
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.background import Background, eventually
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, at
from tests.unit.core.waits import waits
from tests.unit.kube.apiserver import ApiServer, Call, Fault

KEY = Key(NAMESPACE, "default")
Start = Callable[..., Any]


class Scheduling(Rig):
    """A cluster of one Project, and the scheduler with its caches."""

    controller: SchedulerController

    def __init__(self, api: ApiServer, client: Client, background: Background) -> None:
        super().__init__(api, client, background)
        self.controller = SchedulerController(self.context)

    def project(self, name: str = "default", **spec: Any) -> None:
        self.api.put(PROJECTS, name, NAMESPACE, spec=objects.project(name, **spec).spec.dump())

    def task(self, name: str, status: TaskStatus | None = None, **spec: Any) -> None:
        task = objects.task(name, plan=None, status=status or objects.status(), **spec)
        meta: Object = {"creationTimestamp": at(-60).isoformat(), "generation": 1}
        dumped = task.dump()
        self.api.put(
            TASKS, name, NAMESPACE, metadata=meta, spec=dumped["spec"], status=dumped["status"]
        )

    async def settled(self) -> None:
        while wait := await self.guard.settle(KEY):
            await eventually(lambda: self.guard.caught_up(KEY), seconds=wait + 10)

    def state(self, name: str) -> str:
        return str(self.api.get(TASKS, name, NAMESPACE)["status"]["state"])

    def reason(self, name: str) -> str | None:
        waiting = self.api.get(TASKS, name, NAMESPACE)["status"].get("waiting") or {}
        return waiting.get("reason")

    def change(self, name: str, **status: Any) -> None:
        """Somebody else writes the Task's status."""
        live = self.api.get(TASKS, name, NAMESPACE)
        self.api.put(
            TASKS,
            name,
            NAMESPACE,
            metadata=live["metadata"],
            spec=live["spec"],
            status=live["status"] | status,
        )


@pytest.fixture
def world(api: ApiServer, client: Client, background: Background) -> Scheduling:
    return Scheduling(api, client, background)


def writes(api: ApiServer) -> list[str]:
    """Tasks whose status was written, in order."""
    return [call.name for call in api.calls if call.verb == "PATCH"]


async def test_one_look_claims_what_fits_and_tells_the_others_why_they_wait(
    world: Scheduling,
) -> None:
    world.project(limits={"maxAgents": 2})
    for name, priority in (("low", 5), ("high", 1), ("middle", 3)):
        world.task(name, priority=priority)
    await world.start()

    await world.controller.reconcile(KEY)

    assert [world.state(n) for n in ("high", "middle", "low")] == ["Claimed", "Claimed", "Open"]
    assert world.reason("low") == "MaxAgents"
    moved = {"namespace": NAMESPACE, "state": "Claimed"}
    counted = world.metrics.registry.get_sample_value("bernstein_task_moves_total", moved)
    assert counted == 2
    await eventually(lambda: world.guard.caught_up(KEY))
    claimed = [world.caches.tasks.get(Key(NAMESPACE, n)) for n in ("high", "middle")]
    assert not any(each and world.context.claims.is_late(each) for each in claimed)


async def test_a_look_in_pieces_ends_whatever_comes_meanwhile(
    world: Scheduling, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.project()
    world.task("one")
    await world.start()
    pieces = []

    def never_done(_: Boards, key: Key, now: datetime) -> bool:
        pieces.append(now)
        return True

    monkeypatch.setattr(Boards, "look_ahead", never_done)

    await world.controller.reconcile(KEY)

    assert world.state("one") == "Claimed"
    assert len(pieces) == MOST_PIECES


MISSING = 'secret "git-read" not found'


def rare_try() -> TaskStatus:
    """Of a Task that has missed a Secret so long that it tries every minute."""
    met = datetime.now(UTC) - timedelta(seconds=20)
    tried = {"reason": "SecretNotFound", "generation": 1, "times": 30}
    waiting = waits(
        "SecretNotFound",
        MISSING,
        since=met,
        until=met + timedelta(seconds=60),
        until_alone=met + timedelta(seconds=15),
        tried=tried,
        needs_person=True,
    )
    return objects.status(waiting=waiting)


async def test_a_secret_that_turns_up_in_the_pod_of_the_probe_lets_tasks_go_on_at_once(
    world: Scheduling,
) -> None:
    missing = {"subject": "read", "reason": "SecretNotFound", "message": MISSING}
    world.project()
    spec = world.api.get(PROJECTS, "default", NAMESPACE)["spec"]

    def found(*findings: Object) -> None:
        probe = {"generation": 1, "number": 4, "findings": [*findings]}
        meta = {"generation": 1}
        status = {"probe": probe}
        world.api.put(PROJECTS, "default", NAMESPACE, metadata=meta, spec=spec, status=status)

    found(missing)
    world.task("held", status=rare_try())
    await world.start()
    world.run()
    await world.controller.reconcile(KEY)
    assert world.state("held") == "Open"

    found()

    await eventually(lambda: world.state("held") == "Claimed", seconds=20)  # not in 40


async def test_where_nothing_changes_nothing_is_written(world: Scheduling) -> None:
    world.project(limits={"maxAgents": 1})
    for name in ("a", "b", "c"):
        world.task(name, files=["x"])
    await world.start()
    await world.controller.reconcile(KEY)
    await world.settled()
    before = len(writes(world.api))

    await world.controller.reconcile(KEY)

    assert len(writes(world.api)) == before == 3


@pytest.mark.parametrize("fault", ["drop-after", "fail-after"])
async def test_a_claim_whose_answer_is_lost_counts_as_made(world: Scheduling, fault: Fault) -> None:
    world.project(limits={"maxAgents": 1})
    world.task("first", priority=1)
    world.task("second")
    await world.start()
    world.api.stall()
    world.api.fault = lambda call: fault if call.verb == "PATCH" else None
    with pytest.raises((TransportError, ApiError)):
        await world.controller.reconcile(KEY)
    world.api.fault = lambda _: None

    assert await world.guard.settle(KEY) == 0, "it is read live before the next look"
    await world.controller.reconcile(KEY)

    assert (world.state("first"), world.state("second")) == ("Claimed", "Open")
    assert world.reason("second") == "MaxAgents"


async def test_who_was_overtaken_by_another_write_holds_up_no_other_task(
    world: Scheduling,
) -> None:
    world.project()
    world.task("cancelled", priority=1)
    world.task("other")
    await world.start()
    world.api.stall()
    world.change("cancelled", feedback="somebody else was here")

    with pytest.raises(Conflict):
        await world.controller.reconcile(KEY)

    assert (world.state("cancelled"), world.state("other")) == ("Open", "Claimed")


@pytest.mark.parametrize("status", [400, 403, 422])
async def test_a_task_that_cannot_be_written_holds_up_no_other_task(
    world: Scheduling, status: int
) -> None:
    world.project()
    world.task("poisoned", priority=1)
    world.task("other")
    await world.start()

    def refuse(call: Call) -> Fault | None:
        return status if call.verb == "PATCH" and call.name == "poisoned" else None

    world.api.fault = refuse
    result = await world.controller.reconcile(KEY)

    assert (world.state("poisoned"), world.state("other")) == ("Open", "Claimed")
    assert result.requeue_after == REFUSED_SECONDS


def failing(*names: str, status: int = 500) -> Callable[[Call], Fault | None]:
    """A server of which somebody's webhook fails at these objects."""
    return lambda call: status if call.verb == "PATCH" and call.name in names else None


async def test_a_task_at_which_a_webhook_always_fails_holds_up_no_other_task(
    world: Scheduling,
) -> None:
    world.project(limits={"maxAgents": 2})
    for name, priority in (("poisoned", 1), ("other", 2), ("third", 3)):
        world.task(name, priority=priority)
    await world.start()
    world.run()
    world.api.fault = failing("poisoned")
    world.task("late", priority=4)

    await eventually(lambda: world.state("other") == "Claimed")
    await eventually(lambda: world.reason("late") == "MaxAgents")
    assert world.reason("third") == "MaxAgents", "a late claim of the first may still be applied"
    sent = writes(world.api).count("poisoned")
    world.change("other", state="Closed")
    await eventually(lambda: world.state("third") == "Claimed")
    assert world.reason("late") == "MaxAgents"
    assert writes(world.api).count("poisoned") <= sent + 2, "it is tried later and later"

    world.api.fault = lambda _: None
    await eventually(lambda: world.state("poisoned") == "Claimed", seconds=30)


@pytest.mark.parametrize(("status", "asks"), [(500, 0.0), (503, 3.0), (504, 0.0)])
async def test_what_may_still_be_written_is_kept_from_who_comes_before_it_in_the_order(
    world: Scheduling, status: int, asks: float
) -> None:
    world.project(limits={"maxAgents": 1})
    world.task("poisoned", priority=2)
    await world.start()
    world.api.fault = failing("poisoned", status=status)
    result = await world.controller.reconcile(KEY)
    assert result.requeue_after is not None
    assert max(asks - 1, 0) < result.requeue_after <= max(asks, FIRST_SECONDS)
    assert await world.guard.settle(KEY) == 0
    world.task("urgent", priority=1)
    await eventually(lambda: world.caches.tasks.get(Key(NAMESPACE, "urgent")) is not None)

    await world.controller.reconcile(KEY)
    assert (world.state("urgent"), world.reason("urgent")) == ("Open", "MaxAgents")


async def test_a_server_that_answers_nobody_is_asked_no_more_than_twice_in_a_look(
    world: Scheduling,
) -> None:
    world.project()
    for number in range(5):
        world.task(f"t{number}")
    await world.start()
    world.api.fault = lambda call: 500 if call.verb == "PATCH" else None

    with pytest.raises(ApiError):
        await world.controller.reconcile(KEY)

    assert len(writes(world.api)) == 2


async def test_a_plan_at_which_a_webhook_always_fails_holds_up_no_other_plan(
    world: Scheduling,
) -> None:
    world.project(limits={"maxAgents": 2})
    for name in ("a", "b", "c"):
        _put(world, name, beginning="Asks")
    await world.start()
    world.run()
    world.api.fault = failing("a")

    await eventually(
        lambda: world.api.get(PLANS, "b", NAMESPACE)["status"].get("beginning") == "Next"
    )
    world.api.fault = lambda _: None
    await eventually(
        lambda: world.api.get(PLANS, "a", NAMESPACE)["status"].get("beginning") == "Next"
    )


async def test_reasons_are_written_in_portions_so_that_a_freed_place_need_not_wait(
    world: Scheduling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "WAITS_AT_ONCE", 2)
    world.project(limits={"maxAgents": 1})
    for number in range(6):
        world.task(f"t{number}")
    await world.start()

    result = await world.controller.reconcile(KEY)

    assert result.requeue_after == 0
    assert writes(world.api) == ["t0", "t1", "t2"]


# --- what wakes it --------------------------------------------------------------------------------


async def test_a_task_that_is_being_deleted_keeps_its_place_and_wakes_the_next_when_it_is_gone(
    world: Scheduling,
) -> None:
    world.project(limits={"maxAgents": 1})
    world.task("first", objects.status(TaskState.IN_PROGRESS))
    world.task("second")
    await world.start()
    world.run()
    await eventually(lambda: world.reason("second") == "MaxAgents")
    live = world.api.get(TASKS, "first", NAMESPACE)
    going = live["metadata"] | {"deletionTimestamp": at(0).isoformat(), "finalizers": ["x"]}
    world.api.put(
        TASKS, "first", NAMESPACE, metadata=going, spec=live["spec"], status=live["status"]
    )
    world.task("third")
    await eventually(lambda: world.reason("third") == "MaxAgents")
    assert world.state("second") == "Open"

    world.api.remove(TASKS, "first", NAMESPACE)

    await eventually(lambda: world.state("second") == "Claimed")


async def test_what_depends_on_a_task_of_another_project_is_woken_by_its_end(
    world: Scheduling,
) -> None:
    world.project()
    world.project("other")
    world.task("upstream", objects.status(TaskState.DONE, project="other"), projectRef="other")
    world.task("downstream", dependsOn=["upstream"])
    await world.start()
    world.run()
    await eventually(lambda: world.reason("downstream") == "DependencyPending")

    world.change("upstream", state="Closed")

    await eventually(lambda: world.state("downstream") == "Claimed")


async def test_who_has_landed_gives_the_turn_to_the_next_in_line(world: Scheduling) -> None:
    delivery, asks = Delivery(state="Pending", onto="refs/heads/main"), objects.waits("MergeQueue")
    world.project()
    for name in ("a", "b"):
        world.task(name, objects.done(delivery=delivery, waiting=asks))
    await world.start()
    world.run()

    def step(name: str) -> object:
        return world.api.get(TASKS, name, NAMESPACE)["status"]["delivery"].get("step")

    await eventually(lambda: step("a") == "Next" and world.reason("b") == "MergeQueue")
    assert step("b") is None
    world.change("a", state="Closed")
    await eventually(lambda: step("b") == "Next")


async def test_a_plan_that_goes_on_wakes_its_tasks(world: Scheduling) -> None:
    world.project()
    uid = world.api.get(PROJECTS, "default", NAMESPACE)["metadata"]["uid"]
    began = PlanStatus(project="default", project_uid=uid)
    plan = objects.plan(suspend=True, status=began).dump()
    owned = {"uid": objects.PLAN_UID, "generation": 1}
    world.api.put(PLANS, "web", NAMESPACE, metadata=owned, spec=plan["spec"], status=plan["status"])
    task = objects.task("work", status=objects.status()).dump()
    owner = {"kind": "Plan", "name": "web", "uid": objects.PLAN_UID, "controller": True}
    meta = {
        "labels": task["metadata"]["labels"],
        "ownerReferences": [owner | {"apiVersion": PLANS.api_version}],
        "creationTimestamp": at(-60).isoformat(),
    }
    world.api.put(TASKS, "work", NAMESPACE, metadata=meta, spec=task["spec"], status=task["status"])
    await world.start()
    world.run()
    await eventually(lambda: world.reason("work") == "PlanSuspended")

    spec = plan["spec"] | {"suspend": False}
    going_on = {"uid": objects.PLAN_UID, "generation": 2}
    world.api.put(PLANS, "web", NAMESPACE, metadata=going_on, spec=spec, status=plan["status"])

    await eventually(lambda: world.state("work") == "Claimed")


async def test_plans_begin_one_after_the_other_where_one_agent_may_work(world: Scheduling) -> None:
    world.project(limits={"maxAgents": 1})
    for name in ("a", "b"):
        _put(world, name, beginning="Asks")
    await world.start()
    world.run()

    def turn(name: str) -> object:
        return world.api.get(PLANS, name, NAMESPACE)["status"].get("beginning")

    await eventually(lambda: turn("a") == "Next")
    assert turn("b") == "Asks"
    _put(world, "a")
    await eventually(lambda: turn("b") == "Next")


def _put(world: Scheduling, name: str, **status: Any) -> None:
    asked = PlanStatus(expanded=True, **status)
    plan = objects.plan(name, status=asked, begun=False).dump()
    world.api.put(PLANS, name, NAMESPACE, spec=plan["spec"], status=plan["status"])
