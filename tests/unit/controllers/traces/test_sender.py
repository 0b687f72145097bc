"""What the sender does with a collector that is down, slow, or does not want what it gets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from bernstein.controllers.traces.collector import Later, Refused, Taken
from bernstein.controllers.traces.sender import (
    GATHER_SECONDS,
    LAST_SECONDS,
    LONGEST_ASKED,
    LONGEST_PAUSE,
    MOST_AT_ONCE,
    MOST_WAITING,
    PATIENCE,
)
from tests.model.loop import run
from tests.unit.controllers.traces.played import Played, Sending, spans

DOWN = Later("no answer: ClientConnectorError")


def virtual(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """The test on a clock that jumps: minutes take no time."""

    def played() -> None:
        run(test())

    played.__name__ = test.__name__
    return played


async def minutes(number: float) -> None:
    await asyncio.sleep(60 * number)


@virtual
async def test_what_comes_within_some_seconds_is_one_request() -> None:
    collector = Played()
    sending = Sending(collector)
    sending.sender.offer(spans(2))
    await asyncio.sleep(GATHER_SECONDS / 2)
    sending.sender.offer(spans(1, first=2))
    await minutes(1)

    assert collector.sent == [spans(3)]
    assert (sending.counted("sent"), sending.counted("dropped")) == (3, 0)
    await sending.end()


@virtual
async def test_many_are_several_requests_one_after_another() -> None:
    collector = Played(seconds=1)
    sending = Sending(collector)
    sending.sender.offer(spans(MOST_AT_ONCE + 1))
    await minutes(1)

    assert [len(each) for each in collector.sent] == [MOST_AT_ONCE, 1]
    assert collector.at[1] - collector.at[0] == 1
    await sending.end()


@virtual
async def test_a_collector_that_is_down_is_asked_later_and_later_and_gets_all_in_the_end() -> None:
    collector = Played(*[DOWN] * 8, Taken())
    sending = Sending(collector)
    sending.sender.offer(spans(3))
    await minutes(9)

    pauses = [after - before for before, after in zip(collector.at, collector.at[1:], strict=False)]
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE, LONGEST_PAUSE]
    assert collector.sent[-1] == spans(3)
    assert (sending.counted("sent"), sending.counted("dropped")) == (3, 0)
    await sending.end()


@virtual
async def test_what_nobody_takes_for_long_is_dropped_and_counted() -> None:
    collector = Played(DOWN)
    sending = Sending(collector)
    sending.sender.offer(spans(3))
    await minutes(PATIENCE / 60 + 1)

    assert sending.counted("dropped") == 3
    tries = len(collector.sent)
    await minutes(30)
    assert len(collector.sent) == tries
    await sending.end()


@virtual
async def test_all_that_has_waited_so_long_is_dropped_and_no_more() -> None:
    collector = Played(DOWN)
    sending = Sending(collector)
    sending.sender.offer(spans(3 * MOST_AT_ONCE))
    await minutes(PATIENCE / 60 / 2)
    sending.sender.offer(spans(2))
    await minutes(PATIENCE / 60 / 2 + 1)

    assert sending.counted("dropped") == 3 * MOST_AT_ONCE
    await minutes(PATIENCE / 60 / 2)
    assert sending.counted("dropped") == 3 * MOST_AT_ONCE + 2
    pauses = [after - before for before, after in zip(collector.at, collector.at[1:], strict=False)]
    assert set(pauses[6:]) == {LONGEST_PAUSE}
    await sending.end()


@virtual
async def test_more_than_there_is_room_for_is_dropped_at_once() -> None:
    collector = Played(DOWN)
    sending = Sending(collector)
    for _ in range(3):
        sending.sender.offer(spans(MOST_WAITING))

    assert sending.counted("dropped") == 2 * MOST_WAITING
    await sending.end()


@virtual
async def test_a_slow_collector_keeps_nobody_who_offers() -> None:
    collector = Played(seconds=9)
    sending = Sending(collector)
    sending.sender.offer(spans(1))
    await asyncio.sleep(GATHER_SECONDS + 1)
    sending.sender.offer(spans(1, first=1))
    await minutes(1)

    assert collector.sent == [spans(1), spans(1, first=1)]
    assert collector.at[1] - collector.at[0] == 9
    await sending.end()


@virtual
async def test_a_collector_that_says_when_to_come_back_is_left_alone_until_then() -> None:
    collector = Played(Later("HTTP 429", after=40.0), Taken())
    sending = Sending(collector)
    sending.sender.offer(spans(1))
    await minutes(2)

    assert collector.at[1] - collector.at[0] == 40
    await sending.end()


@virtual
async def test_no_collector_is_left_alone_for_hours() -> None:
    collector = Played(Later("HTTP 429", after=1e6), Taken())
    sending = Sending(collector)
    sending.sender.offer(spans(1))
    await minutes(8)

    assert collector.at[1] - collector.at[0] == LONGEST_ASKED
    await sending.end()


@virtual
async def test_what_is_refused_is_not_sent_again_and_keeps_nothing_up() -> None:
    collector = Played(Refused("HTTP 400"), Taken())
    sending = Sending(collector)
    sending.sender.offer(spans(MOST_AT_ONCE + 1))
    await minutes(1)

    assert [len(each) for each in collector.sent] == [MOST_AT_ONCE, 1]
    assert (sending.counted("refused"), sending.counted("sent")) == (MOST_AT_ONCE, 1)
    await sending.end()


@virtual
async def test_of_what_is_taken_in_part_the_rest_counts_as_refused() -> None:
    collector = Played(Taken(refused=2, message="too old\x1b[31m"))
    sending = Sending(collector)
    sending.sender.offer(spans(5))
    await minutes(1)

    assert (sending.counted("sent"), sending.counted("refused")) == (3, 2)
    assert len(collector.sent) == 1
    await sending.end()


@virtual
async def test_a_collector_that_refuses_more_than_it_got_is_not_believed() -> None:
    sending = Sending(Played(Taken(refused=10**9)))
    sending.sender.offer(spans(5))
    await minutes(1)

    assert (sending.counted("sent"), sending.counted("refused")) == (0, 5)
    await sending.end()


@virtual
async def test_what_is_left_at_the_end_is_sent_once_more() -> None:
    collector = Played()
    sending = Sending(collector)
    sending.sender.offer(spans(2))
    await asyncio.sleep(0)
    await sending.end()

    assert collector.sent == [spans(2)]
    assert sending.counted("sent") == 2


@virtual
async def test_the_end_waits_for_no_collector() -> None:
    sending = Sending(Played(seconds=3600))
    sending.sender.offer(spans(2))
    await asyncio.sleep(0)
    begun = asyncio.get_running_loop().time()
    await sending.end()

    assert asyncio.get_running_loop().time() - begun <= LAST_SECONDS < 1
