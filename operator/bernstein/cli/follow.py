"""Watching a Plan until it has ended or needs a person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from bernstein.api import plan as plans
from bernstein.api import task as tasks
from bernstein.api.meta import ConditionType
from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli import live
from bernstein.cli.cluster import Cluster, plan_selector, progress_of
from bernstein.cli.errors import CliError
from bernstein.cli.live import Bell
from bernstein.cli.output import notes
from bernstein.cli.output.views import View
from bernstein.core import conditions, owners
from bernstein.core.plans.standstill import is_at_rest
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object
from bernstein.resources import PLANS, SESSIONS, TASKS

_TICK = 1.0


@dataclass(frozen=True)
class Scene:
    """What is known of a Plan at one moment."""

    plan: Plan
    tasks: Sequence[Task]
    progress: Mapping[str, str]
    """By name of a Task: what its agent says that it does; neither checked nor sanitised."""


class NotOverError(TimeoutError):
    """It was not over in time."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.scene = scene
        """What was seen last."""


async def follow(cluster: Cluster, plan: Plan, view: View, seconds: float | None = None) -> Scene:
    """Shows the Plan until it has ended or needs a person; returns how it then stands.

    Raises CliError when it is deleted meanwhile, and NotOverError when it is not over after
    `seconds`; one that is over already needs no time.
    """
    if not is_at_rest(plan):
        plan = await _when_over(cluster, plan, view, seconds)
    # The Plan's watch may be ahead of that of its Tasks, so these are read once more.
    listed = await cluster.client.list(TASKS, cluster.namespace)
    last = Scene(plan, _tasks_of(plan, listed.items), {})
    view.update(last.plan, last.tasks, last.progress, "")
    return last


async def _when_over(cluster: Cluster, plan: Plan, view: View, seconds: float | None) -> Plan:
    """`plan` as it was read or written last: what is older tells nothing, as a list may show it.

    Raises NotOverError.
    """
    changed, scene = datetime.now(UTC), Scene(plan, (), {})
    try:
        async with asyncio.timeout(seconds), _watching(cluster, plan.metadata.name) as watch:
            while not _is_over(scene := watch.scene(), plan):
                trouble = watch.trouble() or notes.unseen(scene.plan, datetime.now(UTC), changed)
                view.update(scene.plan, scene.tasks, scene.progress, trouble)
                await watch.changed(_TICK)
    except TimeoutError as error:
        raise NotOverError(scene) from error
    return scene.plan


def _is_over(scene: Scene, known: Plan) -> bool:
    """Whether it is as new as the one that is `known`, or made after it, and is at rest."""
    now, before = scene.plan.metadata, known.metadata
    if now.uid == before.uid and now.generation < before.generation:
        return False
    return is_at_rest(scene.plan, scene.tasks)


def succeeded(plan: Plan) -> bool:
    return conditions.is_true(plan.status.conditions, ConditionType.SUCCEEDED)


class _Watch:
    """Caches of the Plan, its Tasks and its sessions, and a bell that rings when one changes."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._key = Key(cluster.namespace, name)
        here, ours = [cluster.namespace], plan_selector(name)
        self.plan = Informer(
            cluster.client, PLANS, namespaces=here, field_selector=f"metadata.name={name}"
        )
        self.tasks = Informer(cluster.client, TASKS, namespaces=here)
        self.sessions = Informer(cluster.client, SESSIONS, namespaces=here, label_selector=ours)
        self._bell = Bell((self.plan, self.tasks))
        self.sessions.add_handler(self._bell.ring)

    async def changed(self, at_most: float) -> None:
        """Returns when something changed, or after `at_most` seconds."""
        await self._bell.changed(at_most)

    def scene(self) -> Scene:
        """What the caches hold now. Raises CliError when the Plan is gone."""
        obj = self.plan.get(self._key)
        if obj is None:
            message = f"Plan '{self._key.name}' was deleted"
            raise CliError("NotFound", message, "run its file again to start anew")
        plan = plans.parse(obj)
        tasks_of_plan = _tasks_of(plan, self.tasks.objects())
        return Scene(plan, tasks_of_plan, progress_of(self.sessions.objects()))

    def trouble(self) -> str:
        """Why the Plan cannot be watched at the moment, or ""."""
        return self._bell.trouble()


@asynccontextmanager
async def _watching(cluster: Cluster, name: str) -> AsyncIterator[_Watch]:
    watch = _Watch(cluster, name)
    async with live.running((watch.plan, watch.tasks, watch.sessions), (watch.plan, watch.tasks)):
        yield watch


def _tasks_of(plan: Plan, items: Iterable[Object]) -> list[Task]:
    """Those that this Plan owns, not an older one of the same name."""
    parsed = map(tasks.parse, items)
    return [task for task in parsed if owners.plan_uid(task) == plan.metadata.uid]
