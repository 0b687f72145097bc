"""Of many Tasks whose checks wait for the same, the controller tells each whether it tries for all,
and wakes the next one when the first has what it waited for."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.waiting import Waiting
from bernstein.controllers.caches import Caches
from bernstein.controllers.snapshots import plan_snapshot, task_snapshot
from bernstein.controllers.tasks.watches import watches
from bernstein.core import labels, waiting
from bernstein.core.reasons.waits import PROBE_SECONDS, SOON_SECONDS
from bernstein.kube.client import Client
from bernstein.kube.resource import Key, Object
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW
from tests.unit.kube.apiserver import ApiServer


def check(name: str = "lint", reason: str = "ImagePullFailed", verdict: str = "Errored") -> Object:
    return {"name": name, "kind": "gate", "verdict": verdict, "reason": reason}


class Tasks:
    """Tasks that are Done, in a cache of the operator."""

    def __init__(self, api: ApiServer, client: Client) -> None:
        self._api = api
        self.caches = Caches(client)

    async def begin(self) -> None:
        project = objects.project()
        self._api.put(PROJECTS, "default", NAMESPACE, spec=project.spec.dump())
        await self.caches.projects.informer.refresh(Key(NAMESPACE, "default"))

    async def put(
        self,
        name: str,
        *checks: Object,
        of: str = "default",
        waiting: Waiting | None = None,
        metadata: Object | None = None,
        **judged: Any,
    ) -> Object:
        verification = objects.verification(checks=[*checks], **judged)
        status = objects.done(verification=verification)
        status = status.model_copy(update={"project": of, "waiting": waiting})
        task = objects.task(name, plan=None, status=status).dump()
        parts = {"spec": task["spec"], "status": task["status"], "metadata": metadata or {}}
        obj = self._api.put(TASKS, name, NAMESPACE, **parts)
        await self.caches.tasks.informer.refresh(Key(NAMESPACE, name))
        return obj

    async def put_plan(self, name: str, waiting: Waiting) -> None:
        plan = objects.plan().dump()
        status = PlanStatus(observed_generation=1, project="default", waiting=waiting).dump()
        self._api.put(PLANS, name, NAMESPACE, spec=plan["spec"], status=status)
        await self.caches.plans.informer.refresh(Key(NAMESPACE, name))

    async def gone(self, name: str) -> None:
        self._api.remove(TASKS, name, NAMESPACE)
        await self.caches.tasks.informer.refresh(Key(NAMESPACE, name))

    async def crowd(self, name: str) -> int:
        found = await task_snapshot(self.caches, Key(NAMESPACE, name), NOW)
        assert found is not None
        assert found.status.state is TaskState.DONE
        return found.crowd

    def woken(self, old: Object, new: Object | None) -> set[str]:
        """Names of the Tasks that are looked at when one becomes `new`."""
        found: set[str] = set()
        for watch in watches(self.caches):
            of_tasks = watch.informer is self.caches.tasks.informer
            if of_tasks and (watch.when is None or watch.when(old, new)):
                found |= {key.name for obj in (old, new) if obj for key in watch.keys(obj)}
        return found


@pytest.fixture
async def tasks(api: ApiServer, client: Client) -> Tasks:
    found = Tasks(api, client)
    await found.begin()
    return found


async def test_the_first_one_tries_for_all(tasks: Tasks) -> None:
    for name in ("c", "a", "b"):
        await tasks.put(name, check())

    assert [await tasks.crowd(name) for name in "abc"] == [0, 3, 3]


async def test_what_waits_for_something_else_tries_that_itself(tasks: Tasks) -> None:
    await tasks.put("a", check())
    await tasks.put("b", check("own"))
    await tasks.put("c", check(reason="PodRejected"))
    await tasks.put("d", check(), of="another")
    await tasks.put("e", check(reason="ToolMissing"))
    await tasks.put("f", check(), passed=True)

    assert [await tasks.crowd(name) for name in "abcdef"] == [0] * 6


async def test_who_is_first_for_one_of_two_causes_tries(tasks: Tasks) -> None:
    await tasks.put("a", check())
    await tasks.put("b", check(), check("own"))
    await tasks.put("c", check("own"))

    assert [await tasks.crowd(name) for name in "abc"] == [0, 0, 2]


async def test_when_the_first_one_waits_no_more_the_next_one_is_looked_at(tasks: Tasks) -> None:
    before = await tasks.put("a", check())
    for name in ("b", "c"):
        await tasks.put(name, check())
    assert tasks.woken(before, before) == set()

    after = await tasks.put("a", check(reason="", verdict="Passed"), passed=True)

    assert tasks.woken(before, after) == {"b"}
    assert await tasks.crowd("b") == 0


def rests(alone: float | None, seconds: float | None = PROBE_SECONDS) -> Waiting:
    """What a check that cannot begin waits for."""
    subject = objects.project()
    found = waiting.held(
        objects.done(), "GateErrored", "no image", subject, NOW, seconds, alone=alone
    ).waiting
    assert found is not None
    return found


UNFIT = {
    "for a tool": rests(None),
    "for a change of the Project": rests(SOON_SECONDS, seconds=None),
    "for its Plan": waiting.wait("PlanGone", "gone", NOW, needs_person=True),
    "for its Job to go": waiting.wait("DeletionHeld", "held", NOW, needs_person=True),
}


@pytest.mark.parametrize("unfit", UNFIT)
async def test_who_waits_for_something_else_first_tries_for_nobody(
    tasks: Tasks, unfit: str
) -> None:
    for name in ("b", "c"):
        await tasks.put(name, check(), waiting=rests(SOON_SECONDS))
    before = await tasks.put("a", check(), waiting=rests(SOON_SECONDS))
    assert [await tasks.crowd(name) for name in "abc"] == [0, 3, 3]

    after = await tasks.put("a", check(), waiting=UNFIT[unfit])

    assert [await tasks.crowd(name) for name in "bc"] == [0, 2]
    assert tasks.woken(before, after) == {"b"}


async def test_who_is_being_deleted_tries_for_nobody(tasks: Tasks) -> None:
    for name in ("b", "c"):
        await tasks.put(name, check(), waiting=rests(SOON_SECONDS))
    gone = {"deletionTimestamp": NOW.isoformat(), "finalizers": [labels.FINALIZER]}

    await tasks.put("a", check(), waiting=rests(SOON_SECONDS), metadata=gone)

    assert [await tasks.crowd(name) for name in "bc"] == [0, 2]


async def test_who_tries_at_the_moment_goes_on_to_try_for_all(tasks: Tasks) -> None:
    unscheduled = waiting.wait("Unschedulable", "no node has room", NOW)
    for at_work in (None, unscheduled):
        await tasks.put("a", check(), waiting=at_work)
        await tasks.put("b", check(), waiting=rests(SOON_SECONDS))

        assert [await tasks.crowd(name) for name in "ab"] == [0, 2]


async def test_when_the_first_one_is_gone_the_next_one_is_looked_at(tasks: Tasks) -> None:
    for name in ("b", "c"):
        await tasks.put(name, check())
    first = await tasks.put("a", check())

    await tasks.gone("a")

    assert tasks.woken(first, None) == {"b"}


async def resting(tasks: Tasks, name: str) -> int:
    found = await task_snapshot(tasks.caches, Key(NAMESPACE, name), NOW)
    assert found is not None
    return found.resting


async def test_who_tries_to_land_is_told_how_many_others_of_the_project_do(tasks: Tasks) -> None:
    lands = waiting.wait("PodRejected", "quota", NOW, seconds=60, alone=8)
    for name in ("a", "b", "c"):
        await tasks.put(name, waiting=lands, passed=True)
    await tasks.put("d", waiting=lands, passed=True, of="another")
    await tasks.put("e", check(), waiting=rests(SOON_SECONDS))
    await tasks.put("f", waiting=waiting.wait("MergeQueue", "waits", NOW), passed=True)

    assert [await resting(tasks, name) for name in "abdef"] == [2, 2, 0, 3, 3]


async def test_a_plan_is_told_how_many_others_of_the_project_try_for_themselves(
    tasks: Tasks,
) -> None:
    rest = rests(SOON_SECONDS)
    for name in ("one", "two", "three"):
        await tasks.put_plan(name, rest)
    await tasks.put_plan("four", waiting.wait("BeginQueue", "waits", NOW))

    plan = tasks.caches.plans.get(Key(NAMESPACE, "one"))
    assert plan is not None
    assert (await plan_snapshot(tasks.caches, plan, NOW)).resting == 2
