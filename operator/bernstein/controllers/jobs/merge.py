"""The Jobs that move refs: begin, prepare, land. They execute nothing from the repository."""

from __future__ import annotations

from pathlib import PurePosixPath

from bernstein.api.pod import BEGIN, LAND, PREPARE
from bernstein.api.programs.merge import (
    AttestConfig,
    BeginConfig,
    LandConfig,
    PrepareConfig,
    PushedConfig,
    ResolvesConfig,
    SignConfig,
)
from bernstein.api.projects.commits import Signing
from bernstein.api.projects.credentials import SecretKey
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs import commit, pod
from bernstein.controllers.jobs.pod import Object, scratch
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import labels, names
from bernstein.core.actions import RunBegin, RunLand, RunPrepare, RunSeek
from bernstein.core.projects.protected import protected_paths
from bernstein.places import ATTESTATION_KEY, ATTESTATION_PUBLIC, SIGNING_KEY, SIGNING_PUBLIC

DEADLINE_SECONDS = 1800
"""Long, because merges need the whole history. A fetch that stands still is ended by git itself."""
_KEY = "secret-attestation"
_SIGNING_KEY = "secret-signing"
_FOLDERS = {
    _KEY: str(PurePosixPath(ATTESTATION_KEY).parent),
    _SIGNING_KEY: str(PurePosixPath(SIGNING_KEY).parent),
}
"""Where each volume with a key that signs is mounted."""


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
        protected=protected_paths(project.spec),
        marks=action.marks,
        resolves=ResolvesConfig(*action.resolves) if action.resolves is not None else None,
        pushed=PushedConfig(action.verified, action.as_it_is) if action.verified else None,
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
        sign=_sign(action, project),
    )
    keys = (_key(project, needed=action.expect is not None), _signing_key(action, project))
    given = tuple(key for key in keys if key is not None)
    return _job(LAND, account, action.job, config, project, namespace, owner, settings, given)


def seek_job(
    action: RunSeek, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    config = LandConfig(
        remote=pod.remote(project.spec.repository, "read"),
        ref=action.ref,
        sha=action.sha,
        tree="",
        onto=action.onto,
        expect=None,
        by_others=True,
    )
    return _job(LAND, "read", action.job, config, project, namespace, owner, settings)


def _signing(action: RunLand, project: Workplace) -> Signing | None:
    return project.spec.merge.signing if action.signs else None


def _sign(action: RunLand, project: Workplace) -> SignConfig | None:
    signing = _signing(action, project)
    if signing is None:
        return None
    return SignConfig(SIGNING_KEY, SIGNING_PUBLIC if signing.public_key is not None else None)


def _signing_key(action: RunLand, project: Workplace) -> Object | None:
    """The volume with the key that signs commits: who only looks needs none."""
    signing = _signing(action, project)
    if signing is None:
        return None
    return _of_pair(_SIGNING_KEY, signing.key, signing.public_key, SIGNING_KEY, SIGNING_PUBLIC)


def _of_pair(name: str, key: SecretKey, public: str | None, file: str, public_file: str) -> Object:
    """The volume of this name with a private key, and its public half where one is named."""
    volume = pod.secret_key(name, key.name, key.key, PurePosixPath(file).name)
    if public is not None:
        volume["secret"]["items"].append({"key": public, "path": PurePosixPath(public_file).name})
    return volume


def _key(project: Workplace, *, needed: bool) -> Object | None:
    """The volume with the Project's key. `needed`: without it the Job does not start."""
    if project.spec.attestation is None:
        return None
    signing = project.spec.attestation
    volume = _of_pair(_KEY, signing.key, signing.public_key, ATTESTATION_KEY, ATTESTATION_PUBLIC)
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
    keys: tuple[Object, ...] = (),
) -> Object:
    """`keys`: volumes with keys that sign."""
    repository = project.spec.repository
    runs = pod.ours(
        program,
        config,
        settings,
        memory="512Mi",
        tmp="git",
        mounts=[
            *pod.repository_mounts(repository, account),
            *(pod.mount(key["name"], _FOLDERS[key["name"]]) for key in keys),
        ],
    )
    spec = pod.pod(
        project,
        init=[],
        containers=[runs],
        volumes=[
            scratch("git"),
            *pod.repository_volumes(repository, account),
            *keys,
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
