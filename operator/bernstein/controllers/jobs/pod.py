"""What all our Jobs and pods have in common: they are restricted, bounded, and without a service
account's token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from bernstein.api.encoding import dump_brief
from bernstein.api.pod import AGENT, CHECKOUT, PROGRAM, CheckoutConfig, Remote
from bernstein.api.programs import account as account_keys
from bernstein.api.project import Project, Resources
from bernstein.api.projects.pods import PodSettings
from bernstein.api.projects.repository import Repository
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs import proxied
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import labels, names
from bernstein.core.projects import caching
from bernstein.places import CACHE, TMP, WORKSPACE
from bernstein.resources import TASKS

Object = dict[str, Any]

UID = 1000
"""The user of agent, checkout and recorder: one for all, or the recorder could not read the agent's
files of mode 0600."""
PUSHER_UID = 1001
GRACE_SECONDS = 120
BACKSTOP_SECONDS = 600
"""How much later than the pod's deadline the Job's is, which deletes the pod with its results."""

LEAST_DISK = "1"
"""The bytes of disk that each container requests: least of all, and not left out, or the request
would be the limit. A node without free inodes evicts first whose inodes less these bytes are the
most: with 64Mi who makes files without end would outlast who requests nothing."""

_DISK = "2Gi"
SECRETS = "/secrets"
REPOSITORY_CA = "/repository-ca"
GIT_TRUSTS_WORKSPACE = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": WORKSPACE,
}
"""git refuses to work in a folder of another user, and the folder of a volume belongs to root."""

_EXPANDED = re.compile(r"\$\$+|\$(?=\()")
"""What the kubelet would not leave alone in a command or a variable: `$$` would become `$`, and
`$(NAME)` the value of that variable."""

_FAIL_WHEN_DISRUPTED = {
    "rules": [
        {
            "action": "FailJob",
            "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
        }
    ]
}
"""Without it the Job would replace a disrupted pod, and an agent would run once more, uncounted."""


_AS_THEY_ARE = {"options": [{"name": "ndots", "value": "1"}]}
"""A name with a dot is asked for as it is first. By default names of up to four dots are tried
inside the cluster before: there a Service `com` of the namespace answers for `github.com`. In
images of others it cannot be said: what is linked with musl would not find `name.namespace`."""


def owner_label(owner: Object) -> dict[str, str]:
    """The label that names the Task or the Plan that an object is made for."""
    label = labels.TASK if owner["kind"] == TASKS.kind else labels.PLAN
    return {label: names.bounded(owner["name"])}


def also_for(job: Object, values: Mapping[str, str]) -> Object:
    """The Job with these labels besides its own, on it and on its pod.

    They say for people what it is for. Nothing is decided by them: Jobs that an older release has
    made lack them.
    """
    own, template = job["metadata"]["labels"], job["spec"]["template"]
    everywhere = {**own, **{label: value for label, value in values.items() if label not in own}}
    of_pod = template["metadata"]["labels"]
    shown = {**of_pod, **everywhere} if of_pod != own else everywhere
    template = {**template, "metadata": {**template["metadata"], "labels": shown}}
    metadata = {**job["metadata"], "labels": everywhere}
    return {**job, "metadata": metadata, "spec": {**job["spec"], "template": template}}


def job(
    project: Project,
    *,
    name: str,
    namespace: str,
    owner: Object,
    more_labels: Mapping[str, str],
    pod: Object,
    finalizers: Iterable[str] = (),
    stays: int = 0,
) -> Object:
    """A Job that runs one pod, once. `pod` is the pod's spec, with `activeDeadlineSeconds`.

    The labels are on the Job and on its pod, the finalizers and what the Project adds on the pod.
    Once it has ended it stays as long as the Project says, but `stays` seconds at least.
    """
    ours = {
        labels.MANAGED_BY: labels.MANAGER,
        labels.OWNER_UID: owner["uid"],
        labels.PROJECT: project.metadata.name,
    }
    if isinstance(project, Workplace) and len(project.whole.spec.repositories) > 1:
        ours[labels.REPOSITORY] = project.spec.repository.name
    everywhere = ours | dict(more_labels)
    settings = project.spec.pods
    shown = {**settings.labels, **everywhere} if settings.labels else everywhere
    template: Object = {"metadata": {"labels": shown}, "spec": pod}
    if settings.annotations:
        template["metadata"]["annotations"] = settings.annotations
    if finalizers:
        template["metadata"]["finalizers"] = list(finalizers)
    spec = {
        "backoffLimit": 0,
        "activeDeadlineSeconds": pod["activeDeadlineSeconds"] + BACKSTOP_SECONDS,
        "ttlSecondsAfterFinished": max(stays, project.spec.retention.pods_seconds),
        "podFailurePolicy": _FAIL_WHEN_DISRUPTED,
        "template": template,
    }
    return job_object(name, namespace, owner, everywhere, spec)


def job_object(
    name: str, namespace: str, owner: Object, own_labels: Mapping[str, str], spec: Object
) -> Object:
    """A Job as the API server takes it."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": own_labels,
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
    only_ours: bool = True,
) -> Object:
    """A pod's spec under the restricted Pod Security Standard; times are in seconds.

    `only_ours`: no container has the image of somebody else.
    """
    settings, network = project.spec.pods, project.spec.network
    containers = list(containers)
    of_agent = any(each["name"] == AGENT for each in containers)
    spec: Object = {
        **restricted(),
        "activeDeadlineSeconds": deadline,
        "terminationGracePeriodSeconds": grace,
        "initContainers": [proxied.told(network, each, of_agent=of_agent) for each in init],
        "containers": [proxied.told(network, each) for each in containers],
        "volumes": [*volumes, *proxied.volumes(network.ca)],
    }
    if only_ours:
        spec["dnsConfig"] = _AS_THEY_ARE
    if not spec["initContainers"]:
        del spec["initContainers"]
    if settings.runtime_class_name is not None:
        spec["runtimeClassName"] = settings.runtime_class_name
    if settings.image_pull_secrets:
        spec["imagePullSecrets"] = [{"name": n} for n in settings.image_pull_secrets]
    return spec | _placed(settings)


