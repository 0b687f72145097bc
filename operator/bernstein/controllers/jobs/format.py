"""The Job that formats the files which work has changed.

    checkout ──▶ formatter ──▶ collect ──▶ format
    read account  none          none        work account

One after the other: no code of the repository, or of an image of a user's, runs beside a
credential, and what pushes sees no file of theirs. Their network is that of all Jobs of ours: DNS
and the git server.
"""

from __future__ import annotations

from bernstein.api.pod import COLLECT, FORMAT, FORMATTER, CheckoutConfig
from bernstein.api.programs.formatting import (
    CHANGED,
    FOLDER,
    PRINTED,
    CollectConfig,
    FormatConfig,
)
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs import commit, pod
from bernstein.controllers.jobs.check import answering
from bernstein.controllers.jobs.pod import Object, mount, scratch
from bernstein.controllers.settings import OperatorSettings
from bernstein.core.actions import RunFormat
from bernstein.core.projects.protected import protected_paths
from bernstein.core.verification.verdicts import START_SECONDS
from bernstein.places import TMP, WORKSPACE


def format_job(
    action: RunFormat, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    """`activeDeadlineSeconds` is the formatter's time and what the rest of the pod may take."""
    limit = project.spec.toolchain.resources.ephemeral_storage
    spec = pod.pod(
        project,
        only_ours=False,
        init=[
            _checkout(action, project, settings),
            _formatter(action, project, settings),
            _collect(settings),
        ],
        containers=[_format(action, project, settings)],
        volumes=[
            scratch("workspace", limit),
            scratch("base"),
            scratch("changed", "64Mi"),
            scratch("printed", "64Mi"),
            scratch("collected"),
            scratch("home", limit),
            scratch("tmp", limit),
            *pod.checkout_volumes(project, "read", "work"),
        ],
        deadline=action.check.timeout + START_SECONDS,
        grace=10,
    )
    return answering(action, FORMAT, action.check.name, project, namespace, owner, spec)


def _checkout(action: RunFormat, project: Workplace, settings: OperatorSettings) -> Object:
    repository, check = project.spec.repository, action.check
    config = CheckoutConfig(
        remote=pod.remote(repository, "read"),
        ref=action.ref,
        sha=action.sha,
        worktree=WORKSPACE,
        pinned_sha=action.pinned_sha if check.pinned else None,
        pinned_names=check.pinned,
        paths=check.paths,
        changed_since=action.base,
        changed_to=FOLDER,
        # Their older lines are to stay, and a formatter asks nobody whose line it is.
        only_new=project.spec.append_only,
    )
    mounts = [mount("workspace", WORKSPACE), mount("changed", FOLDER)]
    return pod.checkout(config, project, settings, mounts=mounts)


def _formatter(action: RunFormat, project: Workplace, settings: OperatorSettings) -> Object:
    """It succeeds, whatever the command does: what that is worth, `collect` says."""
    check, toolchain = action.check, project.spec.toolchain
    assert check.image is not None
    assert check.command is not None
    command = f"({check.command}) >{PRINTED}/output 2>&1; echo $? >{PRINTED}/code"
    return pod.container(
        FORMATTER,
        check.image,
        ["sh", "-c", command],
        mounts=[
            mount("workspace", WORKSPACE),
            mount("changed", FOLDER, read_only=True),
            mount("printed", PRINTED),
            mount("home", "/home/check"),
            mount("tmp", TMP),
        ],
        resources=pod.their_resources(toolchain.resources),
        env={
            "HOME": "/home/check",
            "TMPDIR": TMP,
            "CI": "true",
            "CHANGED": f"{FOLDER}/{CHANGED}",
        },
        pull=settings.image_pull_policy,
        read_only=toolchain.read_only_root_filesystem,
        workdir=WORKSPACE,
    )


def _collect(settings: OperatorSettings) -> Object:
    return pod.ours(
        COLLECT,
        CollectConfig(),
        settings,
        tmp="collected",
        memory="512Mi",
        mounts=[
            mount("workspace", WORKSPACE, read_only=True),
            mount("base", "/base", read_only=True),
            mount("changed", FOLDER, read_only=True),
            mount("printed", PRINTED, read_only=True),
        ],
    )


def _format(action: RunFormat, project: Workplace, settings: OperatorSettings) -> Object:
    repository = project.spec.repository
    config = FormatConfig(
        remote=pod.remote(repository, "work"),
        base=action.base,
        sha=action.sha,
        to=action.to,
        commit=commit.text(project, action.message),
        protected=protected_paths(project.spec),
    )
    return pod.ours(
        FORMAT,
        config,
        settings,
        tmp="base",
        memory="512Mi",
        uid=pod.PUSHER_UID,
        mounts=[
            mount("collected", "/collected", read_only=True),
            *pod.repository_mounts(repository, "work"),
        ],
    )
