"""What people do and agents answer, up to the end: told with and without crashes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bernstein.api.pod import Usage
from tests.background import eventually
from tests.control_plane.controllers.kubelet import Pod, ends, exited, works
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import PATIENCE, World, stage
from tests.control_plane.objects import AGENT_SESSIONS, PLANS

PRICES = {"prices": [{"model": "sonnet", "input": "10", "output": "0"}]}
USED = Usage(input=100_000)
"""A dollar's worth."""


async def one_task(world: World) -> None:
    """Of a Plan; those of `conflict` have none."""
    world.kubelet.on("agent", works(usage=USED))
    await world.project(budget=PRICES)
    await world.plan("shop", [stage("a", "one")])
    await _plan_is(world, "Succeeded")


async def two_stages_with_a_retry(world: World) -> None:
    """The second stage's first attempt does not pass the gate."""
    world.kubelet.on("agent", works(usage=USED))
    world.kubelet.on(
        "shop-b-two-s1-lint-[0-9]", ends("Failed", check=exited(1, "F401 unused import"))
    )
    await world.project(budget=PRICES)
    await world.plan("shop", [stage("a", "one"), stage("b", "two")])
    await _plan_is(world, "Succeeded")


async def cancelled(world: World) -> None:
    """While the first stage's agent works, and the second waits."""

    async def until_asked(pod: Pod) -> None:
        await pod.start()
        await world.until(AGENT_SESSIONS, pod.job, lambda s: s["spec"].get("stop"))
        await pod.end("Succeeded", await pod.deliver(stopped="Cancelled", usage=USED))

    world.kubelet.on("agent", until_asked)
    await world.project(budget=PRICES)
    await world.plan("shop", [stage("a", "one"), stage("b", "two")])
    await world.task_in("shop-a-one", "InProgress")
    await world.change(PLANS, "shop", cancel={"reason": "not needed any more"})
    await _plan_is(world, "Cancelled")


async def conflict(world: World) -> None:
    """Two agents work on the same commit; when the second lands, the tip is not there any more."""
    remote = world.kubelet.remote
    worked: set[str] = set()

    async def first(pod: Pod) -> None:
        await pod.start()
        said = await pod.deliver(usage=USED)
        worked.add(pod.job)
        await eventually(lambda: len(worked) == 2, seconds=PATIENCE)
        await pod.end("Succeeded", said)

    async def second(pod: Pod) -> None:
        await pod.start()
        said = await pod.deliver(usage=USED)
        worked.add(pod.job)
        await world.task_in("one", "Closed")
        # Somebody else pushes: no status tells where the tip is.
        remote.commit(MAIN, remote.refs[MAIN])
        await pod.end("Succeeded", said)

    world.kubelet.on("one-s1", first)
    world.kubelet.on("two-s1", second)
    await world.project(budget=PRICES)
    await world.task("one")
    await world.task("two")
    await world.task_in("two", "Closed")


async def _plan_is(world: World, phase: str) -> None:
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == phase)


@dataclass(frozen=True)
class Story:
    tell: Callable[[World], Awaitable[None]]
    writes: int
    """The operator's, at the least; a few more where it looks more often."""


STORIES = {
    "one_task": Story(one_task, 25),
    "two_stages_with_a_retry": Story(two_stages_with_a_retry, 65),
    "cancelled": Story(cancelled, 28),
    "conflict": Story(conflict, 42),
}