def _placed(settings: PodSettings) -> Object:
    """On which nodes a pod runs, and before which others: what the platform must allow."""
    placed = {
        "nodeSelector": settings.node_selector,
        "tolerations": [each.dump() for each in settings.tolerations],
        "priorityClassName": settings.priority_class_name,
    }
    return {field: value for field, value in placed.items() if value}


def restricted() -> Object:
    """The part of a pod's spec that makes it one under the restricted standard, which runs once.

    A container says only what a pod cannot say for it: all of a spec is paid for at every patch.
    """
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": UID,
            "runAsGroup": UID,
            "fsGroup": UID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


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
    """A container of a `restricted` pod with no more rights than it needs. `pull` is the image pull
    policy, `read_only` is about its root file system. Command and variables reach the container as
    they are here."""
    context: Object = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": read_only,
        "capabilities": {"drop": ["ALL"]},
    }
    if uid != UID:
        context["runAsUser"] = uid
    spec: Object = {
        "name": name,
        "image": image,
        "command": [_verbatim(word) for word in command],
        "env": [{"name": k, "value": _verbatim(v)} for k, v in sorted((env or {}).items())],
        "resources": resources,
        "securityContext": context,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": list(mounts),
    }
    spec = {key: value for key, value in spec.items() if value not in ([], {})}
    if pull != _usual_pull(image):
        spec["imagePullPolicy"] = pull
    if workdir is not None:
        spec["workingDir"] = workdir
    return spec


def _usual_pull(image: str) -> str:
    """The pull policy that Kubernetes gives to an image of this name."""
    name, _, digest = image.partition("@")
    _, _, tag = name.rpartition("/")[2].partition(":")
    return "IfNotPresent" if digest or tag not in ("", "latest") else "Always"


def _verbatim(text: str) -> str:
    """What the kubelet turns into `text`."""
    return _EXPANDED.sub(lambda dollars: dollars[0] * 2, text)


def ours(
    program: str,
    config: object,
    settings: OperatorSettings,
    *,
    tmp: str,
    mounts: Iterable[Object],
    memory: str = "256Mi",
    disk: str = _DISK,
    uid: int = UID,
    name: str | None = None,
) -> Object:
    """A container that runs one of our own programs, and is called like it unless it has a name.

    `tmp` is the volume of its /tmp and of its repository: no code of other people may see it. It is
    told by its command: a variable would say more to the API server.
    """
    return container(
        name or program,
        settings.image,
        [*PROGRAM, program, dump_brief(config)],
        mounts=[*mounts, mount(tmp, TMP)],
        resources=our_resources(memory, disk),
        pull=settings.image_pull_policy,
        uid=uid,
    )


def our_resources(memory: str, disk: str = _DISK) -> Object:
    return {
        "requests": {"cpu": "20m", "memory": "48Mi", "ephemeral-storage": LEAST_DISK},
        "limits": {"cpu": "1", "memory": memory, "ephemeral-storage": disk},
    }


def their_resources(resources: Resources) -> Object:
    """Requests and limits that the Project grants: all memory is reserved, CPU mostly and disk
    wholly shared."""
    limits = {
        "cpu": resources.cpu,
        "memory": resources.memory,
        "ephemeral-storage": resources.ephemeral_storage,
    }
    return {
        "requests": {"cpu": "50m", "memory": resources.memory, "ephemeral-storage": LEAST_DISK},
        "limits": limits,
    }


