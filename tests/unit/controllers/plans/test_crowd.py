"""Of many Plans whose Jobs wait for the same the controller tells each whether it comes first, and
wakes the others when a pod shows that it is there."""

from __future__ import annotations

from datetime import datetime

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.waiting import Waiting
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import seeks, sought
from bernstein.controllers.plans.watches import watches
from bernstein.controllers.snapshots import plan_snapshot
from bernstein.core import labels, waiting
from bernstein.core.actions import PlanDecision
from bernstein.core.reasons.waits import SOON_SECONDS
from bernstein.kube.client import Client
from bernstein.kube.resource import PODS, Key, Object
from bernstein.resources import PLANS, PROJECTS
from tests.unit.core import objects
from tests.unit.core.delivery import plans as delivered
from tests.unit.core.objects import NAMESPACE, NOW, at, job, pod, running
from tests.unit.core.objects import waiting as not_started
from tests.unit.core.plans import decisions
from tests.unit.kube.apiserver import ApiServer

NO_SECRET = 'MountVolume.SetUp failed: secret "{}" not found'
MOVES = f"{NAMESPACE}/default/"


def rests(reason: str, text: str = "no", seconds: float = 50) -> Waiting:
    found = waiting.held(
        PlanStatus(), reason, text, objects.project(), NOW, seconds, alone=SOON_SECONDS
    ).waiting
    assert found is not None
    return found


class Plans:
    """Plans that cannot begin, in a cache of the operator."""

    def __init__(self, api: ApiServer, client: Client) -> None:
        self._api = api
        self.caches = Caches(client)

    async def begin(self) -> None:
        spec = objects.project().spec.dump()
        self._api.put(PROJECTS, "default", NAMESPACE, spec=spec)
        await self.caches.projects.informer.refresh(Key(NAMESPACE, "default"))

    async def put(self, name: str, waits: Waiting | None, *, suspend: bool = False) -> Object:
        status = PlanStatus(
            observed_generation=1, project="default", waiting=waits, expanded=True
        ).dump()
        spec = objects.plan(suspend=suspend).dump()["spec"]
        obj = self._api.put(PLANS, name, NAMESPACE, spec=spec, status=status)
        await self.caches.plans.informer.refresh(Key(NAMESPACE, name))
        return obj

    async def put_pod(self, name: str, *containers: Object, mounts: str = "git-work") -> Object:
        own = {labels.MANAGED_BY: labels.MANAGER, labels.PROJECT: "default", labels.JOB: "begin"}
        volumes = [{"name": "git", "secret": {"secretName": mounts}}]
        told = {"status": pod(*containers)["status"], "spec": {"volumes": volumes}}
        obj = self._api.put(PODS, name, NAMESPACE, metadata={"labels": own}, **told)
        await self.caches.pods.refresh(Key(NAMESPACE, name))
        return obj

    async def seen(self, name: str) -> tuple[int, datetime | None]:
        """How many others rest, and when it follows."""
        plan = self.caches.plans.get(Key(NAMESPACE, name))
        assert plan is not None
        found = await plan_snapshot(self.caches, plan, NOW)
        return found.resting, found.follows

    def told_of(self, old: Object | None, new: Object | None, *, pods: bool = True) -> list[str]:
        """Names of the Plans that are looked at when a pod, or another Plan, becomes `new`."""
        found: set[str] = set()
        of = self.caches.pods if pods else self.caches.plans.informer
        for watch in watches(self.caches):
            if watch.informer is of and (watch.when is None or watch.when(old, new)):
                found |= {key.name for obj in (old, new) if obj for key in watch.keys(obj)}
        return sorted(found)


@pytest.fixture
async def plans(api: ApiServer, client: Client) -> Plans:
    found = Plans(api, client)
    await found.begin()
    return found


async def test_when_the_first_ones_pod_begins_all_other_plans_are_told_and_follow(
    plans: Plans,
) -> None:
    names = [f"p-{number:03}" for number in range(30)]
    for name in names:
        await plans.put(name, rests("ImagePullFailed"))
    assert [await plans.seen(name) for name in (names[0], names[29])] == [(0, None), (29, None)]
    waits = await plans.put_pod("p-000-begin-1", not_started("begin"))
    assert plans.told_of(None, waits) == []

    begins = await plans.put_pod("p-000-begin-1", running("begin", at(9)))

    assert plans.told_of(waits, begins) == names
    _, last = await plans.seen(names[29])
    assert last is not None
    assert at(9) < last < at(10)


