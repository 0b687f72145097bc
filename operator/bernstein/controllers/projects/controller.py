"""Reconciles Projects: keeps their NetworkPolicies, tries their credentials, watches pull requests,
counts agents at work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import ClassVar

from bernstein.api.programs.forge import WATCH, SeenPullRequest
from bernstein.api.project import Project, ProjectStatus
from bernstein.api.projects.watching import PullRequestWatch
from bernstein.api.projects.workplace import Workplace, at
from bernstein.api.reasons import Reason
from bernstein.controllers import execution, job_actions, network_policies
from bernstein.controllers.predicates import project_matters
from bernstein.controllers.projects.watches import watches
from bernstein.controllers.snapshots import agents_at_work, misses_a_secret, proofs_of, proposed
from bernstein.controllers.wiring import KindController, Watch
from bernstein.core.actions import (
    ProbeAction,
    ProbeDecision,
    RunProbe,
    RunWatch,
    WatchAction,
    WatchDecision,
)
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.owners import owner_reference
from bernstein.core.projects import probing, readiness, watching
from bernstein.core.projects.probing import ProbeSnapshot
from bernstein.core.projects.watching import WatchSnapshot
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.kube.errors import ApiError, NameConflict, SpecMutated, WriteRefused, is_refusal
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import JOBS, Key, Object
from bernstein.resources import PROJECTS


@dataclass(frozen=True)
class Watched:
    """What its watches know, and when to look again."""

    older: PullRequestWatch | None = None
    """As an older release left it."""
    watches: tuple[PullRequestWatch, ...] = ()
    requeue_after: float | None = None


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
        watched = Watched(project.status.watch, project.status.watches)
        if problem is None:
            watched = await self._watch(key, project)
        status = readiness.status(project, running, problem, probed.status, self._context.now())
        status = status.model_copy(update={"watch": watched.older, "watches": watched.watches})
        if await self._writer.status(key, PROJECTS, obj, status.dump()):
            self._count(project, status)
        again = (probed.requeue_after, watched.requeue_after)
        return Result(min((seconds for seconds in again if seconds is not None), default=None))

    def _count(self, project: Project, status: ProjectStatus) -> None:
        """Counts the requests of watches that have told."""
        for repository in project.spec.repositories:
            forge, new = repository.forge, status.watch_of(repository.name)
            if new is None or forge is None:
                continue
            before = project.status.watch_of(repository.name) or PullRequestWatch()
            self._metrics.forge_asked(
                project.metadata.namespace,
                forge.type,
                requests=new.requests - before.requests,
                unchanged=new.unchanged - before.unchanged,
            )

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
        jobs = await self._jobs(project, now, probing.expected(project), watches=False)
        late = job_actions.late_requests(self._context, key.namespace)
        found = project.status.probe is not None and project.status.probe.findings
        proofs = proofs_of(self._caches, project) if found else {}
        return await execution.decide_and_execute(
            ProbeSnapshot(project, jobs, missed, late, proofs),
            probing.decide,
            partial(self._execute, key),
            now,
        )

    async def _watch(self, key: Key, project: Project) -> Watched:
        """The next step of the watch of each of its repositories, done."""
        waits = proposed(self._caches, project)
        if not waits and project.status.watch is None and not project.status.watches:
            return Watched()
        decided = [
            await self._watch_one(key, at(project, each.name), waits.get(each.name, ()))
            for each in project.spec.repositories
        ]
        again = (each.requeue_after for each in decided if each.requeue_after is not None)
        kept = tuple(each.status for each in decided if each.status is not None)
        return Watched(None, kept, min(again, default=None))

    async def _watch_one(
        self, key: Key, project: Workplace, waits: tuple[SeenPullRequest, ...]
    ) -> WatchDecision:
        now = self._context.now()
        jobs = await self._jobs(project, now, watching.expected(project), watches=True)
        its = {name: job for name, job in jobs.items() if watching.is_its(project, job)}
        return await execution.decide_and_execute(
            WatchSnapshot(project, its, waits), watching.decide, partial(self._execute, key), now
        )

    async def _jobs(
        self, project: Project, now: datetime, expected: str | None, *, watches: bool
    ) -> dict[str, JobView]:
        """Those of its watch, or all others: what it owns beside that is of its probe."""
        jobs = await self._caches.job_views.of(project.metadata, now, expected)
        return {name: job for name, job in jobs.items() if (job.main == WATCH) is watches}

    async def _execute(
        self,
        key: Key,
        snapshot: ProbeSnapshot | WatchSnapshot,
        action: ProbeAction | WatchAction,
    ) -> None:
        meta = snapshot.project.metadata
        owner = owner_reference(PROJECTS.kind, meta.name, meta.uid)
        try:
            if isinstance(snapshot, WatchSnapshot):
                assert not isinstance(action, RunProbe)
                await job_actions.execute(action, key, snapshot.project, owner, self._context)
            else:
                assert not isinstance(action, RunWatch)
                await job_actions.execute_probe(action, key, snapshot.project, owner, self._context)
        except (NameConflict, SpecMutated, WriteRefused) as error:
            if not isinstance(action, RunProbe | RunWatch):
                return  # a Job that may not be deleted goes when its time is over
            # The next one has another name.
            why = str(error)
            if isinstance(error, NameConflict):
                why = execution.describe(error)
            raise job_actions.Refused(JOBS, action.job, why) from error
