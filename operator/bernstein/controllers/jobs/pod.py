"""What all our Jobs and pods have in common: restricted, bounded, no service account token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bernstein.api.meta import API_VERSION
from bernstein.api.pod import CONFIG_VARIABLE, CheckoutConfig, Remote, dump
from bernstein.api.project import Project, Repository, Resources
from bernstein.controllers.settings import Settings
from bernstein.core import names

Object = dict[str, Any]

UID = 1000
"""Agent, checkout and recorder: the same, or files of mode 0600 would be lost."""
PUSHER_UID = 1001
GRACE_SECONDS = 120
KEEP_SECONDS = 3600
"""A finished Job stays this long, for people who read logs; no verdict needs it."""
BACKSTOP_SECONDS = 600
"""The Job's own deadline is this much later than the pod's: it deletes the pod with its results."""

BASE = "/base"
BASE_GIT = "/base/repo.git"
WORKSPACE = "/workspace"
SECRETS = "/secrets"
REPOSITORY_CA = "/repository-ca"
GIT_TRUSTS_WORKSPACE = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": WORKSPACE,
}
"""A volume's folder is root's, and git refuses to work in a folder of another user."""


def owner(kind: str, name: str, uid: str) -> Object:
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def job(
    project: Project,
    *,
    name: str,
    namespace: str,
    owner: Object,
    labels: dict[str, str],
    pod: Object,
    finalizers: Iterable[str] = (),
) -> Object:
    """A Job that runs this pod once. `pod` is a pod's spec with `activeDeadlineSeconds`."""
    ours = {
        names.LABEL_MANAGED: names.MANAGER,
        names.LABEL_OWNER: owner["uid"],
        names.LABEL_PROJECT: project.metadata.name,
    }
    everywhere = ours | labels
    template: Object = {"metadata": {"labels": everywhere}, "spec": pod}
    if finalizers:
        template["metadata"]["finalizers"] = list(finalizers)
    spec = {
        "backoffLimit": 0,
        "completions": 1,
        "parallelism": 1,
        "activeDeadlineSeconds": pod["activeDeadlineSeconds"] + BACKSTOP_SECONDS,
        "ttlSecondsAfterFinished": KEEP_SECONDS,
        "podFailurePolicy": {
            "rules": [
                {
                    "action": "FailJob",
                    "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                }
            ]
        },
        "template": template,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": everywhere,
            "ownerReferences": [owner],
        },
        "spec": spec,
    }


def pod(
    project: Project,
    *,
    init: Iterable[Object],
    containers: Iterable[Object],
    volumes: Iterable[Object],
    deadline: int,
    grace: int = 30,
) -> Object:
    """A pod's spec under the restricted Pod Security Standard."""
    settings = project.spec.pods
    spec: Object = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "activeDeadlineSeconds": deadline,
        "terminationGracePeriodSeconds": grace,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": UID,
            "runAsGroup": UID,
            "fsGroup": UID,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": list(init),
        "containers": list(containers),
        "volumes": list(volumes),
    }
    if not spec["initContainers"]:
        del spec["initContainers"]
    if settings.runtime_class_name is not None:
        spec["runtimeClassName"] = settings.runtime_class_name
    if settings.image_pull_secrets:
        spec["imagePullSecrets"] = [{"name": n} for n in settings.image_pull_secrets]
    return spec


def container(
    name: str,
    image: str,
    command: Iterable[str],
    *,
    mounts: Iterable[Object],
    resources: Object,
    env: Mapping[str, str] | None = None,
    pull: str = "IfNotPresent",
    uid: int = UID,
    read_only: bool = True,
    workdir: str | None = None,
) -> Object:
    """One container with nothing that it does not need."""
    spec: Object = {
        "name": name,
        "image": image,
        "imagePullPolicy": pull,
        "command": list(command),
        "env": [{"name": k, "value": v} for k, v in sorted((env or {}).items())],
        "resources": resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": read_only,
            "runAsNonRoot": True,
            "runAsUser": uid,
            "runAsGroup": UID,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": list(mounts),
    }
    if workdir is not None:
        spec["workingDir"] = workdir
    return spec


