"""Objects that are watched, and a bell that rings when one of them changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from typing import TypeVar

import structlog

from bernstein.api import plan as plans
from bernstein.api import task as tasks
from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster
from bernstein.core import owners
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Object
from bernstein.resources import PLANS, TASKS


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
    with _without_logs():
        tasks = [asyncio.create_task(informer.run()) for informer in informers]
        try:
            for informer in needed:
                await informer.synced()
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def _without_logs() -> Iterator[None]:
    """Silence the engine's log, of lost watches above all: commands tell of them themselves."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    finally:
        structlog.configure(**before)


T = TypeVar("T", Plan, Task)


class PlansAndTasks:
    """All of the namespace, or of all, as the last event of each has shown them.

    Each is parsed when it changes: there may be thousands, and somebody looks every second.
    """

    def __init__(self, cluster: Cluster, *, everywhere: bool = False) -> None:
        here = None if everywhere else [cluster.namespace]
        self.plans = Informer(cluster.client, PLANS, namespaces=here)
        self.tasks = Informer(cluster.client, TASKS, namespaces=here)
        self.bell = Bell((self.plans, self.tasks))
        self._plans: dict[str, Plan] = {}
        self._tasks: dict[str, Task] = {}
        self.plans.add_handler(partial(_keep, self._plans, plans.parse))
        self.tasks.add_handler(partial(_keep, self._tasks, tasks.parse))

    def running(self) -> AbstractAsyncContextManager[None]:
        """Watches while the block runs; enters it once all are known."""
        both = (self.plans, self.tasks)
        return running(both, both)

    def known(self) -> bool:
        """Whether both were listed."""
        return self.plans.has_synced and self.tasks.has_synced

    def all_plans(self) -> list[Plan]:
        return list(self._plans.values())

    def all_tasks(self) -> list[Task]:
        return list(self._tasks.values())

    def plan_of(self, task: Task) -> Plan | None:
        return self._plans.get(owners.plan_uid(task) or "")

    def current(self, subject: Plan | Task) -> Plan | Task | None:
        """It, as it is now; None: it was deleted."""
        kept = self._plans if isinstance(subject, Plan) else self._tasks
        return kept.get(subject.metadata.uid)


def _keep(
    kept: dict[str, T], parse: Callable[[Object], T], old: Object | None, new: Object | None
) -> None:
    """A handler that keeps what is there, by uid: another one may have the same name by now."""
    if old is not None:
        kept.pop(old["metadata"]["uid"], None)
    if new is not None:
        kept[new["metadata"]["uid"]] = parse(new)
