"""Project controller."""

from __future__ import annotations

from datetime import UTC, datetime

from bernstein.controllers.caches import Caches
from bernstein.controllers.kinds import PROJECTS
from bernstein.controllers.writer import Writer
from bernstein.core import projects, scheduling
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key


class ProjectController:
    def __init__(self, caches: Caches, writer: Writer) -> None:
        self._caches = caches
        self._writer = writer

    async def reconcile(self, key: Key) -> Result:
        obj = self._caches.projects.informer.get(key)
        if obj is None:
            return Result()
        project = self._caches.projects.of(obj)
        running = sum(
            t.status.project == key.name and t.status.state in scheduling.ACTIVE
            for t in self._caches.tasks.by_name(key.namespace).values()
        )
        status = projects.decide(project, running, datetime.now(UTC))
        await self._writer.status(key, PROJECTS, obj, status.dump())
        return Result()
