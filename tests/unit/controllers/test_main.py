"""How the operator's process ends."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
import structlog.testing

from bernstein.controllers.__main__ import failures_of
from bernstein.controllers.engine import Engine
from bernstein.kube.errors import LostLeadership

LOST = LostLeadership("the Lease b could not be renewed in time")


class Fails:
    """An engine that ends with an error, or without."""

    def __init__(self, error: BaseException | None) -> None:
        self._error = error

    async def run(self, _: asyncio.Event) -> None:
        if self._error is not None:
            raise self._error


async def ended(error: BaseException | None) -> tuple[int, list[Any]]:
    """How many failures there were, and what was logged."""
    with structlog.testing.capture_logs() as logged:
        failures = await failures_of(cast("Engine", Fails(error)), asyncio.Event())
    return len(failures), list(logged)


@pytest.mark.parametrize(
    "error",
    [LOST, ExceptionGroup("tasks", [LOST]), ExceptionGroup("a", [ExceptionGroup("b", [LOST])])],
)
async def test_a_lost_lease_is_one_plain_line_and_still_a_failure(error: Exception) -> None:
    failures, logged = await ended(error)

    assert failures == 1
    (line,) = logged
    assert (line["log_level"], line["message"]) == ("error", str(LOST))
    assert not line.get("exc_info")


async def test_whatever_else_ends_it_is_told_with_where_it_was() -> None:
    failures, logged = await ended(ExceptionGroup("tasks", [LOST, ValueError("x")]))

    assert failures == 2
    assert [bool(line.get("exc_info")) for line in logged] == [False, True]


async def test_an_engine_that_was_stopped_has_not_failed() -> None:
    assert await ended(None) == (0, [])
