"""Reconciles Projects: keeps their NetworkPolicies, counts their agents at work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from bernstein.api.project import Project
from bernstein.api.reasons import Reason
from bernstein.controllers import execution, network_policies
from bernstein.controllers.projects.watches import watches
from bernstein.controllers.snapshots import agents_at_work
from bernstein.controllers.wiring import KindController, Watch
from bernstein.core import projects
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.reasons import PROBE_SECONDS
from bernstein.kube.errors import ApiError, NameConflict, SpecMutated, WriteRefused, is_refusal
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key
from bernstein.resources import PROJECTS


class ProjectController(KindController):
    NAME: ClassVar[str] = "project"

    @property
    def primary(self) -> Informer:
        return self._caches.projects.informer

    def watches(self) -> Iterable[Watch]:
        return watches(self._caches)

    async def reconcile(self, key: Key) -> Result:
        obj = self._caches.projects.informer.get(key)
        if obj is None:
            return Result()
        project = self._caches.projects.of(obj)
        if project.metadata.deletion_timestamp is not None:
            return Result()
        running = agents_at_work(self._caches, project)
        problem = await self._limit_network(key, project)
        status = projects.decide(project, running, problem, self._context.now())
        await self._writer.status(key, PROJECTS, obj, status.dump())
        return Result(PROBE_SECONDS if problem is not None else None)

    async def _limit_network(self, key: Key, project: Project) -> Diagnosis | None:
        try:
            await network_policies.ensure(key, project, self._context)
            await network_policies.remove_others(key, project, self._context)
        except NameConflict as conflict:
            return Diagnosis(Reason.NAME_CONFLICT, execution.describe(conflict))
        except (ApiError, SpecMutated, WriteRefused) as refusal:
            if isinstance(refusal, ApiError) and not is_refusal(refusal):
                raise
            return Diagnosis(Reason.NETWORK_POLICY_REFUSED, str(refusal))
        return None