def ours(
    role: str,
    config: object,
    settings: Settings,
    *,
    mounts: Iterable[Object],
    memory: str = "256Mi",
    uid: int = UID,
) -> Object:
    """A container that runs one of our own programs."""
    scratch = f"tmp-{role}"
    return container(
        role,
        settings.image,
        ["python3", "-m", "bernstein.pods", role],
        mounts=[*mounts, mount(scratch, "/tmp")],  # noqa: S108 - an emptyDir of its own
        resources=our_resources(memory),
        env={CONFIG_VARIABLE: dump(config), "HOME": "/tmp"},  # noqa: S108
        pull=settings.image_pull_policy,
        uid=uid,
    )


def our_resources(memory: str) -> Object:
    return {
        "requests": {"cpu": "20m", "memory": "48Mi", "ephemeral-storage": "64Mi"},
        "limits": {"cpu": "1", "memory": memory, "ephemeral-storage": "2Gi"},
    }


def their_resources(wanted: Resources) -> Object:
    """What the Project grants: memory is reserved, CPU is shared with whoever else waits."""
    limits = {
        "cpu": wanted.cpu,
        "memory": wanted.memory,
        "ephemeral-storage": wanted.ephemeral_storage,
    }
    return {
        "requests": {"cpu": "50m", "memory": wanted.memory, "ephemeral-storage": "64Mi"},
        "limits": limits,
    }


def mount(name: str, path: str, *, read_only: bool = False) -> Object:
    value: Object = {"name": name, "mountPath": path}
    if read_only:
        value["readOnly"] = True
    return value


def scratch(name: str, size: str | None = None) -> Object:
    """An emptyDir."""
    return {"name": name, "emptyDir": {"sizeLimit": size} if size else {}}


def secret(name: str, secret_name: str) -> Object:
    return {"name": name, "secret": {"secretName": secret_name, "defaultMode": 0o440}}


def _account(name: str, secret_name: str) -> Object:
    """Both keys by name: without one of them the pod does not start, and says which."""
    volume = secret(name, secret_name)
    volume["secret"]["items"] = [{"key": k, "path": k} for k in ("username", "password")]
    return volume


def config_map(name: str, config_map_name: str) -> Object:
    return {"name": name, "configMap": {"name": config_map_name, "defaultMode": 0o444}}


def repository_volumes(repository: Repository, *accounts: str) -> list[Object]:
    """The Secrets of these accounts (read, work, deliver) and the repository's CA."""
    volumes = [
        _account(f"secret-{account}", getattr(repository.credentials, account).secret_name)
        for account in accounts
    ]
    if repository.ca is not None:
        volume = config_map("repository-ca", repository.ca.name)
        volume["configMap"]["items"] = [{"key": repository.ca.key, "path": "ca.crt"}]
        volumes.append(volume)
    return volumes


def repository_mounts(repository: Repository, account: str) -> list[Object]:
    mounts = [mount(f"secret-{account}", f"{SECRETS}/{account}", read_only=True)]
    if repository.ca is not None:
        mounts.append(mount("repository-ca", REPOSITORY_CA, read_only=True))
    return mounts


def remote(repository: Repository, account: str) -> Remote:
    """The repository as a container with this account's Secret reaches it."""
    return Remote(
        url=repository.url,
        credential_dir=f"{SECRETS}/{account}",
        ca_file=f"{REPOSITORY_CA}/ca.crt" if repository.ca is not None else None,
    )


def checkout(
    config: CheckoutConfig,
    repository: Repository,
    settings: Settings,
    *,
    mounts: Iterable[Object],
) -> Object:
    """The init container that fetches, with the read credential."""
    return ours(
        "checkout",
        config,
        settings,
        mounts=[*mounts, *repository_mounts(repository, "read")],
        memory="512Mi",
    )
