"""Objects that are watched, and a bell that rings when one of them changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from bernstein.kube.informer import Informer
from bernstein.kube.resource import Object


class Bell:
    """Rings when an object of these informers changes."""

    def __init__(self, informers: Iterable[Informer]) -> None:
        self._informers = tuple(informers)
        self._rung = asyncio.Event()
        for informer in self._informers:
            informer.add_handler(self.ring)

    def ring(self, old: Object | None, new: Object | None) -> None:
        """A handler, also for an informer whose loss is no trouble."""
        del old, new
        self._rung.set()

    async def changed(self, at_most: float) -> None:
        """Returns when something changed, or after `at_most` seconds."""
        try:
            async with asyncio.timeout(at_most):
                await self._rung.wait()
        except TimeoutError:
            return
        self._rung.clear()

    def trouble(self) -> str:
        """Why they cannot be watched at the moment, or ""."""
        error = next((i.last_error for i in self._informers if i.last_error is not None), None)
        return "" if error is None else f"connection lost, trying again ({error.reason})"


@asynccontextmanager
async def running(informers: Iterable[Informer], needed: Iterable[Informer]) -> AsyncIterator[None]:
    """Lists and watches while the block runs; enters it once the `needed` ones have their lists."""
    tasks = [asyncio.create_task(informer.run()) for informer in informers]
    try:
        for informer in needed:
            await informer.synced()
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
