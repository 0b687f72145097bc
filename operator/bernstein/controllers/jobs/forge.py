"""The Jobs that ask the forge: they have its token, and no account of the git server."""

from __future__ import annotations

from typing import Any

from bernstein.api.programs.forge import ForgeAddress, ListenConfig, ProposeConfig, WatchConfig
from bernstein.api.programs.forge_jobs import LISTEN, PROPOSE, WATCH
from bernstein.api.projects.repository import Repository
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs import of_project, pod
from bernstein.controllers.jobs.pod import Object, mount
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import labels
from bernstein.core.actions import RunClose, RunListen, RunPropose
from bernstein.core.projects.actions import RunWatch, RunWithdraw

PROPOSE_SECONDS = 600
CLOSE_SECONDS = 180
"""Somebody waits for what he has cancelled to be over."""
WATCH_SECONDS = 3300
"""For which a Job watches, before the next one does; longer where it looks less often than that."""
_TOKEN, _FILE = "secret-forge", "token"
_FOLDER = f"{pod.SECRETS}/forge"


def propose_job(
    action: RunPropose,
    project: Workplace,
    namespace: str,
    owner: Object,
    settings: OperatorSettings,
) -> Object:
    wanted = project.spec.merge.pull_requests
    config = ProposeConfig(
        forge=_address(project.spec.repository),
        head=action.head,
        base=action.base,
        title=action.title,
        body=action.body,
        draft=wanted.draft,
        labels=wanted.labels,
        number=action.number,
    )
    spec = _pod(PROPOSE, config, project, settings, PROPOSE_SECONDS)
    more = {labels.JOB: PROPOSE, **pod.owner_label(owner)}
    return pod.job(
        project, name=action.job, namespace=namespace, owner=owner, more_labels=more, pod=spec
    )


def close_job(
    action: RunClose, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    spec = _pod(PROPOSE, _to_close(action, project), project, settings, CLOSE_SECONDS)
    more = {labels.JOB: PROPOSE, **pod.owner_label(owner)}
    return pod.job(
        project, name=action.job, namespace=namespace, owner=owner, more_labels=more, pod=spec
    )


def withdraw_job(
    action: RunWithdraw,
    project: Workplace,
    namespace: str,
    owner: Object,
    settings: OperatorSettings,
) -> Object:
    close = RunClose(action.job, action.number, action.head, action.base, action.comment)
    spec = _pod(PROPOSE, _to_close(close, project), project, settings, CLOSE_SECONDS)
    return of_project.job(action, PROPOSE, project, namespace, owner, spec)


def _to_close(action: RunClose, project: Workplace) -> ProposeConfig:
    return ProposeConfig(
        forge=_address(project.spec.repository),
        head=action.head,
        base=action.base,
        title="",
        body=action.comment,
        close=True,
        number=action.number,
    )


def watch_job(
    action: RunWatch, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    look_seconds = project.spec.merge.pull_requests.look_seconds
    seconds = max(WATCH_SECONDS, 2 * look_seconds)
    config = WatchConfig(
        forge=_address(project.spec.repository),
        pull_requests=action.pull_requests,
        look_seconds=look_seconds,
        seconds=0 if action.once else seconds,
        comments="Comments" in project.spec.merge.pull_requests.feedback,
    )
    spec = _pod(WATCH, config, project, settings, seconds + PROPOSE_SECONDS)
    return of_project.job(action, WATCH, project, namespace, owner, spec)


def listen_job(
    action: RunListen, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    wanted = project.spec.merge.pull_requests.feedback
    config = ListenConfig(
        forge=_address(project.spec.repository),
        number=action.number,
        known=action.known,
        comments="Comments" in wanted,
        ci="CI" in wanted,
    )
    spec = _pod(LISTEN, config, project, settings, PROPOSE_SECONDS)
    more = {labels.JOB: LISTEN, **pod.owner_label(owner)}
    return pod.job(
        project, name=action.job, namespace=namespace, owner=owner, more_labels=more, pod=spec
    )


def _address(repository: Repository) -> ForgeAddress:
    forge = repository.forge
    assert forge is not None
    return ForgeAddress(
        type=forge.type,
        url=repository.url,
        token_file=f"{_FOLDER}/{_FILE}",
        api=forge.api,
        ca_file=pod.ca_file(repository),
    )


def _pod(
    program: str, config: Any, project: Workplace, settings: OperatorSettings, deadline: int
) -> Object:
    repository = project.spec.repository
    assert repository.forge is not None
    token = repository.forge.token
    mounts = [mount(_TOKEN, _FOLDER), *pod.ca_mounts(repository)]
    asks = pod.ours(program, config, settings, tmp="tmp", mounts=mounts)
    return pod.pod(
        project,
        init=[],
        containers=[asks],
        volumes=[
            pod.scratch("tmp", "16Mi"),
            pod.secret_key(_TOKEN, token.name, token.key, _FILE),
            *pod.repository_volumes(repository),
        ],
        deadline=deadline,
        grace=5,
    )
