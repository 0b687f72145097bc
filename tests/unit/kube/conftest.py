import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from bernstein.kube.client import Client
from tests.unit.kube.apiserver import ApiServer


@pytest.fixture
async def api() -> AsyncIterator[ApiServer]:
    async with ApiServer.running() as server:
        yield server


@pytest.fixture
async def client(api: ApiServer) -> AsyncIterator[Client]:
    async with api.client(timeout=5.0) as client:
        yield client


class Background:
    """Tasks of a test, cancelled at its end."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Future[None]] = []

    def start(self, work: Awaitable[None]) -> asyncio.Future[None]:
        task = asyncio.ensure_future(work)
        self.tasks.append(task)
        return task

    async def stop(self) -> None:
        running = [task for task in self.tasks if not task.done()]
        for task in running:
            task.cancel()
        results = await asyncio.gather(*running, return_exceptions=True)
        self.tasks.clear()
        for result in results:
            if isinstance(result, Exception):
                raise result


@pytest.fixture
async def background() -> AsyncIterator[Background]:
    running = Background()
    yield running
    await running.stop()


async def eventually(holds: Callable[[], object], *, seconds: float = 10.0) -> None:
    """Waits until a condition holds."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - the conditions are other programs' states
            await asyncio.sleep(0.005)
