"""What comes within a minute of a write is written later, whether more comes or not."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from bernstein.controllers.gate_caches import LOOK_SECONDS, MOST_FAILURES
from bernstein.kube.client import Client
from bernstein.kube.errors import LostLeadership
from tests.background import Background, eventually
from tests.unit.controllers.gate_caches.leading import ONE, TWO, Process, stored, written
from tests.unit.kube.apiserver import ApiServer, Call


class Leads:
    """Of a process that leads for a while."""

    def __init__(self) -> None:
        self.leads = True

    def check(self) -> float:
        if not self.leads:
            raise LostLeadership("b does not hold the Lease")
        return float("inf")


async def test_what_came_in_the_minute_is_written_when_it_is_over_though_nothing_else_comes(
    api: ApiServer, process: Process, background: Background
) -> None:
    background.start(process.caches.run())
    await process.known()
    await process.keep(ONE)
    await process.keep(TWO)
    assert stored(api) == {ONE}

    await eventually(lambda: stored(api) == {ONE, TWO})

    assert written(api) == ["POST", "PATCH"]


async def test_what_came_in_the_minute_is_written_when_the_process_ends(
    api: ApiServer, client: Client, process: Process
) -> None:
    await process.known()
    await process.keep(ONE)
    leading = asyncio.create_task(process.caches.run())
    await asyncio.sleep(0)
    await process.keep(TWO)

    leading.cancel()
    await asyncio.wait({leading})

    assert leading.cancelled()
    assert await Process(client).known() == {ONE, TWO}


async def test_nothing_is_written_for_a_project_that_is_gone(
    api: ApiServer, process: Process
) -> None:
    await process.known()
    await process.keep(ONE)
    await process.keep(TWO)
    process.there.clear()
    leading = asyncio.create_task(process.caches.run())
    await asyncio.sleep(0)

    leading.cancel()
    await asyncio.wait({leading})

    assert written(api) == ["POST"]


async def test_where_it_leads_no_more_nothing_is_written_at_the_end(
    api: ApiServer, client: Client
) -> None:
    fence = Leads()
    process = Process(client, fence)
    await process.known()
    await process.keep(ONE)
    await process.keep(TWO)
    fence.leads = False
    leading = asyncio.create_task(process.caches.run())
    await asyncio.sleep(0)

    leading.cancel()
    await asyncio.wait({leading})

    assert stored(api) == {ONE}


@pytest.mark.parametrize("fault", ["drop-after", "drop-before", 403, 409, 500])
async def test_a_write_that_fails_is_made_up_for_though_nobody_asks(
    api: ApiServer, process: Process, background: Background, fault: Any
) -> None:
    failed: list[str] = []

    def once(call: Call) -> Any:
        if call.verb != "PATCH" or failed:
            return None
        failed.append(call.verb)
        return fault

    api.fault = once
    await process.known()
    await process.keep(ONE)
    await process.keep(TWO)
    background.start(process.caches.run())

    await eventually(lambda: bool(failed) and stored(api) == {ONE, TWO})


@pytest.mark.parametrize("fault", [403, 500])
async def test_a_write_that_goes_on_failing_is_tried_later_and_later_and_then_no_more(
    api: ApiServer, process: Process, background: Background, fault: int
) -> None:
    tries: list[float] = []

    def broken(call: Call) -> Any:
        if call.verb == "GET":
            return None
        tries.append(process.seconds)
        return fault

    api.fault = broken
    await process.known()
    await process.keep(ONE)
    background.start(process.caches.run())
    await eventually(lambda: process.caches.waits_for_nothing)

    apart = [second - first for first, second in pairwise(tries)]
    assert len(tries) == MOST_FAILURES
    assert all(60 * 2**n <= gap < 60 * 2**n + LOOK_SECONDS for n, gap in enumerate(apart))

    # What comes then is written with it.
    api.fault = lambda _: None
    await process.keep(TWO)
    await eventually(lambda: process.caches.waits_for_nothing)
    assert stored(api) == {ONE, TWO}
