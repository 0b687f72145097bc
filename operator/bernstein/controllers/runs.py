"""Jobs that Tasks and Plans ask for alike."""

from __future__ import annotations

from bernstein.api.project import Project
from bernstein.controllers import network_policies, reports
from bernstein.controllers.caches import Caches
from bernstein.controllers.jobs.check import check_job, inspect_job
from bernstein.controllers.jobs.merge import begin_job, land_job, prepare_job
from bernstein.controllers.jobs.pod import Object
from bernstein.controllers.settings import Settings
from bernstein.controllers.writer import Writer
from bernstein.core.intents import (
    DeleteJobs,
    KeepReports,
    RunBegin,
    RunCheck,
    RunInspect,
    RunLand,
    RunPrepare,
)
from bernstein.kube.resource import JOBS, Key

Run = RunBegin | RunCheck | RunInspect | RunPrepare | RunLand


def build(wanted: Run, project: Project, namespace: str, owner: Object, s: Settings) -> Object:
    """The Job that was asked for."""
    match wanted:
        case RunBegin():
            return begin_job(wanted, project, namespace, owner, s)
        case RunCheck():
            return check_job(wanted, project, namespace, owner, s)
        case RunInspect():
            return inspect_job(wanted, project, namespace, owner, s)
        case RunPrepare():
            return prepare_job(wanted, project, namespace, owner, s)
        case RunLand():
            return land_job(wanted, project, namespace, owner, s)


async def execute(
    wanted: Run | KeepReports | DeleteJobs,
    *,
    key: Key,
    project: Project | None,
    owner: Object,
    caches: Caches,
    writer: Writer,
    settings: Settings,
) -> None:
    """Create the Job (one of ours under that name is as good), or delete Jobs, or keep what they
    left."""
    if isinstance(wanted, KeepReports):
        await reports.keep(wanted, key, owner, caches, writer)
        return
    if isinstance(wanted, DeleteJobs):
        for job in wanted.jobs:
            if not job.deleting:
                await writer.delete_job(key, job)
        return
    assert project is not None
    await network_policies.ensure(key, project, caches, writer, settings)
    await writer.create(key, JOBS, build(wanted, project, key.namespace, owner, settings))
