"""Watching a Plan until it has ended or needs a person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bernstein.api import plan as plans
from bernstein.api import task as tasks
from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli.cluster import PLANS, SESSIONS, TASKS, Cluster, plan_selector, progress_of
from bernstein.cli.errors import CliError
from bernstein.cli.views import View
from bernstein.core import conditions
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object

_TICK = 1.0


@dataclass(frozen=True)
class Scene:
    """What is known of a Plan at one moment."""

    plan: Plan
    tasks: Sequence[Task]
    progress: Mapping[str, str]
    """For a Task's name what its agent says that it does; not believed, not sanitised."""


async def follow(cluster: Cluster, name: str, view: View) -> Scene:
    """Shows the Plan until it ended or stands still. Raises CliError when it was deleted."""
    async with _watching(cluster, name) as watch:
        while True:
            scene = watch.scene()
            if is_over(scene.plan):
                break
            view.update(scene.plan, scene.tasks, scene.progress, watch.trouble())
            await watch.changed(_TICK)
    # The watch of the Plan may be ahead of that of its Tasks.
    found = await cluster.client.list(TASKS, cluster.namespace, label_selector=plan_selector(name))
    last = Scene(scene.plan, _tasks_of(scene.plan, found.items), {})
    view.update(last.plan, last.tasks, last.progress, "")
    return last


def is_over(plan: Plan) -> bool:
    """It ended, or it waits for a person while nothing of it runs."""
    status = plan.status
    if conditions.find(status.conditions, "Succeeded") is not None:
        return True
    seen = status.observed_generation >= plan.metadata.generation
    idle = not (status.counts.running or status.counts.verifying)
    return seen and idle and conditions.is_true(status.conditions, "Stalled")


def succeeded(plan: Plan) -> bool:
    return conditions.is_true(plan.status.conditions, "Succeeded")


class _Watch:
    """Three caches, and a bell that rings when one of them changes."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._key = Key(cluster.namespace, name)
        here, ours = [cluster.namespace], plan_selector(name)
        self.plan = Informer(
            cluster.client, PLANS, namespaces=here, field_selector=f"metadata.name={name}"
        )
        self.tasks = Informer(cluster.client, TASKS, namespaces=here, label_selector=ours)
        self.sessions = Informer(cluster.client, SESSIONS, namespaces=here, label_selector=ours)
        self._bell = asyncio.Event()
        for informer in (self.plan, self.tasks, self.sessions):
            informer.add_handler(self._ring)

    def _ring(self, old: Object | None, new: Object | None) -> None:
        del old, new
        self._bell.set()

    async def changed(self, at_most: float) -> None:
        """Returns when something changed, or after `at_most` seconds."""
        try:
            async with asyncio.timeout(at_most):
                await self._bell.wait()
        except TimeoutError:
            return
        self._bell.clear()

    def scene(self) -> Scene:
        found = self.plan.get(self._key)
        if found is None:
            message = f"Plan '{self._key.name}' was deleted"
            raise CliError("NotFound", message, "run its file again to start anew")
        plan = plans.parse(found)
        ours = _tasks_of(plan, self.tasks.objects())
        return Scene(plan, ours, progress_of(self.sessions.objects()))

    def trouble(self) -> str:
        """Why the watch of the Plan is lost, or ""."""
        error = self.plan.last_error or self.tasks.last_error
        return "" if error is None else f"connection lost, trying again ({error.reason})"


@asynccontextmanager
async def _watching(cluster: Cluster, name: str) -> AsyncIterator[_Watch]:
    watch = _Watch(cluster, name)
    running = [
        asyncio.create_task(informer.run())
        for informer in (watch.plan, watch.tasks, watch.sessions)
    ]
    try:
        await watch.plan.synced()
        await watch.tasks.synced()
        yield watch
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _tasks_of(plan: Plan, items: Iterable[Object]) -> list[Task]:
    return [tasks.parse(item) for item in items if _owner_uid(item) == plan.metadata.uid]


def _owner_uid(item: Object) -> str:
    owners = item["metadata"].get("ownerReferences", ())
    return next((owner["uid"] for owner in owners if owner.get("controller")), "")
