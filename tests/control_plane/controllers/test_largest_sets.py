"""Many of the largest Tasks that the API server takes, and the largest object of each other kind:
no step of the engine's loop is long.

`tests/perf` measures the same on a cluster in memory; here the API server says what is legal, and
its answers are decoded. It is measured once, and held to the same 200 ms at the machine's pace.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest

from tests.control_plane.conftest import eventually
from tests.control_plane.controllers.kubelet import run
from tests.control_plane.controllers.world import QUIET, World
from tests.perf.pace import allowed
from tests.perf.test_largest_objects import LARGEST as PLANS_BY_KIND
from tests.perf.test_largest_sets import (
    LARGEST,
    MOST_SECONDS,
    Steps,
    name,
    told,
)

IN_MEMORY = (
    *("Plan with all edges", "Plan with twenty signals", "AgentSessions and Approvals"),
    *("edges in order", "edges in circles", "patterns"),
)
"""What the API server takes minutes to write, and what a node has to play to its end."""
KINDS = [kind for kind in LARGEST if kind not in IN_MEMORY]
AT_ONCE = 16
PATIENCE = 300.0


@pytest.fixture
def no_collection() -> Iterator[None]:
    """What the whole test run holds in memory is not the operator's."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("kind", KINDS)
async def test_no_step_of_the_loop_takes_200_ms_however_many_of_the_largest_objects_there_are(
    world: World, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    largest = LARGEST[kind]
    spec = {"gates": QUIET, "limits": {"maxAgents": largest.agents}, **largest.project()}
    await world.project(**spec)
    world.kubelet.on("agent", run)
    slots = asyncio.Semaphore(AT_ONCE)

    async def apply(number: int) -> None:
        async with slots:
            await world.task(name(number), **largest.spec(number))

    if largest.plan is not None:
        await world.plan("p", PLANS_BY_KIND[largest.plan])
    else:
        await asyncio.gather(*(apply(number) for number in range(largest.number)))
    steps = Steps(monkeypatch)
    replica = await world.start()

    async def all_are_told() -> bool:
        await asyncio.sleep(1)
        found = told(replica.engine.caches.tasks.informer.objects())
        return found.total() == largest.number and set(found) <= largest.reasons

    await eventually(all_are_told, PATIENCE)
    monkeypatch.undo()

    shown = f"{kind}: the longest step took {steps.longest * 1000:.0f} ms of {steps.all:.1f} s"
    print(f"\n{shown}")
    assert steps.longest < allowed(MOST_SECONDS), f"{shown}: {steps.of_what}"
