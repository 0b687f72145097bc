"""The operator's processes: the real engine, killed and started again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta
from random import Random

from bernstein.controllers.engine import Engine, Tuning
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.traces.collector import Collector
from bernstein.kube.clock import Clock
from bernstein.kube.lease import Elector
from bernstein.observe.metrics import Metrics
from tests.model.client import ModelClient, Process, Trouble
from tests.model.cluster.store import NAMESPACE, Store

RESTART_SECONDS = 3.0
NEVER = 1e9


class Replica:
    """One of the operator's replicas: process after process, as the cluster restarts it."""

    def __init__(
        self,
        number: int,
        store: Store,
        trouble: Trouble,
        seed: int,
        collector: Collector | None = None,
    ) -> None:
        self.number = number
        self.jumped = 0.0
        """Seconds by which its time of day is ahead of the cluster's."""
        self.engine: Engine | None = None
        self.metrics = Metrics(process=False)
        """Of the process that lives now."""
        self.process = Process(number, 0)
        self._store = store
        self._trouble = trouble
        self._seed = seed
        self._collector = collector
        self._stop: asyncio.Event = asyncio.Event()
        self._cut_off_until = 0.0

    @property
    def leading(self) -> bool:
        return self.engine is not None and self.engine.elector.leading and not self.process.dead

    async def run(self) -> None:
        """Until cancelled."""
        await asyncio.sleep(0.3 * self.number)
        for life in range(10**6):
            self._stop = asyncio.Event()
            self.process = Process(self.number, life)
            self.process.cut_off_until = self._cut_off_until
            working = asyncio.create_task(self._live(self.process))
            self.process.die = lambda task=working: self._die(task)  # type: ignore[misc]
            try:
                await asyncio.wait({working})
            finally:
                working.cancel()
                with suppress(BaseException):
                    await working
            await asyncio.sleep(RESTART_SECONDS)

    async def _live(self, process: Process) -> None:
        random = Random(f"{self._seed}/jitter/{self.number}/{process.life}")
        clock = Clock(
            monotonic=asyncio.get_running_loop().time, now=self._now, jitter=random.random
        )
        client = ModelClient(self._store, self._trouble, process, self._seed)
        metrics = self.metrics = Metrics(process=False)
        identity = f"replica-{self.number}-{process.life}"
        self.engine = Engine(
            client,
            namespace=NAMESPACE,
            settings=OperatorSettings(image="bernstein:1"),
            metrics=metrics,
            identity=identity,
            watch=[NAMESPACE],
            tuning=Tuning(workers=2, resync_seconds=NEVER),
            clock=clock,
            collector=self._collector,
        )
        # A Lease that is renewed less often costs less: hours pass in every run.
        self.engine.elector = Elector(
            client,
            namespace=NAMESPACE,
            name="operator",
            identity=identity,
            duration=60.0,
            renew_deadline=45.0,
            retry_period=15.0,
            clock=clock,
            observer=metrics,
        )
        with suppress(Exception):
            await self.engine.run(self._stop)

    def _now(self) -> datetime:
        return self._store.now() + timedelta(seconds=self.jumped)

    def _die(self, working: asyncio.Task[None]) -> None:
        """From one moment to the next: none of its requests is sent any more."""
        self.process.dead = True
        working.cancel()

    def kill(self) -> None:
        self.process.die()

    def stop(self) -> None:
        """As on SIGTERM."""
        self._stop.set()

    def cut_off(self, seconds: float) -> None:
        self._cut_off_until = self.process.cut_off_until = self._store.seconds + seconds
