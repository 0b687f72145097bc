"""Reconciles Projects: keeps their NetworkPolicies, tries their credentials, watches pull requests,
has refs deleted and requests of what was deleted closed, fills caches, counts agents at work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import ClassVar

from bernstein.api.pod import PROBE, PRUNE
from bernstein.api.programs.cached import CACHE
from bernstein.api.programs.forge import SeenPullRequest
from bernstein.api.programs.forge_jobs import PROPOSE, WATCH
from bernstein.api.project import Project, ProjectStatus
from bernstein.api.projects.cache import CacheState
from bernstein.api.projects.closing import RequestClosing
from bernstein.api.projects.refs import RefPruning
from bernstein.api.projects.watching import PullRequestWatch
from bernstein.api.projects.workplace import Workplace, at
from bernstein.api.reasons import Reason
from bernstein.controllers import execution, job_actions, network_policies
from bernstein.controllers.predicates import project_matters
from bernstein.controllers.projects import caching as claims
from bernstein.controllers.projects import pruning as refs
from bernstein.controllers.projects import withdrawing as requests
from bernstein.controllers.projects.watches import watches
from bernstein.controllers.snapshots import (
    agents_at_work,
    limited,
    misses_a_secret,
    proofs_of,
    proposed,
)
from bernstein.controllers.wiring import KindController, Watch
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.owners import owner_reference
from bernstein.core.projects import caching, probing, readiness, repository_job, watching
from bernstein.core.projects.actions import (
    CacheAction,
    ProbeAction,
    ProbeDecision,
    PruneAction,
    RunCache,
    RunProbe,
    RunPrune,
    RunWatch,
    RunWithdraw,
    WatchAction,
    WatchDecision,
    WithdrawAction,
)
from bernstein.core.projects.caching import CacheSnapshot
from bernstein.core.projects.probing import ProbeSnapshot
from bernstein.core.projects.watching import WatchSnapshot
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.retention import pruning, withdrawing
from bernstein.core.retention.pruning import PruneSnapshot
from bernstein.core.retention.withdrawing import WithdrawSnapshot
from bernstein.kube.errors import ApiError, NameConflict, SpecMutated, WriteRefused, is_refusal
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import JOBS, Key, Object
from bernstein.resources import PROJECTS

_OF_REPOSITORIES = (WATCH, PRUNE, PROPOSE, CACHE)
"""What its Jobs do in one of its repositories each; all others are its probe's."""


class _Jobs(defaultdict[str, dict[str, JobView]]):
    """A Project's Jobs at one look, by what they do, and by name."""

    def __init__(self) -> None:
        super().__init__(dict)

    def of(self, kind: str, project: Workplace) -> dict[str, JobView]:
        """Those that do this in one of its repositories."""
        its = self[kind].items()
        return {name: job for name, job in its if repository_job.is_its(project, job)}


@dataclass(frozen=True)
class Watched:
    """What its watches know, and when to look again."""

    older: PullRequestWatch | None = None
    """As an older release left it."""
    watches: tuple[PullRequestWatch, ...] = ()
    requeue_after: float | None = None


@dataclass(frozen=True)
class Pruned:
    """What is known of refs that are to be deleted, and when to look again."""

    refs: tuple[RefPruning, ...] = ()
    seen: tuple[str, ...] = ()
    """Uids of sessions that are being deleted, whose refs are in it, or in memory."""
    requeue_after: float | None = None


@dataclass(frozen=True)
class Cached:
    """What is known of its caches, and when to look again."""

    caches: tuple[CacheState, ...] = ()
    requeue_after: float | None = None


