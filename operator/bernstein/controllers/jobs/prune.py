"""The Job that deletes refs: it has the work account of one repository, and nothing else."""

from __future__ import annotations

from bernstein.api.pod import PRUNE
from bernstein.api.programs.prune import PruneConfig, RefAt
from bernstein.api.projects.accounts import WORK
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs import of_project, pod
from bernstein.controllers.jobs.pod import Object, scratch
from bernstein.controllers.settings import OperatorSettings
from bernstein.core.projects.actions import RunPrune

DEADLINE_SECONDS = 1200
"""It asks where the refs are, has them deleted, and asks again; git waits for a push 900 s."""


def prune_job(
    action: RunPrune, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    repository = project.spec.repository
    config = PruneConfig(
        remote=pod.remote(repository, WORK),
        refs=tuple(RefAt(each.ref, each.sha) for each in action.refs),
    )
    mounts = pod.repository_mounts(repository, WORK)
    runs = pod.ours(PRUNE, config, settings, tmp="git", mounts=mounts)
    spec = pod.pod(
        project,
        init=[],
        containers=[runs],
        volumes=[scratch("git"), *pod.repository_volumes(repository, WORK)],
        deadline=DEADLINE_SECONDS,
        grace=5,
    )
    return of_project.job(action, PRUNE, project, namespace, owner, spec)
