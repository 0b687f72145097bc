"""Many Tasks whose checks wait for the same image: when it is there, all of them get on."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from bernstein.core.reasons.waits import LATER_ON_SECONDS
from tests import background
from tests.control_plane.conftest import eventually
from tests.control_plane.controllers.kubelet import Pod, waits
from tests.control_plane.controllers.world import World, state_of
from tests.control_plane.objects import TASKS

NAMES = tuple("abcdefgh")
REST = timedelta(seconds=LATER_ON_SECONDS / 2)
"""So long all but the first one rest still when the image turns up."""


async def test_when_the_image_is_there_all_that_wait_for_it_try_before_the_first_verdict(
    world: World,
) -> None:
    there, may_end = asyncio.Event(), asyncio.Event()
    missing, begun = waits("check", "ErrImagePull", "no such image"), set[str]()

    async def lint(pod: Pod) -> None:
        if not there.is_set():
            await missing(pod)
            return
        await pod.start()
        begun.add(pod.job[0])
        await may_end.wait()
        await pod.end("Succeeded", {})

    await world.project(limits={"maxAgents": 20})
    world.kubelet.on("*-s1-lint-*", lint)
    await world.start()
    for name in NAMES:
        await world.task(name, maxRetries=0)
    await eventually(lambda: others_rest(world), 180)

    there.set()

    # 8 s until the first one tries, and some for its pod; on an idle machine 15 at most.
    await background.eventually(lambda: begun == {*NAMES}, seconds=REST.total_seconds() - 5)
    assert {state_of(task) for task in (await world.all(TASKS)).values()} == {"Done"}
    may_end.set()
    for name in NAMES:
        await world.task_in(name, "Closed")


async def others_rest(world: World) -> bool:
    """Whether all but the first one have a while yet until they try again by themselves."""
    tasks, later = await world.all(TASKS), datetime.now(UTC) + REST
    waiting = [tasks[name].get("status", {}).get("waiting") or {} for name in NAMES[1:]]
    ends = [each.get("until") for each in waiting if "untilAlone" in each]
    return len(ends) == len(waiting) and all(datetime.fromisoformat(e) > later for e in ends if e)
