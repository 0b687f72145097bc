"""The Job that fills a cache: it has the read account of one repository, and may write to the
claim's volume. Nothing else of ours may."""

from __future__ import annotations

from bernstein.api.programs.cache import CacheConfig
from bernstein.api.programs.cached import CACHE
from bernstein.api.projects.accounts import READ
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs import of_project, pod
from bernstein.controllers.jobs.pod import Object, mount, scratch
from bernstein.controllers.settings import OperatorSettings
from bernstein.core.projects.actions import RunCache
from bernstein.places import CACHE as VOLUME

DEADLINE_SECONDS = 1800
_DISK = "20Gi"
"""Of its scratch volume it needs what was fetched, and the same once more, uncompressed."""


def cache_job(
    action: RunCache, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    repository = project.spec.repository
    config = CacheConfig(
        remote=pod.remote(repository, READ),
        ref=repository.branch,
        folder=action.folder,
        has=action.has,
    )
    mounts = [mount("cache", VOLUME), *pod.repository_mounts(repository, READ)]
    runs = pod.ours(CACHE, config, settings, tmp="git", mounts=mounts, memory="512Mi", disk=_DISK)
    claim = {"claimName": action.claim}
    spec = pod.pod(
        project,
        init=[],
        containers=[runs],
        volumes=[
            scratch("git"),
            {"name": "cache", "persistentVolumeClaim": claim},
            *pod.repository_volumes(repository, READ),
        ],
        deadline=DEADLINE_SECONDS,
        grace=5,
    )
    return of_project.job(action, CACHE, project, namespace, owner, spec)
