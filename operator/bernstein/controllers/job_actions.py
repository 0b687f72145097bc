"""What Tasks and Plans ask for alike: Jobs to be made or deleted, and logs to be kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, Self, TypeVar

from bernstein.api.project import Project
from bernstein.controllers import check_logs, network_policies
from bernstein.controllers.jobs import pod
from bernstein.controllers.jobs.check import check_job, compare_job, inspect_job
from bernstein.controllers.jobs.fence import fence_job
from bernstein.controllers.jobs.merge import begin_job, land_job, prepare_job
from bernstein.controllers.jobs.pod import Object
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.wiring import Context
from bernstein.core.actions import (
    DeleteJobs,
    KeepCheckLogs,
    RunBegin,
    RunCheck,
    RunFence,
    RunInspect,
    RunLand,
    RunPrepare,
)
from bernstein.core.jobs import JobView, refusal
from bernstein.kube.errors import Forbidden, Invalid
from bernstein.kube.resource import JOBS, Key


class JobRefused(Exception):  # noqa: N818 - named like the reasons
    """The API server refuses a Job: a quota, a policy or a webhook of the cluster."""

    def __init__(self, job: str, message: str) -> None:
        super().__init__(message)
        self.job = job


class Snapshot(Protocol):
    """What a decision looks at."""

    def with_job(self, job: JobView) -> Self: ...


class _Decision(Protocol):
    @property
    def actions(self) -> Sequence[object]: ...


S = TypeVar("S", bound=Snapshot)
D = TypeVar("D", bound=_Decision)
RunJob = RunBegin | RunCheck | RunInspect | RunPrepare | RunLand


def build(
    run: RunJob, project: Project, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    """The Job that was asked for."""
    match run:
        case RunBegin():
            return begin_job(run, project, namespace, owner, settings)
        case RunCheck(compares=True):
            return compare_job(run, project, namespace, owner, settings)
        case RunCheck():
            return check_job(run, project, namespace, owner, settings)
        case RunInspect():
            return inspect_job(run, project, namespace, owner, settings)
        case RunPrepare():
            return prepare_job(run, project, namespace, owner, settings)
        case RunLand():
            return land_job(run, project, namespace, owner, settings)


async def execute(
    action: RunJob | RunFence | KeepCheckLogs | DeleteJobs,
    key: Key,
    project: Project | None,
    owner: Object,
    context: Context,
    also_for: Mapping[str, str] | None = None,
) -> None:
    """Makes a Job, where there is none of ours by that name; deletes Jobs; or keeps their logs.

    `owner` is the owner reference of what is made; `also_for` are labels that say what else than
    the owner a Job is for.
    """
    if isinstance(action, RunFence):
        await create(key, fence_job(action.job, key.namespace, owner, context.settings), context)
        return
    if isinstance(action, KeepCheckLogs):
        await check_logs.keep(action, key, owner, context)
        return
    if isinstance(action, DeleteJobs):
        for job in action.jobs:
            if not job.deleting:
                await context.writer.delete_job(key, job)
        return
    assert project is not None
    await network_policies.ensure(key, project, context)
    wanted = build(action, project, key.namespace, owner, context.settings)
    await create(key, pod.also_for(wanted, also_for or {}), context)


async def create(key: Key, job: Object, context: Context) -> None:
    """Makes the Job. Raises JobRefused where the API server will not have it.

    While an earlier request for it may still be on its way, a refusal settles nothing: it is raised
    as it is, and the same Job is asked for again.
    """
    try:
        await context.writer.create(key, JOBS, job)
    except (Forbidden, Invalid) as error:
        name = job["metadata"]["name"]
        if context.writer.guard.may_come_late(JOBS, Key(key.namespace, name)):
            raise
        raise JobRefused(name, str(error)) from error


async def carry_out(
    snapshot: S,
    decide: Callable[[S, datetime], D],
    execute: Callable[[S, Any], Awaitable[None]],
    now: datetime,
) -> D:
    """Decides and executes what was decided.

    A Job that the API server refuses becomes part of the snapshot, and it is decided anew.
    """
    while True:
        decision = decide(snapshot, now)
        try:
            for action in decision.actions:
                await execute(snapshot, action)
        except JobRefused as refused:
            snapshot = snapshot.with_job(refusal(refused.job, str(refused), now))
        else:
            return decision
