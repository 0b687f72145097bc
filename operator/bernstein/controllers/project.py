"""Project controller."""

from __future__ import annotations

from datetime import UTC, datetime

from bernstein.api.project import Project
from bernstein.controllers import conflicts, network_policies
from bernstein.controllers.caches import Caches
from bernstein.controllers.kinds import PROJECTS
from bernstein.controllers.settings import Settings
from bernstein.controllers.writer import Writer
from bernstein.core import projects, scheduling
from bernstein.core.errors import PROBE_SECONDS
from bernstein.core.pods import Diagnosis
from bernstein.kube.errors import Forbidden, Invalid, NameConflict, SpecMutated
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key


class ProjectController:
    def __init__(self, caches: Caches, writer: Writer, settings: Settings) -> None:
        self._caches = caches
        self._writer = writer
        self._settings = settings

    async def reconcile(self, key: Key) -> Result:
        obj = self._caches.projects.informer.get(key)
        if obj is None:
            return Result()
        project = self._caches.projects.of(obj)
        running = sum(
            t.status.project == key.name and t.status.state in scheduling.ACTIVE
            for t in self._caches.tasks.by_name(key.namespace).values()
        )
        problem = await self._limit_network(key, project)
        status = projects.decide(project, running, problem, datetime.now(UTC))
        await self._writer.status(key, PROJECTS, obj, status.dump())
        return Result(PROBE_SECONDS if problem is not None else None)

    async def _limit_network(self, key: Key, project: Project) -> Diagnosis | None:
        if project.metadata.deletion_timestamp is not None:
            return None
        place = (key, project, self._caches, self._writer, self._settings)
        try:
            await network_policies.ensure(*place)
            await network_policies.remove_others(*place)
        except NameConflict as conflict:
            return Diagnosis(conflicts.REASON, conflicts.describe(conflict))
        except (Forbidden, Invalid, SpecMutated) as refusal:
            return Diagnosis("NetworkPolicyRefused", str(refusal))
        return None
