"""The Jobs that move refs: begin, prepare, land. They execute nothing from the repository."""

from __future__ import annotations

from bernstein.api.pod import BeginConfig, CommitText, LandConfig, PrepareConfig
from bernstein.api.project import Project
from bernstein.controllers.jobs import pod
from bernstein.controllers.jobs.agent import AUTHOR, EMAIL
from bernstein.controllers.jobs.pod import Object, mount, scratch
from bernstein.controllers.settings import Settings
from bernstein.core import names
from bernstein.core.intents import RunBegin, RunLand, RunPrepare

DEADLINE_SECONDS = 1800
"""Merges need the whole history, which may take a while; git itself ends a fetch that stands still.
"""
_GIT = "/git/repo.git"


def begin_job(
    wanted: RunBegin, project: Project, namespace: str, owner: Object, settings: Settings
) -> Object:
    config = BeginConfig(
        remote=pod.remote(project.spec.repository, "work"),
        target=wanted.target,
        integration=wanted.integration,
        git_dir=_GIT,
    )
    return _job("begin", "work", wanted.job, config, project, namespace, owner, settings)


def prepare_job(
    wanted: RunPrepare, project: Project, namespace: str, owner: Object, settings: Settings
) -> Object:
    config = PrepareConfig(
        remote=pod.remote(project.spec.repository, "work"),
        ref=wanted.ref,
        sha=wanted.sha,
        onto=wanted.onto,
        candidate=wanted.candidate,
        git_dir=_GIT,
        commit=CommitText(author=AUTHOR, email=EMAIL, message=wanted.message),
        merge=wanted.merge,
    )
    return _job("prepare", "work", wanted.job, config, project, namespace, owner, settings)


def land_job(
    wanted: RunLand, project: Project, namespace: str, owner: Object, settings: Settings
) -> Object:
    config = LandConfig(
        remote=pod.remote(project.spec.repository, "deliver"),
        ref=wanted.ref,
        sha=wanted.sha,
        tree=wanted.tree,
        onto=wanted.onto,
        expect=wanted.expect,
        git_dir=_GIT,
    )
    return _job("land", "deliver", wanted.job, config, project, namespace, owner, settings)


def _job(
    role: str,
    account: str,
    name: str,
    config: object,
    project: Project,
    namespace: str,
    owner: Object,
    settings: Settings,
) -> Object:
    repository = project.spec.repository
    runs = pod.ours(
        role,
        config,
        settings,
        memory="512Mi",
        mounts=[mount("git", "/git"), *pod.repository_mounts(repository, account)],
    )
    spec = pod.pod(
        project,
        init=[],
        containers=[runs],
        volumes=[
            scratch("git"),
            scratch(f"tmp-{role}", "64Mi"),
            *pod.repository_volumes(repository, account),
        ],
        deadline=DEADLINE_SECONDS,
        grace=10,
    )
    label = names.LABEL_TASK if owner["kind"] == "Task" else names.LABEL_PLAN
    return pod.job(
        project,
        name=name,
        namespace=namespace,
        owner=owner,
        labels={names.LABEL_JOB: role, label: names.bounded(owner["name"])},
        pod=spec,
    )
