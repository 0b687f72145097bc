"""What Tasks, Plans and Projects ask for alike: Jobs to be made or deleted, and what they said to
be kept.

What the API server refuses to make is Refused, and part of what is decided about next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bernstein.api.project import Project
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers import network_policies
from bernstein.controllers.jobs import pod
from bernstein.controllers.jobs.cache import cache_job
from bernstein.controllers.jobs.check import check_job, compare_job, inspect_job
from bernstein.controllers.jobs.fence import fence_job
from bernstein.controllers.jobs.forge import (
    close_job,
    listen_job,
    propose_job,
    watch_job,
    withdraw_job,
)
from bernstein.controllers.jobs.format import format_job
from bernstein.controllers.jobs.judge import judge_job
from bernstein.controllers.jobs.merge import begin_job, land_job, prepare_job, seek_job
from bernstein.controllers.jobs.pod import Object
from bernstein.controllers.jobs.probe import probe_job
from bernstein.controllers.jobs.prune import prune_job
from bernstein.controllers.logs import checks as check_logs
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.wiring import Context
from bernstein.core.actions import (
    DeleteJobs,
    KeepCheckLogs,
    KeepVerdicts,
    RunBegin,
    RunCheck,
    RunClose,
    RunFence,
    RunFormat,
    RunInspect,
    RunJudge,
    RunLand,
    RunListen,
    RunPrepare,
    RunPropose,
    RunSeek,
)
from bernstein.core.jobs import LateRequests
from bernstein.core.projects.actions import RunCache, RunProbe, RunPrune, RunWatch, RunWithdraw
from bernstein.kube.errors import ApiError, is_refusal
from bernstein.kube.resource import JOBS, Key, Resource


class Refused(Exception):  # noqa: N818 - named like the reasons
    """The API server refuses an object, or one that it needs: a quota, a policy or a webhook."""

    def __init__(self, resource: Resource, name: str, message: str, *, taken: bool = False) -> None:
        super().__init__(message)
        self.taken = taken
        self.resource = resource
        self.name = name


@contextmanager
def refusable(resource: Resource, name: str, key: Key, context: Context) -> Iterator[None]:
    """While this object is made, with what it needs. Raises Refused where the API server will not
    have it.

    While an earlier request for it may still be on its way, a refusal settles nothing: it is raised
    as it is, and the same is asked for again.
    """
    try:
        yield
    except ApiError as error:
        late = context.writer.guard.may_come_late(resource, Key(key.namespace, name))
        if late or not is_refusal(error):
            raise
        raise Refused(resource, name, str(error)) from error


def late_requests(context: Context, namespace: str) -> LateRequests:
    """Those for Jobs of the namespace that the controller made, or a process that led before."""
    guard = context.writer.guard
    return LateRequests(guard.may_come_late_in(JOBS, namespace), unknown=guard.is_new)


RunJob = (
    RunBegin
    | RunCheck
    | RunFormat
    | RunInspect
    | RunJudge
    | RunPrepare
    | RunLand
    | RunSeek
    | RunPropose
    | RunClose
    | RunListen
    | RunPrune
    | RunCache
    | RunWatch
    | RunWithdraw
)


def build(
    run: RunJob, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    """The Job that was asked for."""
    match run:
        case RunBegin():
            return begin_job(run, project, namespace, owner, settings)
        case RunCheck(compares=True):
            return compare_job(run, project, namespace, owner, settings)
        case RunCheck():
            return check_job(run, project, namespace, owner, settings)
        case RunFormat():
            return format_job(run, project, namespace, owner, settings)
        case RunInspect():
            return inspect_job(run, project, namespace, owner, settings)
        case RunJudge():
            return judge_job(run, project, namespace, owner, settings)
        case RunPrepare():
            return prepare_job(run, project, namespace, owner, settings)
        case RunLand():
            return land_job(run, project, namespace, owner, settings)
        case RunSeek():
            return seek_job(run, project, namespace, owner, settings)
        case _:
            return _of_project(run, project, namespace, owner, settings)


def _of_project(
    run: RunPropose | RunClose | RunListen | RunWatch | RunWithdraw | RunPrune | RunCache,
    project: Workplace,
    namespace: str,
    owner: Object,
    settings: OperatorSettings,
) -> Object:
    """The Job that asks a forge, or that looks after a repository."""
    if isinstance(run, RunPrune):
        return prune_job(run, project, namespace, owner, settings)
    if isinstance(run, RunCache):
        return cache_job(run, project, namespace, owner, settings)
    if isinstance(run, RunPropose):
        return propose_job(run, project, namespace, owner, settings)
    if isinstance(run, RunClose):
        return close_job(run, project, namespace, owner, settings)
    if isinstance(run, RunListen):
        return listen_job(run, project, namespace, owner, settings)
    if isinstance(run, RunWithdraw):
        return withdraw_job(run, project, namespace, owner, settings)
    return watch_job(run, project, namespace, owner, settings)


async def execute(
    action: RunJob | RunFence | KeepCheckLogs | KeepVerdicts | DeleteJobs,
    key: Key,
    project: Workplace | None,
    owner: Object,
    context: Context,
    also_for: Mapping[str, str] | None = None,
) -> None:
    """Makes a Job, where there is none of ours by that name; deletes Jobs; or keeps their logs or
    verdicts.

    `owner` is the owner reference of what is made; `also_for` are labels that say what else than
    the owner a Job is for. Raises Refused.
    """
    if isinstance(action, RunFence):
        fence = fence_job(action.job, key.namespace, owner, context.settings)
        with refusable(JOBS, action.job, key, context):
            await context.writer.create(key, JOBS, fence)
        return
    if isinstance(action, KeepCheckLogs):
        await check_logs.keep(action, key, owner, context)
        return
    if isinstance(action, KeepVerdicts):
        if context.gate_caches is not None and project is not None:
            await context.gate_caches.keep(action, project, context.now())
        return
    if isinstance(action, DeleteJobs):
        await _delete(action, key, context)
        return
    assert project is not None
    manifest = build(action, project, key.namespace, owner, context.settings)
    with refusable(JOBS, action.job, key, context):
        await network_policies.ensure(key, project, context)
        await context.writer.create(key, JOBS, pod.also_for(manifest, also_for or {}))


async def execute_probe(
    action: RunProbe | DeleteJobs, key: Key, project: Project, owner: Object, context: Context
) -> None:
    """The same for the Job that tries all that a Project names."""
    if isinstance(action, DeleteJobs):
        await _delete(action, key, context)
        return
    manifest = probe_job(action, project, key.namespace, owner, context.settings)
    with refusable(JOBS, action.job, key, context):
        await network_policies.ensure(key, project, context)
        await context.writer.create(key, JOBS, manifest)


async def _delete(action: DeleteJobs, key: Key, context: Context) -> None:
    for job in action.jobs:
        if not job.deleting:
            await context.writer.delete_job(key, job)
