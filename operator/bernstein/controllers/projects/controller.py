"""Reconciles Projects: keeps their NetworkPolicies, tries their credentials, counts their agents at
work."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from bernstein.api.project import Project
from bernstein.api.reasons import Reason
from bernstein.controllers import execution, job_actions, network_policies
from bernstein.controllers.predicates import project_matters
from bernstein.controllers.projects.watches import watches
from bernstein.controllers.snapshots import agents_at_work, misses_a_secret, proofs_of
from bernstein.controllers.wiring import KindController, Watch
from bernstein.core.actions import ProbeAction, ProbeDecision, RunProbe
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.owners import owner_reference
from bernstein.core.projects import probing, readiness
from bernstein.core.projects.probing import ProbeSnapshot
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.kube.errors import ApiError, NameConflict, SpecMutated, WriteRefused, is_refusal
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import JOBS, Key, Object
from bernstein.resources import PROJECTS


class ProjectController(KindController):
    NAME: ClassVar[str] = "project"

    @property
    def primary(self) -> Informer:
        return self._caches.projects.informer

    def matters(self, old: Object | None, new: Object | None) -> bool:
        return project_matters(old, new)

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
        if problem is None:
            probed = await self._probe(key, project)
        else:
            probed = ProbeDecision(project.status.probe, (), PROBE_SECONDS)
        status = readiness.status(project, running, problem, probed.status, self._context.now())
        await self._writer.status(key, PROJECTS, obj, status.dump())
        return Result(probed.requeue_after)

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

    async def _probe(self, key: Key, project: Project) -> ProbeDecision:
        """The next step of its probe, done."""
        now = self._context.now()
        missed = misses_a_secret(self._caches, project)
        jobs = await self._caches.job_views.of(project.metadata, now, probing.expected(project))
        late = job_actions.late_requests(self._context, key.namespace)
        found = project.status.probe is not None and project.status.probe.findings
        proofs = proofs_of(self._caches, project) if found else {}
        return await execution.decide_and_execute(
            ProbeSnapshot(project, jobs, missed, late, proofs),
            probing.decide,
            partial(self._execute, key),
            now,
        )

    async def _execute(self, key: Key, snapshot: ProbeSnapshot, action: ProbeAction) -> None:
        meta = snapshot.project.metadata
        owner = owner_reference(PROJECTS.kind, meta.name, meta.uid)
        try:
            await job_actions.execute(action, key, snapshot.project, owner, self._context)
        except (NameConflict, SpecMutated, WriteRefused) as error:
            if not isinstance(action, RunProbe):
                return  # a Job that may not be deleted goes when its time is over
            # The next one has another name.
            why = str(error)
            if isinstance(error, NameConflict):
                why = execution.describe(error)
            raise job_actions.Refused(JOBS, action.job, why) from error
