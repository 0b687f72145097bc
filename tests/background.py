"""Work beside a test, and waiting for what it brings about."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable


class Background:
    """Tasks of a test, cancelled at its end."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Future[None]] = []

    def start(self, work: Awaitable[None]) -> asyncio.Future[None]:
        task = asyncio.ensure_future(work)
        self.tasks.append(task)
        return task

    async def stop(self) -> None:
        """Raises what a task raises that still ran; the others' errors are the test's affair."""
        running = [task for task in self.tasks if not task.done()]
        for task in running:
            task.cancel()
        results = await asyncio.gather(*running, return_exceptions=True)
        self.tasks.clear()
        for result in results:
            if isinstance(result, Exception):
                raise result


async def eventually(holds: Callable[[], object], *, seconds: float = 60.0) -> None:
    """Waits until a condition holds."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - the conditions are other programs' states
            await asyncio.sleep(0.005)


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Waits until a condition holds, for tests without an event loop."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