def mount(name: str, path: str, *, read_only: bool = False) -> Object:
    """Where a container sees a volume. One of a Secret or a ConfigMap is always read-only."""
    value: Object = {"name": name, "mountPath": path}
    if read_only:
        value["readOnly"] = True
    return value


def scratch(name: str, size: str | None = None) -> Object:
    """An emptyDir volume, with a size limit if there is a `size`."""
    return {"name": name, "emptyDir": {"sizeLimit": size} if size else {}}


def memory(name: str, size: str) -> Object:
    """A volume in memory, of no node's disk."""
    return {"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": size}}


def of_secret(variable: str, secret_name: str, key: str) -> Object:
    """A variable that the kubelet takes from a Secret; without that the container does not
    start."""
    source = {"secretKeyRef": {"name": secret_name, "key": key}}
    return {"name": variable, "valueFrom": source}


def secret(name: str, secret_name: str) -> Object:
    return {"name": name, "secret": {"secretName": secret_name, "defaultMode": 0o440}}


def _account(name: str, secret_name: str, url: str) -> Object:
    """A volume of an account's Secret. It names both keys, so that a pod whose Secret lacks one
    does not start, and its events tell which."""
    volume = secret(name, secret_name)
    volume["secret"]["items"] = [{"key": k, "path": k} for k in account_keys.keys(url)]
    return volume


def secret_key(name: str, secret_name: str, key: str, file: str) -> Object:
    """A volume with one key of a Secret, as the file of that name; without the key no container of
    the pod starts."""
    volume = secret(name, secret_name)
    volume["secret"]["items"] = [{"key": key, "path": file}]
    return volume


def optional(volume: Object) -> Object:
    """The volume of a Secret or ConfigMap, which keeps no container waiting."""
    source = "secret" if "secret" in volume else "configMap"
    return {**volume, source: {**volume[source], "optional": True}}


def config_map(name: str, config_map_name: str) -> Object:
    return {"name": name, "configMap": {"name": config_map_name}}


def repository_volumes(repository: Repository, *accounts: str) -> list[Object]:
    """The Secrets of these accounts (read, work, deliver) and the repository's CA."""
    credentials = repository.credentials
    volumes = [
        _account(f"secret-{each}", getattr(credentials, each).secret_name, repository.url)
        for each in accounts
    ]
    if repository.ca is not None:
        volume = config_map("repository-ca", repository.ca.name)
        volume["configMap"]["items"] = [{"key": repository.ca.key, "path": "ca.crt"}]
        volumes.append(volume)
    return volumes


def repository_mounts(repository: Repository, account: str) -> list[Object]:
    return [mount(f"secret-{account}", f"{SECRETS}/{account}"), *ca_mounts(repository)]


def ca_mounts(repository: Repository) -> list[Object]:
    """The repository's CA, which is its forge's, too."""
    return [mount("repository-ca", REPOSITORY_CA)] if repository.ca is not None else []


def ca_file(repository: Repository) -> str | None:
    """Where a container finds it that mounts it."""
    return f"{REPOSITORY_CA}/ca.crt" if repository.ca is not None else None


def remote(repository: Repository, account: str) -> Remote:
    """How a container that mounts this account's Secret reaches the repository."""
    return Remote(
        url=repository.url,
        credential_dir=f"{SECRETS}/{account}",
        ca_file=ca_file(repository),
        work_url=repository.work_repository.url if repository.work_repository else None,
    )


def checkout(
    config: CheckoutConfig,
    project: Workplace,
    settings: OperatorSettings,
    *,
    mounts: Iterable[Object],
) -> Object:
    """The init container that fetches into the volume `base`, with the read account's Secret. It
    alone sees the cache, and only reads it."""
    cache = caching.usable(project)
    if cache is not None:
        config = replace(config, cache=cache[1])
    cached = [mount("cache", CACHE, read_only=True)] if cache is not None else []
    return ours(
        CHECKOUT,
        config,
        settings,
        tmp="base",
        mounts=[*mounts, *cached, *repository_mounts(project.spec.repository, "read")],
        memory="512Mi",
    )


def checkout_volumes(project: Workplace, *accounts: str) -> list[Object]:
    """Those of a pod with a checkout: the accounts' Secrets, the repository's CA, and the claim of
    the cache, once that is filled: a pod whose claim is missing would never begin."""
    cache = caching.usable(project)
    volumes = repository_volumes(project.spec.repository, *accounts)
    if cache is not None:
        claim = {"claimName": cache[0], "readOnly": True}
        volumes.append({"name": "cache", "persistentVolumeClaim": claim})
    return volumes
