"""The Jobs of completion signals and gates."""

from __future__ import annotations

from bernstein.api.pod import CHECK, INSPECT, CheckoutConfig, InspectConfig
from bernstein.api.project import Project, Toolchain
from bernstein.checks.scans import reads_of
from bernstein.checks.spec import CheckSpec
from bernstein.controllers.jobs import pod
from bernstein.controllers.jobs.pod import Object, mount, scratch
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import labels
from bernstein.core.actions import RunCheck, RunInspect

START_SECONDS = 300
"""Seconds that a pod may take beyond the check's own time: to pull images, check out and start."""


def check_job(
    action: RunCheck, project: Project, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    """The Job of one check that executes a command, on the exact tree and without a credential."""
    check, repository = action.check, project.spec.repository
    config = CheckoutConfig(
        remote=pod.remote(repository, "read"),
        ref=action.ref,
        sha=action.sha,
        git_dir=pod.BASE_GIT,
        worktree=pod.WORKSPACE,
        worktree_git=True,
        pinned_sha=action.pinned_sha if check.pinned else None,
        pinned_names=check.pinned,
    )
    checkout = pod.checkout(
        config,
        repository,
        settings,
        mounts=[mount("base", pod.BASE), mount("workspace", pod.WORKSPACE)],
    )
    limit = project.spec.toolchain.resources.ephemeral_storage
    spec = pod.pod(
        project,
        init=[checkout],
        containers=[_command(check, project.spec.toolchain, settings)],
        volumes=[
            scratch("workspace", limit),
            scratch("base"),
            scratch("home", limit),
            scratch("tmp", limit),
            scratch("tmp-checkout", "64Mi"),
            *pod.repository_volumes(repository, "read"),
        ],
        deadline=check.timeout + START_SECONDS,
        grace=5,
    )
    return _job(action, CHECK, check.name, project, namespace, owner, spec)


def _command(check: CheckSpec, toolchain: Toolchain, settings: OperatorSettings) -> Object:
    """The container that runs the check's command."""
    assert check.command is not None
    assert check.image is not None
    return pod.container(
        CHECK,
        check.image,
        ["sh", "-c", check.command],
        mounts=[
            mount("workspace", pod.WORKSPACE),
            mount("home", "/home/check"),
            mount("tmp", "/tmp"),  # noqa: S108 - an emptyDir of its own
        ],
        resources=pod.their_resources(toolchain.resources),
        env={
            **pod.GIT_TRUSTS_WORKSPACE,
            "HOME": "/home/check",
            "TMPDIR": "/tmp",  # noqa: S108
            "CI": "true",
        },
        pull=settings.image_pull_policy,
        read_only=toolchain.read_only_root_filesystem,
        workdir=pod.WORKSPACE,
    )


def inspect_job(
    action: RunInspect, project: Project, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    """A Job of checks that only read; they get objects of git, no tree and no credential."""
    repository = project.spec.repository
    reads = tuple(check.reads for check in action.checks if check.reads is not None)
    merges = any(reads_of(check.type).merges for check in reads)
    fetch = CheckoutConfig(
        remote=pod.remote(repository, "read"),
        ref=action.ref,
        sha=action.sha,
        git_dir=pod.BASE_GIT,
        history=merges,
        also=(action.base, action.onto) if merges else (action.base,),
    )
    config = InspectConfig(
        git_dir=pod.BASE_GIT,
        sha=action.sha,
        base=action.base,
        checks=reads,
        onto_ref=action.onto if merges else None,
        scan_seconds=project.spec.gates.timeout_seconds,
    )
    spec = pod.pod(
        project,
        init=[pod.checkout(fetch, repository, settings, mounts=[mount("base", pod.BASE)])],
        containers=[
            pod.ours(INSPECT, config, settings, mounts=[mount("base", pod.BASE)], memory="512Mi")
        ],
        volumes=[
            scratch("base"),
            scratch("tmp-checkout", "64Mi"),
            scratch("tmp-inspect", "256Mi"),
            *pod.repository_volumes(repository, "read"),
        ],
        deadline=project.spec.gates.timeout_seconds + START_SECONDS,
        grace=5,
    )
    return _job(action, INSPECT, INSPECT, project, namespace, owner, spec)


def _job(
    action: RunCheck | RunInspect,
    main: str,
    check: str,
    project: Project,
    namespace: str,
    owner: Object,
    spec: Object,
) -> Object:
    """The Job whose main container is `main`, with the check's name and digest as labels."""
    return pod.job(
        project,
        name=action.job,
        namespace=namespace,
        owner=owner,
        more_labels={
            labels.JOB: main,
            labels.CHECK: check,
            labels.ASKED: action.asked,
            **pod.owner_label(owner),
        },
        pod=spec,
    )
