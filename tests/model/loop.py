"""An event loop in which no time passes while anything can run, and then as much as is needed."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

START = 1000.0
"""Seconds on the monotonic clock when a run begins."""


class Standstill(Exception):  # noqa: N818 - it says what happened
    """Nothing is scheduled any more, and what was asked for has not ended."""


class _Jumping(selectors.SelectSelector):
    """Waits for no file: it moves the clock to the next timer instead."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = START

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Standstill
        self.seconds += max(0.0, timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop on a clock that jumps. What would run in a thread runs at once."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.seconds

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever awaits
            future.set_exception(error)
        return future


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs it to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
