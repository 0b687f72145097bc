"""The Jobs of the janitor and the gates."""

from __future__ import annotations

from bernstein.api.pod import CheckoutConfig, InspectConfig
from bernstein.api.project import Project
from bernstein.controllers.jobs import pod
from bernstein.controllers.jobs.pod import Object, mount, scratch
from bernstein.controllers.settings import Settings
from bernstein.core import names
from bernstein.core.intents import RunCheck, RunInspect

START_SECONDS = 300
"""What the pod may take beyond the check's own time, for images, the checkout and its start."""


def check_job(
    wanted: RunCheck, project: Project, namespace: str, owner: Object, settings: Settings
) -> Object:
    """One command on the exact tree, without any credential in its container."""
    toolchain = project.spec.toolchain
    check = wanted.check
    assert check.command is not None
    assert check.image is not None
    repository = project.spec.repository
    config = CheckoutConfig(
        remote=pod.remote(repository, "read"),
        ref=wanted.ref,
        sha=wanted.sha,
        git_dir=pod.BASE_GIT,
        worktree=pod.WORKSPACE,
        worktree_git=True,
        pinned_sha=wanted.pinned_sha if check.pinned else None,
        pinned_names=check.pinned,
    )
    runs = pod.container(
        "check",
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
    first = pod.checkout(
        config,
        repository,
        settings,
        mounts=[mount("base", pod.BASE), mount("workspace", pod.WORKSPACE)],
    )
    limit = toolchain.resources.ephemeral_storage
    spec = pod.pod(
        project,
        init=[first],
        containers=[runs],
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
    return pod.job(
        project,
        name=wanted.job,
        namespace=namespace,
        owner=owner,
        labels=_labels(owner, "check", check.name, wanted.asked),
        pod=spec,
    )


def _labels(owner: Object, job: str, check: str, asked: str) -> dict[str, str]:
    label = names.LABEL_TASK if owner["kind"] == "Task" else names.LABEL_PLAN
    return {
        names.LABEL_JOB: job,
        names.LABEL_CHECK: check,
        names.LABEL_ASKED: asked,
        label: names.bounded(owner["name"]),
    }


def inspect_job(
    wanted: RunInspect, project: Project, namespace: str, owner: Object, settings: Settings
) -> Object:
    """Every check that only reads, on blobs; no credential beside them."""
    repository = project.spec.repository
    merges = any(c.reads is not None and c.reads.type == "merge_conflict" for c in wanted.checks)
    fetch = CheckoutConfig(
        remote=pod.remote(repository, "read"),
        ref=wanted.ref,
        sha=wanted.sha,
        git_dir=pod.BASE_GIT,
        history=merges,
        also=(wanted.base, wanted.onto) if merges else (wanted.base,),
    )
    config = InspectConfig(
        git_dir=pod.BASE_GIT,
        sha=wanted.sha,
        base=wanted.base,
        checks=tuple(c.reads for c in wanted.checks if c.reads is not None),
        onto_ref=wanted.onto if merges else None,
        scan_seconds=project.spec.gates.timeout_seconds,
    )
    spec = pod.pod(
        project,
        init=[pod.checkout(fetch, repository, settings, mounts=[mount("base", pod.BASE)])],
        containers=[
            pod.ours("inspect", config, settings, mounts=[mount("base", pod.BASE)], memory="512Mi")
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
    return pod.job(
        project,
        name=wanted.job,
        namespace=namespace,
        owner=owner,
        labels=_labels(owner, "inspect", "inspect", wanted.asked),
        pod=spec,
    )
