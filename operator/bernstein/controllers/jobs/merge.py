"""The Jobs that move refs: begin, prepare, land. They execute nothing from the repository."""

from __future__ import annotations

from pathlib import PurePosixPath

from bernstein.api.pod import BEGIN, LAND, PREPARE
from bernstein.api.programs.merge import AttestConfig, BeginConfig, LandConfig, PrepareConfig
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs import commit, pod
from bernstein.controllers.jobs.pod import Object, scratch
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import labels, names
from bernstein.core.actions import RunBegin, RunLand, RunPrepare
from bernstein.places import ATTESTATION_KEY, ATTESTATION_PUBLIC

DEADLINE_SECONDS = 1800
"""Long, because merges need the whole history. A fetch that stands still is ended by git itself."""
_KEY = "secret-attestation"
_KEY_FILE = PurePosixPath(ATTESTATION_KEY)


def begin_job(
    action: RunBegin, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    config = BeginConfig(
        remote=pod.remote(project.spec.repository, "work"),
        target=action.target,
        integration=action.integration,
        again=action.again,
    )
    return _job(BEGIN, "work", action.job, config, project, namespace, owner, settings)


def prepare_job(
    action: RunPrepare,
    project: Workplace,
    namespace: str,
    owner: Object,
    settings: OperatorSettings,
) -> Object:
    config = PrepareConfig(
        remote=pod.remote(project.spec.repository, "work"),
        ref=action.ref,
        sha=action.sha,
        onto=action.onto,
        candidate=action.candidate,
        commit=commit.text(project, action.message),
        merge=action.merge,
        protected=project.spec.protected_paths,
    )
    return _job(PREPARE, "work", action.job, config, project, namespace, owner, settings)


def land_job(
    action: RunLand, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
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
        attest=_attest(action, project),
        branch=action.branch,
        branch_at=action.branch_at,
    )
    key = _key(project, needed=action.expect is not None)
    return _job(LAND, account, action.job, config, project, namespace, owner, settings, key)


def _key(project: Workplace, *, needed: bool) -> Object | None:
    """The volume with the Project's key. `needed`: without it the Job does not start."""
    if project.spec.attestation is None:
        return None
    key, public = project.spec.attestation.key, project.spec.attestation.public_key
    volume = pod.secret_key(_KEY, key.name, key.key, _KEY_FILE.name)
    if public is not None:
        file = PurePosixPath(ATTESTATION_PUBLIC).name
        volume["secret"]["items"].append({"key": public, "path": file})
    return volume if needed else pod.optional(volume)


def _attest(action: RunLand, project: Workplace) -> AttestConfig | None:
    if not action.attests:
        return None
    ref, signing = names.attestation_ref(action.sha), project.spec.attestation
    if signing is None:
        return AttestConfig(ref, action.attests)
    public = ATTESTATION_PUBLIC if signing.public_key is not None else None
    return AttestConfig(ref, action.attests, ATTESTATION_KEY, public)


def _job(
    program: str,
    account: str,
    name: str,
    config: object,
    project: Workplace,
    namespace: str,
    owner: Object,
    settings: OperatorSettings,
    key: Object | None = None,
) -> Object:
    """`key`: a volume with the key that signs."""
    repository = project.spec.repository
    runs = pod.ours(
        program,
        config,
        settings,
        memory="512Mi",
        tmp="git",
        mounts=[
            *pod.repository_mounts(repository, account),
            *([pod.mount(_KEY, str(_KEY_FILE.parent))] if key is not None else []),
        ],
    )
    spec = pod.pod(
        project,
        init=[],
        containers=[runs],
        volumes=[
            scratch("git"),
            *pod.repository_volumes(repository, account),
            *([key] if key is not None else []),
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
