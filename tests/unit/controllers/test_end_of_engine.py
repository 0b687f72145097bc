"""How the operator's process ends."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from structlog.testing import CapturedCall, CapturingLogger

from bernstein.controllers import engine
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


async def ended(
    monkeypatch: pytest.MonkeyPatch, error: BaseException | None
) -> tuple[int, list[CapturedCall]]:
    """How many failures there were, and what was logged."""
    log = CapturingLogger()
    monkeypatch.setattr(engine, "log", log)
    failures = await engine.failures_of(cast("Engine", Fails(error)), asyncio.Event())
    return len(failures), log.calls


@pytest.mark.parametrize(
    "error",
    [LOST, ExceptionGroup("tasks", [LOST]), ExceptionGroup("a", [ExceptionGroup("b", [LOST])])],
)
async def test_a_lost_lease_is_one_plain_line_and_still_a_failure(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    failures, logged = await ended(monkeypatch, error)

    assert failures == 1
    (line,) = logged
    assert (line.method_name, line.kwargs) == ("error", {"message": str(LOST)})


async def test_whatever_else_ends_it_is_told_with_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures, logged = await ended(monkeypatch, ExceptionGroup("tasks", [LOST, ValueError("x")]))

    assert failures == 2
    assert [line.method_name for line in logged] == ["error", "exception"]


async def test_an_engine_that_was_stopped_has_not_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await ended(monkeypatch, None) == (0, [])
