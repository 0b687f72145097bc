"""The operator is killed after each write of a story, behind a bad network, with and without a
second replica: the story ends as it does undisturbed. Where it is killed after every one, all that
can go wrong on the network has gone wrong.

BERNSTEIN_CRASH_AFTER says after which writes: `every`, or one number; else chance takes one of each
story. BERNSTEIN_CRASH_SEED is the number that this one and the faults are drawn from.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.crash.difference import explained
from tests.control_plane.controllers.crash.end_state import end_state
from tests.control_plane.controllers.crash.faults import Fault, Faults, never_met
from tests.control_plane.controllers.crash.operators import Nursery, deployment, nursery
from tests.control_plane.controllers.crash.proxy import Crash
from tests.control_plane.controllers.crash.stories import STORIES, Story
from tests.control_plane.controllers.world import PATIENCE, World

AFTER = os.environ.get("BERNSTEIN_CRASH_AFTER", "")
SEED = int(os.environ.get("BERNSTEIN_CRASH_SEED", "1"))
AT_ONCE = 8
"""Worlds side by side."""
STILL_SECONDS = 1.5
"""A story has ended once nobody has written for so long."""


@dataclass(frozen=True)
class Weather:
    """Under what a story is told; `heard`: see Crash."""

    replicas: int
    faults: bool
    heard: bool


WEATHERS = {
    "alone": Weather(replicas=1, faults=False, heard=False),
    "alone-faults": Weather(replicas=1, faults=True, heard=True),
    "two-faults": Weather(replicas=2, faults=True, heard=False),
}
SAMPLE = "two-faults"
SAMPLED = ("two_stages_with_a_retry", "cancelled", "asked_for", "proposed")
"""The stories of which each run tells one life: those with most kinds of writes."""


@dataclass(frozen=True)
class Whole:
    """A story that nothing disturbed."""

    writes: int
    end: dict[str, Any]


@dataclass(frozen=True)
class Teller:
    story: Story
    make_world: MakeWorld
    forks: Nursery
    folder: Path
    side_by_side: asyncio.Semaphore

    async def undisturbed(self) -> Whole:
        crash, world = Crash(), await self.make_world()
        async with deployment(world, self.forks, self.folder, crash):
            await self.story.tell(world)
            await _still(crash)
            await world.at_rest()
            return Whole(len(crash.writes), await end_state(world))

    async def disturbed(
        self, weather: Weather, after: int, whole: asyncio.Task[Whole]
    ) -> Counter[Fault]:
        """What has gone wrong on the network."""
        async with self.side_by_side:
            crash, world = Crash(after, weather.heard), await self.make_world()
            seed = f"{SEED} {after}"
            faults = Faults(seed, world.namespace) if weather.faults else None
            operators = deployment(
                world, self.forks, self.folder, crash, replicas=weather.replicas, faults=faults
            )
            try:
                async with operators as replicas:
                    await self.story.tell(world)
                    await _comes_to(world, (await whole).end, crash)
                killed = sum(replica.starts for replica in replicas) > weather.replicas
                assert killed or len(crash.writes) < after
                return faults.met if faults else Counter()
            except BaseException as error:
                write = crash.writes[after - 1 : after]
                error.add_note(f"seed {SEED}, {weather}, killed after write {after}: {write}")
                error.add_note(f"faults: {dict(faults.met) if faults else None}")
                raise


async def _still(crash: Crash) -> None:
    count = -1
    while count != len(crash.writes):
        count = len(crash.writes)
        await asyncio.sleep(STILL_SECONDS)


async def _comes_to(world: World, end: dict[str, Any], crash: Crash) -> None:
    """And stays there: the last writes come after what people wait for, and so would one that does
    harm."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while (found := await end_state(world)) != end:
        if asyncio.get_running_loop().time() >= deadline:
            pytest.fail(await explained(world, found, end), pytrace=False)
        await asyncio.sleep(0.2)
    await _still(crash)
    if (found := await end_state(world)) != end:
        pytest.fail(await explained(world, found, end), pytrace=False)


@pytest.fixture
async def forks() -> AsyncIterator[Nursery]:
    async with nursery() as started:
        yield started


@pytest.mark.parametrize("weather", WEATHERS if AFTER else [SAMPLE])
@pytest.mark.parametrize("name", STORIES if AFTER else SAMPLED)
async def test_a_story_ends_the_same_whatever_write_was_an_operators_last(
    name: str, weather: str, make_world: MakeWorld, forks: Nursery, tmp_path: Path
) -> None:
    story = STORIES[name]
    teller = Teller(story, make_world, forks, tmp_path, asyncio.Semaphore(AT_ONCE))
    whole = asyncio.create_task(teller.undisturbed())
    if AFTER == "every":
        points = list(range(1, (await whole).writes + 1))
    else:
        points = [int(AFTER or Random(f"{SEED} {name}").randint(1, story.writes))]
    told = await asyncio.gather(
        whole,
        *(teller.disturbed(WEATHERS[weather], after, whole) for after in points),
        return_exceptions=True,
    )
    if failed := [error for error in told if isinstance(error, BaseException)]:
        raise BaseExceptionGroup(f"{len(failed)} of {len(points)} ended otherwise", failed)
    if AFTER == "every" and WEATHERS[weather].faults:
        met = [story for story in told if isinstance(story, Counter)]
        assert not never_met(met), f"seed {SEED}: these never happened"
