"""Many Tasks whose checks wait for the same: when it is there, all of them get on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from bernstein.core.reasons import waits as times
from bernstein.kube.resource import PODS, Object, Resource
from tests import background
from tests.control_plane.conftest import eventually
from tests.control_plane.controllers.kubelet import Pod, after, waits, works
from tests.control_plane.controllers.world import World, state_of
from tests.control_plane.objects import TASKS
from tests.perf.pace import late

QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")
NAMES = tuple("abcdefgh")
NOTICED_SECONDS = 15
REST = timedelta(seconds=120)
"""So long all but the first one rest still when what they wait for turns up."""


@pytest.fixture(autouse=True)
def _others_rest_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they do in time, they have been told, however slow the machine is."""
    monkeypatch.setattr(times, "LATER_ON_SECONDS", 2 * REST.total_seconds())


class Checks:
    """The pods of a check, which tell of each that has begun, and end when they may."""

    def __init__(self) -> None:
        self.begun, self.may_end = set[str](), asyncio.Event()

    async def run(self, pod: Pod) -> None:
        await pod.start()
        self.begun.add(pod.job[0])
        await self.may_end.wait()
        await pod.end("Succeeded", {})


async def test_within_15_s_of_the_image_all_that_wait_for_it_try_before_the_first_verdict(
    world: World,
) -> None:
    there, checks = asyncio.Event(), Checks()
    missing = waits("check", "ErrImagePull", "no such image")

    async def lint(pod: Pod) -> None:
        await (checks.run if there.is_set() else missing)(pod)

    async def mend() -> None:
        there.set()

    await world.project(limits={"maxAgents": 20})
    world.kubelet.on("*-s1-lint-*", lint)
    await world.start()
    for name in NAMES:
        await world.task(name, maxRetries=0)

    await all_notice(world, checks, mend)


async def test_within_15_s_of_room_in_a_quota_all_that_wait_for_it_try_before_the_first_verdict(
    world: World,
) -> None:
    full, checks = asyncio.Event(), Checks()
    await world.project(limits={"maxAgents": 20})
    world.kubelet.on("agent", after(full, works()))
    world.kubelet.on("*-s1-lint-*", checks.run)
    await world.start()
    for name in NAMES:
        await world.task(name, maxRetries=0)
    await eventually(lambda: agents_are_there(world), 180)
    await room(world, "0")
    full.set()

    await all_notice(world, checks, lambda: room(world, "100"))


async def all_notice(world: World, checks: Checks, mend: Callable[[], Awaitable[None]]) -> None:
    await eventually(lambda: others_rest(world), 180)

    await mend()

    # 8 s until the first one tries, and some for its pod.
    bound = min(late(NOTICED_SECONDS), REST.total_seconds() - 5)
    await background.eventually(lambda: checks.begun == {*NAMES}, seconds=bound)
    assert {state_of(task) for task in (await world.all(TASKS)).values()} == {"Done"}
    checks.may_end.set()
    for name in NAMES:
        await world.task_in(name, "Closed")


async def room(world: World, pods: str) -> None:
    """The namespace may have so many pods, those that have ended included."""
    hard = {"count/pods": pods}
    meta = {"name": "bounds", "namespace": world.namespace}
    await world.apply(QUOTAS, {"metadata": meta, "spec": {"hard": hard}})
    await world.until(QUOTAS, "bounds", lambda q: q.get("status", {}).get("hard") == hard)


async def agents_are_there(world: World) -> bool:
    pods: dict[str, Object] = await world.all(PODS)
    return sum("-s1" in name for name in pods) >= len(NAMES)


async def others_rest(world: World) -> bool:
    """Whether all but the first one have a while yet until they try again by themselves, and that
    one is not at it."""
    tasks, later = await world.all(TASKS), datetime.now(UTC) + REST
    waiting = [tasks[name].get("status", {}).get("waiting") or {} for name in NAMES]
    ends = [each["until"] for each in waiting if {"until", "untilAlone"} <= each.keys()]
    return len(ends) == len(NAMES) and all(datetime.fromisoformat(e) > later for e in ends[1:])
