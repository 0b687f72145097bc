"""Stories of workflows on a real API server: each run is a Task, and all of them are told alike,
also where the operator dies on the way.

After which write it dies is drawn anew in each run; BERNSTEIN_CRASH_SEED, which a failure names,
draws the same ones again."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from types import ModuleType

import pytest

from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.mortal import Life, mortal, over_or
from tests.control_plane.controllers.workflows.teller import Teller, assert_told
from tests.control_plane.controllers.world import QUIET, World
from tests.control_plane.node_logs import NodeLogs
from tests.unit.core.plans.workflows.stories import (
    approvals,
    failures,
    joins,
    loops,
    retries,
    values,
)
from tests.unit.core.plans.workflows.stories.story import Story

AT_ONCE = 4
"""Stories that are told side by side."""
SEED = os.environ.get("BERNSTEIN_CRASH_SEED") or str(random.randrange(10**6))
ROOMS = (approvals, failures, joins, loops, retries, values)
every_room = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__.split(".")[-1])


async def _told(room: ModuleType, tell: Callable[[Story], Awaitable[None]]) -> None:
    side_by_side = asyncio.Semaphore(AT_ONCE)

    async def one(story: Story) -> None:
        async with side_by_side:
            try:
                await tell(story)
            except BaseException as error:
                error.add_note(f"in the story: {story.name}")
                raise

    async with asyncio.TaskGroup() as stories:
        for story in room.STORIES:
            stories.create_task(one(story))


async def _quiet(make_world: MakeWorld) -> World:
    world = await make_world()
    await world.project(gates=QUIET)
    return world


@every_room
async def test_a_story_goes_as_it_is_told(
    room: ModuleType, make_world: MakeWorld, user: str, logs: NodeLogs
) -> None:
    async def tell(story: Story) -> None:
        world = await _quiet(make_world)
        await world.start()
        teller = Teller(world, story, user, logs)
        await teller.apply()
        await assert_told(world, story, await teller.tell())

    await _told(room, tell)


@every_room
async def test_an_operator_that_dies_after_any_write_tells_the_same_story(
    room: ModuleType, make_world: MakeWorld, user: str, logs: NodeLogs
) -> None:
    async def tell(story: Story) -> None:
        chance = random.Random(f"{SEED} {story.name}")
        world = await _quiet(make_world)
        life = Life(lasts=chance.randint(3, 12 + 8 * len(story.order.split())))
        first = await world.start(client=mortal(life))
        teller = Teller(world, story, user, logs)
        await teller.apply()
        done = asyncio.create_task(teller.tell())
        if await over_or(done, life):
            await first.kill()
            await world.start(lease="second")
        await assert_told(world, story, await done)

    async def drawn(story: Story) -> None:
        try:
            await tell(story)
        except BaseException as error:
            error.add_note(f"BERNSTEIN_CRASH_SEED={SEED} dies after the same write")
            raise

    await _told(room, drawn)
