"""Of many Tasks whose checks wait for the same, the controller tells each whether it tries for all,
and wakes the next one when the first has what it waited for."""

from __future__ import annotations

from datetime import datetime
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
from bernstein.kube.resource import PODS, Key, Object, Resource
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW, at, ended, running
from tests.unit.core.objects import waiting as not_started
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

    async def gone(self, name: str, of: Resource = TASKS) -> None:
        self._api.remove(of, name, NAMESPACE)
        informer = self.caches.tasks.informer if of is TASKS else self.caches.pods
        await informer.refresh(Key(NAMESPACE, name))

    async def crowd(self, name: str) -> int:
        found = await task_snapshot(self.caches, Key(NAMESPACE, name), NOW)
        assert found is not None
        assert found.status.state is TaskState.DONE
        return found.crowd

    async def put_pod(self, name: str, *containers: Object, check: str = "lint") -> Object:
        own = {labels.MANAGED_BY: labels.MANAGER, labels.PROJECT: "default"}
        own |= {labels.CHECK: check, labels.JOB: "check"}
        status = objects.pod(*containers)["status"]
        obj = self._api.put(PODS, name, NAMESPACE, metadata={"labels": own}, status=status)
        await self.caches.pods.refresh(Key(NAMESPACE, name))
        return obj

    async def follows(self, name: str) -> datetime | None:
        found = await task_snapshot(self.caches, Key(NAMESPACE, name), NOW)
        assert found is not None
        return found.follows

    def told_of(self, old: Object | None, new: Object) -> list[str]:
        """Names of the Tasks that are looked at when the pod of another one becomes `new`."""
        found: list[str] = []
        for watch in watches(self.caches):
            of_pods = watch.informer is self.caches.pods
            if of_pods and (watch.when is None or watch.when(old, new)):
                found += [key.name for key in watch.keys(new)]
        return sorted(found)

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


async def test_who_tries_to_land_is_told_how_many_others_do_and_the_first_one_of_none(
    tasks: Tasks,
) -> None:
    lands = waiting.wait("PodRejected", "quota", NOW, seconds=60, alone=8)
    for name in ("a", "b", "c"):
        await tasks.put(name, waiting=lands, passed=True)
    await tasks.put("d", waiting=lands, passed=True, of="another")
    await tasks.put("e", check(), waiting=rests(SOON_SECONDS))
    await tasks.put("f", waiting=waiting.wait("MergeQueue", "waits", NOW), passed=True)

    assert [await resting(tasks, name) for name in "abdef"] == [0, 2, 0, 3, 3]


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


# --- the pod of another one has begun


async def wait_for_the_image(tasks: Tasks, *names: str, reason: str = "ImagePullFailed") -> None:
    """They failed at NOW; the first one tries again."""
    for name in names:
        again = [{"check": each, "round": 2} for each in ("lint", "lint.base")]
        resting = rests(SOON_SECONDS) if name != min(names) else None
        judged: Object = {"round": 2, "since": 0, "again": again}
        await tasks.put(name, check(reason=reason), waiting=resting, **judged)


async def test_when_the_first_ones_pod_begins_all_others_are_told_and_follow(tasks: Tasks) -> None:
    await wait_for_the_image(tasks, "a", "b", "c", "d")
    clones = await tasks.put_pod("a-lint-2", running("checkout"), not_started("check"))
    assert tasks.told_of(None, clones) == []
    assert [await tasks.follows(name) for name in "abcd"] == [None] * 4

    begins = await tasks.put_pod("a-lint-2", ended("checkout"), running("check", at(20)))

    assert tasks.told_of(clones, begins) == ["b", "c", "d"]
    assert await tasks.follows("a") is None, "it tries already"
    turns = [await tasks.follows(name) or NOW for name in "bcd"]
    assert [at(20), *turns, at(21)] == sorted({at(20), *turns, at(21)})
    assert [await tasks.crowd(name) for name in "abcd"] == [0, 4, 4, 4]


async def test_a_pod_of_the_same_check_that_never_waited_shows_it_as_well(tasks: Tasks) -> None:
    await wait_for_the_image(tasks, "a", "b")

    begins = await tasks.put_pod("z-lint-0", ended("checkout"), running("check", at(20)))

    assert tasks.told_of(None, begins) == ["b"]
    assert await tasks.follows("b") is not None


async def test_nobody_is_told_twice_and_nobody_of_what_was_before_or_of_another_check(
    tasks: Tasks,
) -> None:
    await wait_for_the_image(tasks, "a", "b")
    begun = running("check", at(-5))
    for name, of in (("early", "lint"), ("other", "own")):
        pod = await tasks.put_pod(name, ended("checkout"), begun, check=of)
        assert tasks.told_of(None, pod) == []
    assert await tasks.follows("b") is None
    first = await tasks.put_pod("a-lint-2", ended("checkout"), running("check", at(20)))
    assert tasks.told_of(None, first) == ["b"]
    assert tasks.told_of(first, first) == []

    second = await tasks.put_pod("z-lint-0", ended("checkout"), running("check", at(22)))

    assert tasks.told_of(None, second) == []


async def test_who_waits_for_two_checks_follows_when_both_have_begun(tasks: Tasks) -> None:
    both = [{"check": each, "round": 1} for each in ("lint", "own")]
    judged: Object = {"round": 1, "since": 0, "again": both}
    await tasks.put("a", check(), check("own"), waiting=rests(SOON_SECONDS), **judged)

    await tasks.put_pod("lint", ended("checkout"), running("check", at(20)))
    assert await tasks.follows("a") is None
    begins = await tasks.put_pod("own", running("check", at(30)), check="own")

    assert await tasks.follows("a") == at(30)
    assert tasks.told_of(None, begins) == ["a"]


@pytest.mark.parametrize("reason", ["PodRejected", "ImagePullFailed"])
async def test_each_pod_that_begins_lets_a_few_try(tasks: Tasks, reason: str) -> None:
    names = [f"t-{number:02}" for number in range(80)]
    await wait_for_the_image(tasks, *names, reason=reason)

    told = []
    for number in range(3):
        begun = [running(name, at(20 + number)) for name in ("checkout", "check")]
        pod = await tasks.put_pod(f"pod-{number}", *begun)
        told.append(tasks.told_of(None, pod))

    assert told == [names[1:32], names[32:64], names[64:80]]
    assert await tasks.follows("t-79") is not None


async def test_a_sidecar_that_was_started_tells_nobody_that_waits_for_an_image(
    tasks: Tasks,
) -> None:
    await wait_for_the_image(tasks, "a", "b")

    pod = await tasks.put_pod("a-lint-2", running("istio-proxy", at(20)), not_started("check"))

    assert tasks.told_of(None, pod) == []
    assert await tasks.follows("b") is None


async def test_a_pod_that_is_gone_shows_nothing_and_who_waits_no_more_takes_no_place(
    tasks: Tasks,
) -> None:
    names = [f"t-{number:02}" for number in range(33)]
    await wait_for_the_image(tasks, *names)
    begun = ended("checkout"), running("check", at(20))
    await tasks.put_pod("a-lint-2", *begun)
    assert await tasks.follows("t-32") is None

    await tasks.put("t-05", check(reason="", verdict="Passed"), passed=True)

    assert await tasks.follows("t-32") is not None
    await tasks.gone("a-lint-2", PODS)
    assert await tasks.follows("t-32") is None