async def test_a_pod_shows_a_secret_only_to_those_that_wait_for_this_one(plans: Plans) -> None:
    for name, secret in (("a", "git-work"), ("b", "git-work"), ("c", "hook"), ("d", "hook")):
        await plans.put(name, rests("SecretNotFound", NO_SECRET.format(secret)))
    assert [(await plans.seen(name))[0] for name in "abcd"] == [0, 3, 0, 3]

    begins = await plans.put_pod("x-begin-0", running("begin", at(9)), mounts="hook")

    assert plans.told_of(None, begins) == ["c", "d"]
    assert (await plans.seen("b"))[1] is None


@pytest.mark.parametrize("reason", ["PodRejected", "ImagePullFailed"])
async def test_a_few_follow_for_each_pod_that_begins(plans: Plans, reason: str) -> None:
    names = [f"p-{number:02}" for number in range(80)]
    for name in names:
        await plans.put(name, rests(reason))

    told = []
    for number in range(3):
        begins = await plans.put_pod(f"pod-{number}", running("begin", at(9 + number)))
        told.append(plans.told_of(None, begins))

    assert told == [names[:32], names[32:64], names[64:]]


async def test_when_the_first_one_waits_no_more_the_next_one_is_looked_at(plans: Plans) -> None:
    for name in ("b", "c"):
        await plans.put(name, rests("PodRejected"))
    before = await plans.put("a", rests("PodRejected"))
    assert plans.told_of(before, before, pods=False) == []

    after = await plans.put("a", rests("PodRejected"), suspend=True)

    assert plans.told_of(before, after, pods=False) == ["b"]
    assert [(await plans.seen(name))[0] for name in "bc"] == [0, 2]


def as_stored(plan: Plan, decision: PlanDecision) -> Object:
    status = decision.status.model_copy(update={"project": "default"})
    return {**plan.model_copy(update={"status": status}).dump()}


def test_a_plan_that_nobody_has_looked_at_seeks_nothing() -> None:
    new = objects.plan().dump()
    del new["status"]

    assert (*seeks(new), *sought(new)) == ()


def test_a_plan_whose_begin_is_tried_again_goes_on_to_come_first() -> None:
    """Else the next one would try at once, too, and all of them within one try."""
    new, task = objects.plan(begun=False), decisions.task()
    stuck = job("web-begin-0", pod(not_started("begin", "ImagePullBackOff"), phase="Pending"))
    looked = [decisions.look(new)]
    for jobs, now in (((stuck,), 0.0), ((), 0.0), ((), 8.0), ((), 9.0)):
        plan = decisions.again(new, looked[-1])
        looked.append(decisions.look(plan, task, jobs=jobs, now=now))

    found = [seeks(as_stored(new, each)) for each in looked]

    assert [bool(each) for each in found] == [False, False, True, True, True]
    assert found[2] == found[3] == found[4] == {f"{MOVES}/ImagePullFailed/"}
    assert sought(as_stored(new, looked[2])) == {f"{MOVES}/image"}


def test_a_plan_whose_check_is_tried_again_goes_on_to_come_first() -> None:
    stuck = job("web-lint-0", pod(not_started("check", "ImagePullBackOff"), phase="Pending"))
    over = job("web-lint-0", objects.over(not_started("check", "ImagePullBackOff"), phase="Failed"))
    runs = job("web-lint-1", pod(not_started("check")))
    status = delivered.look(delivered.step("Preparing"), delivered.prepared()).status
    looked = []
    for ends, now in ((stuck, 0.0), (over, 0.0), (None, 8.0), (runs, 9.0)):
        looked.append(delivered.look(status, *((ends,) if ends else ()), now=now))
        status = looked[-1].status

    found = [seeks(as_stored(objects.plan(), each)) for each in looked]

    assert [bool(each) for each in found] == [False, True, True, True]
    assert found[1] == found[2] == found[3] == {f"{NAMESPACE}/default/lint/ImagePullFailed"}
    assert sought(as_stored(objects.plan(), looked[1])) == {f"{NAMESPACE}/default/lint/image"}