@dataclass(frozen=True)
class Withdrawn:
    """What is known of pull requests of what was deleted, and when to look again."""

    closing: tuple[RequestClosing, ...] = ()
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
            jobs = await self._jobs(project)
            probed = await self._probe(key, project, jobs)
            watched = await self._watch(key, project, jobs)
            pruned = await self._prune(key, project, jobs)
            withdrawn = await self._withdraw(key, project, jobs)
            cached = await self._cache(key, project, jobs)
        else:
            probed = ProbeDecision(project.status.probe, (), PROBE_SECONDS)
            watched = Watched(project.status.watch, project.status.watches)
            # What is being deleted goes all the same: its refs are in memory then.
            pruned = Pruned(project.status.refs, self._caches.kept_refs.look(project))
            withdrawn = Withdrawn(project.status.closing)
            cached = Cached(project.status.caches)
        now = self._context.now()
        told = readiness.Told(pruned.refs, cached.caches, withdrawn.closing)
        status = readiness.status(project, running, problem, probed.status, now, told)
        status = status.model_copy(update={"watch": watched.older, "watches": watched.watches})
        if await self._writer.status(key, PROJECTS, obj, status.dump()):
            self._count(project, status)
        self._caches.kept_refs.written(
            project, (row for each in pruned.refs for row in each.waiting), pruned.seen
        )
        self._caches.left_requests.written(project, withdrawn.closing)
        parts = (probed, watched, pruned, withdrawn, cached)
        again = (each.requeue_after for each in parts)
        return Result(min((seconds for seconds in again if seconds is not None), default=None))

    def _count(self, project: Project, status: ProjectStatus) -> None:
        """Counts the requests of watches that have told, and refs that were deleted, or left; so
        pull requests of what was deleted, and looks at caches."""
        for new_refs in status.refs:
            old = project.status.refs_in(new_refs.repository)
            old = old or RefPruning(repository=new_refs.repository)
            self._metrics.refs_pruned(
                project.metadata.namespace,
                deleted=new_refs.deleted - old.deleted,
                left=new_refs.left - old.left,
                lost=new_refs.lost - old.lost,
            )
        for cache in status.caches:
            before = project.status.cache_of(cache.repository)
            claims.count(before, cache, project.metadata.namespace, self._metrics)
        for closing in status.closing:
            known = project.status.closing_in(closing.repository)
            known = known or RequestClosing(repository=closing.repository)
            self._metrics.requests_withdrawn(
                project.metadata.namespace,
                closed=closing.closed - known.closed,
                left=closing.left - known.left,
            )
        for repository in project.spec.repositories:
            forge, new = repository.forge, status.watch_of(repository.name)
            if new is None or forge is None:
                continue
            watch = project.status.watch_of(repository.name) or PullRequestWatch()
            self._metrics.forge_asked(
                project.metadata.namespace,
                forge.type,
                requests=new.requests - watch.requests,
                unchanged=new.unchanged - watch.unchanged,
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

    async def _jobs(self, project: Project) -> _Jobs:
        """All its Jobs, which are put together once for all that look at some of them."""
        places = [at(project, each.name) for each in project.spec.repositories]
        expected = (watching.expected, pruning.expected, withdrawing.expected, caching.expected)
        names = [each(place) for place in places for each in expected]
        found = await self._caches.job_views.of(
            project.metadata, self._context.now(), probing.expected(project), *names
        )
        jobs = _Jobs()
        for name, job in found.items():
            jobs[job.main if job.main in _OF_REPOSITORIES else PROBE][name] = job
        return jobs

    async def _probe(self, key: Key, project: Project, jobs: _Jobs) -> ProbeDecision:
        """The next step of its probe, done."""
        now = self._context.now()
        missed = misses_a_secret(self._caches, project)
        late = job_actions.late_requests(self._context, key.namespace)
        found = project.status.probe is not None and project.status.probe.findings
        proofs = proofs_of(self._caches, project) if found else {}
        return await execution.decide_and_execute(
            ProbeSnapshot(project, jobs[PROBE], missed, late, proofs),
            probing.decide,
            partial(self._execute, key),
            now,
        )

    async def _watch(self, key: Key, project: Project, jobs: _Jobs) -> Watched:
        """The next step of the watch of each of its repositories, done."""
        waits, told = proposed(self._caches, project), limited(self._caches, project)
        known = project.status.watch is not None or project.status.watches
        if not (waits or told or known):
            return Watched()
        decided = [
            await self._watch_one(
                key, at(project, each.name), jobs, waits.get(each.name, ()), told.get(each.name)
            )
            for each in project.spec.repositories
        ]
        again = (each.requeue_after for each in decided if each.requeue_after is not None)
        kept = tuple(each.status for each in decided if each.status is not None)
        return Watched(None, kept, min(again, default=None))

    async def _watch_one(
        self,
        key: Key,
        project: Workplace,
        jobs: _Jobs,
        waits: tuple[SeenPullRequest, ...],
        limited: datetime | None,
    ) -> WatchDecision:
        now = self._context.now()
        its = jobs.of(WATCH, project)
        snapshot, execute = WatchSnapshot(project, its, waits, limited), partial(self._execute, key)
        return await execution.decide_and_execute(snapshot, watching.decide, execute, now)

    async def _prune(self, key: Key, project: Project, jobs: _Jobs) -> Pruned:
        """The next step of who deletes refs in each of its repositories, done."""
        kept, now = self._caches.kept_refs, self._context.now()
        if not project.spec.retention.refs_seconds:
            kept.forget(project)
            if not project.status.refs:
                return Pruned()
        seen = kept.look(project)
        if not project.status.refs and not kept.has_any(project):
            return Pruned((), seen)
        decided = []
        for each in project.spec.repositories:
            place = at(project, each.name)
            its = jobs.of(PRUNE, place)
            snapshot = replace(await refs.snapshot(place, kept, now), jobs=its)
            execute = partial(self._execute, key)
            decided.append(
                await execution.decide_and_execute(snapshot, pruning.decide, execute, now)
            )
            await self._context.clock.sleep(0)  # memory may have thousands for each
        again = (each.requeue_after for each in decided if each.requeue_after is not None)
        found = tuple(each.status for each in decided if each.status is not None)
        return Pruned(found, seen, min(again, default=None))

    async def _withdraw(self, key: Key, project: Project, jobs: _Jobs) -> Withdrawn:
        """The next step of who closes pull requests in each of its repositories, done."""
        left, now = self._caches.left_requests, self._context.now()
        if not project.status.closing and not left.of(project):
            return Withdrawn()
        found, again = list[RequestClosing](), list[float | None]()
        for each in project.spec.repositories:
            place = at(project, each.name)
            its = jobs.of(PROPOSE, place)
            snapshot = WithdrawSnapshot(place, its, tuple(requests.departed(place, left)))
            execute = partial(self._execute, key)
            decided = await execution.decide_and_execute(snapshot, withdrawing.decide, execute, now)
            again.append(decided.requeue_after)
            if decided.status is not None:
                found.append(decided.status)
        return Withdrawn(tuple(found), min((s for s in again if s is not None), default=None))

    async def _cache(self, key: Key, project: Project, jobs: _Jobs) -> Cached:
        """The next step of the cache of each of its repositories, done."""
        if not project.status.caches and not any(r.cache for r in project.spec.repositories):
            return Cached()
        now, found, again = self._context.now(), list[CacheState](), list[float | None]()
        for each in project.spec.repositories:
            place = at(project, each.name)
            its = jobs.of(CACHE, place)
            trouble, soon = claims.trouble(place, self._caches, now)
            snapshot, execute = CacheSnapshot(place, its, trouble), partial(self._execute, key)
            decided = await execution.decide_and_execute(snapshot, caching.decide, execute, now)
            again += [decided.requeue_after, soon]
            if decided.status is not None:
                found.append(decided.status)
        return Cached(tuple(found), min((s for s in again if s is not None), default=None))

    async def _execute(
        self,
        key: Key,
        snapshot: ProbeSnapshot | WatchSnapshot | PruneSnapshot | WithdrawSnapshot | CacheSnapshot,
        action: ProbeAction | WatchAction | PruneAction | WithdrawAction | CacheAction,
    ) -> None:
        meta = snapshot.project.metadata
        owner = owner_reference(PROJECTS.kind, meta.name, meta.uid)
        try:
            if not isinstance(snapshot, ProbeSnapshot):
                assert not isinstance(action, RunProbe)
                await job_actions.execute(action, key, snapshot.project, owner, self._context)
            else:
                assert not isinstance(action, RunWatch | RunPrune | RunWithdraw | RunCache)
                await job_actions.execute_probe(action, key, snapshot.project, owner, self._context)
        except (NameConflict, SpecMutated, WriteRefused) as error:
            if not isinstance(action, RunProbe | RunWatch | RunPrune | RunWithdraw | RunCache):
                return  # a Job that may not be deleted goes when its time is over
            # The next one has another name.
            taken = isinstance(error, NameConflict)
            why = execution.describe(error) if isinstance(error, NameConflict) else str(error)
            raise job_actions.Refused(JOBS, action.job, why, taken=taken) from error
