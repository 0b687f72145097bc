"""The Job that tries a Project's credentials: a container for each, which sees no other one."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.api.pod import PROBE, PROBE_KEY
from bernstein.api.programs import account as account_keys
from bernstein.api.programs.probe import KEY_VARIABLE, ProbeConfig, ProbeKeyConfig
from bernstein.api.programs.shares import PROBE_SHARE, SHARE_VARIABLE, TERMINATION_BYTES
from bernstein.api.project import Project
from bernstein.api.projects.accounts import ACCOUNTS, WORK, Account
from bernstein.controllers.jobs import of_project, pod
from bernstein.controllers.jobs.pod import Object
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import names
from bernstein.core.projects.actions import RunProbe
from bernstein.core.projects.probing import ATTESTATION, SIGNING, model_keys, tries
from bernstein.core.projects.repositories import digest
from bernstein.core.reasons.waits import PROBE_SECONDS

_ACCOUNT_VARIABLE = "BERNSTEIN_ACCOUNT"


def probe_job(
    action: RunProbe, project: Project, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    """Its pod ends when all containers have told; one whose Secret is missing waits for it until
    the deadline."""
    keys = [_needs_key(name, *key, settings) for name, key in model_keys(project.spec).items()]
    signs = [
        _signs(name, signing.key.name, signing.public_key, settings)
        for name, signing in (
            (ATTESTATION, project.spec.attestation),
            (SIGNING, project.spec.merge.signing),
        )
        if signing is not None and signing.public_key is not None
    ]
    tried = tries(project.spec)
    spec = pod.pod(
        project,
        init=[],
        containers=_within(
            [
                *(_tries(name, each, project, settings) for name, each in tried.items()),
                *signs,
                *keys,
            ]
        ),
        volumes=[
            *(pod.memory(name, "16Mi") for name in (*tried, *(each["name"] for each in signs))),
            *(pod.optional(volume) for volume in _volumes(project)),
        ],
        deadline=PROBE_SECONDS,
        grace=5,
    )
    return of_project.job(action, PROBE, project, namespace, owner, spec)


def _volumes(project: Project) -> Iterator[Object]:
    """The Secrets of all repositories and their CAs, each under a name of its own."""
    for place, repository in enumerate(project.spec.repositories):
        for volume in pod.repository_volumes(repository, *ACCOUNTS):
            yield {**volume, "name": _called(volume["name"], place)}


def _called(name: str, place: int) -> str:
    return f"{name}-{place}" if place else name


def _within(containers: list[Object]) -> list[Object]:
    """Where they are more than each has room for, they are told how little they may leave."""
    share = TERMINATION_BYTES // len(containers)
    if share >= PROBE_SHARE:
        return containers
    room = {"name": SHARE_VARIABLE, "value": str(share)}
    return [{**each, "env": [*each.get("env", ()), room]} for each in containers]


def _tries(name: str, tried: Account, project: Project, settings: OperatorSettings) -> Object:
    """The container that tries an account. Only what is no secret of it is a variable, its name or
    the known host keys: by that the kubelet starts it when the Secret is there, and the password or
    key is a file."""
    repository, account = tried.repository, tried.name
    secret = tried.secret.secret_name
    same = [each for each in project.spec.repositories if digest(each) == digest(repository)]
    branches = dict.fromkeys(names.branch_ref(each.branch) for each in (repository, *same))
    config = ProbeConfig(
        remote=pod.remote(repository, account),
        account=account,
        branch=names.branch_ref(repository.branch),
        secret=secret,
        config_map=repository.ca.name if repository.ca is not None else "",
        ref=names.probe_ref(project.metadata.uid) if account == WORK else None,
        proposed=(
            names.PROBED_BRANCH if account == WORK and any(each.forge for each in same) else None
        ),
        others=tuple(branches)[1:] if account == WORK else (),
    )
    mounts = [
        {**each, "name": _called(each["name"], tried.place)}
        for each in pod.repository_mounts(repository, account)
    ]
    container = pod.ours(PROBE, config, settings, tmp=name, mounts=mounts, name=name)
    return container | {
        "env": [pod.of_secret(_ACCOUNT_VARIABLE, secret, account_keys.not_secret(repository.url))]
    }


def _signs(name: str, secret: str, public: str, settings: OperatorSettings) -> Object:
    """The container that tries a key that signs by its public half: the other one is for who lands
    alone. The kubelet starts it when the Secret is there."""
    config = ProbeKeyConfig(f"'{public}' of '{secret}'", ssh=name == SIGNING)
    container = pod.ours(PROBE_KEY, config, settings, tmp=name, mounts=(), name=name)
    return container | {"env": [pod.of_secret(KEY_VARIABLE, secret, public)]}


def _needs_key(name: str, secret: str, key: str, settings: OperatorSettings) -> Object:
    """A container that the kubelet starts when the model key is there, and that does nothing."""
    container = pod.container(
        name,
        settings.image,
        ["true"],
        mounts=[],
        resources={
            "requests": {"cpu": "5m", "memory": "16Mi", "ephemeral-storage": pod.LEAST_DISK},
            "limits": {"cpu": "100m", "memory": "32Mi", "ephemeral-storage": "16Mi"},
        },
        pull=settings.image_pull_policy,
    )
    return container | {"env": [pod.of_secret(KEY_VARIABLE, secret, key)]}
