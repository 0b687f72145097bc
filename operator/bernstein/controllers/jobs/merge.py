"""The Jobs that move refs: begin, prepare, land. They execute nothing from the repository."""

from __future__ import annotations

from bernstein.api.pod import BEGIN, LAND, PREPARE, CommitText
from bernstein.api.programs.merge import BeginConfig, LandConfig, PrepareConfig
from bernstein.api.project import Project
from bernstein.controllers.jobs import pod
from bernstein.controllers.jobs.pod import Object, scratch
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import labels
from bernstein.core.actions import RunBegin, RunLand, RunPrepare

DEADLINE_SECONDS = 1800
"""Long, because merges need the whole history. A fetch that stands still is ended by git itself."""


def begin_job(
    action: RunBegin, project: Project, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    config = BeginConfig(
        remote=pod.remote(project.spec.repository, "work"),
        target=action.target,
        integration=action.integration,
        again=action.again,
    )
    return _job(BEGIN, "work", action.job, config, project, namespace, owner, settings)


def prepare_job(
    action: RunPrepare, project: Project, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    config = PrepareConfig(
        remote=pod.remote(project.spec.repository, "work"),
        ref=action.ref,
        sha=action.sha,
        onto=action.onto,
        candidate=action.candidate,
        commit=CommitText(message=action.message),
        merge=action.merge,
        protected=project.spec.protected_paths,
    )
    return _job(PREPARE, "work", action.job, config, project, namespace, owner, settings)


def land_job(
    action: RunLand, project: Project, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    # Who only looks gets no right to push.
    account = "deliver" if action.expect is not None else "read"
    config = LandConfig(
        remote=pod.remote(project.spec.repository, account),
        ref=action.ref,
        sha=action.sha,
        tree=action.tree,
        onto=action.onto,
        expect=action.expect,
    )
    return _job(LAND, account, action.job, config, project, namespace, owner, settings)


def _job(
    program: str,
    account: str,
    name: str,
    config: object,
    project: Project,
    namespace: str,
    owner: Object,
    settings: OperatorSettings,
) -> Object:
    repository = project.spec.repository
    runs = pod.ours(
        program,
        config,
        settings,
        memory="512Mi",
        tmp="git",
        mounts=pod.repository_mounts(repository, account),
    )
    spec = pod.pod(
        project,
        init=[],
        containers=[runs],
        volumes=[
            scratch("git"),
            *pod.repository_volumes(repository, account),
        ],
        deadline=DEADLINE_SECONDS,
        grace=10,
    )
    return pod.job(
        project,
        name=name,
        namespace=namespace,
        owner=owner,
        more_labels={labels.JOB: program, **pod.owner_label(owner)},
        pod=spec,
    )
