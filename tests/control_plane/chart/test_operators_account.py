"""The policy for the operator's own account: somebody who has its token gets no further with it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import CONFIG_MAPS, JOBS, NETWORK_POLICIES, PODS, Object, Resource
from tests.control_plane.conftest import RELEASE_NAMESPACE, Tools, eventually
from tests.control_plane.objects import AGENT_SESSIONS, OURS, PLANS, TASKS, job, valid

POLICY = "bernstein-operator.*"
SECRETS = Resource("", "v1", "secrets", "Secret")
Change = Callable[[Object], Any]


def mine(namespace: str, **content: Any) -> Object:
    """Without a label of ours."""
    return {"metadata": {"name": "one", "namespace": namespace}, **content}


@pytest.mark.parametrize("resource", [CONFIG_MAPS, NETWORK_POLICIES, TASKS, AGENT_SESSIONS, JOBS])
async def test_it_makes_nothing_without_our_label(
    operator: Client, namespace: str, resource: Resource
) -> None:
    plain: dict[Resource, Object] = {
        CONFIG_MAPS: mine(namespace, data={"a": "b"}),
        NETWORK_POLICIES: mine(namespace, spec={"podSelector": {}}),
        JOBS: job(namespace),
        TASKS: valid("Task", namespace),
        AGENT_SESSIONS: valid("AgentSession", namespace),
    }
    obj = plain[resource]
    # A Job without any label gets its pods'.
    obj["metadata"]["labels"] = {"app": "mine"}

    with pytest.raises(Forbidden, match=POLICY + "its own labels only"):
        await operator.create(resource, obj)
    obj["metadata"]["labels"] = OURS
    await operator.create(resource, obj)


@pytest.mark.parametrize("approval", [None, {}, {"plan": "Never"}, {"result": "Always"}])
async def test_it_makes_plans_only_that_people_must_approve(
    operator: Client, namespace: str, approval: Object | None
) -> None:
    asks = {} if approval is None else {"approval": approval}
    plan = valid("Plan", namespace, **asks)
    plan["metadata"]["labels"] = OURS

    with pytest.raises(Forbidden, match=POLICY + "once a person has approved them"):
        await operator.create(PLANS, plan)
    plan["spec"]["approval"] = {"plan": "Always"}
    with pytest.raises(Forbidden, match=POLICY + "its own labels only"):
        await operator.create(PLANS, {**plan, "metadata": {**plan["metadata"], "labels": {}}})
    await operator.create(PLANS, plan)


async def test_it_touches_nothing_that_is_not_its_own(
    operator: Client, admin: Client, namespace: str
) -> None:
    policy = mine(namespace, spec={"podSelector": {}, "policyTypes": ["Ingress"]})
    await admin.create(NETWORK_POLICIES, policy)
    await admin.create(TASKS, valid("Task", namespace))
    plain = job(namespace)
    plain["metadata"]["labels"] = plain["spec"]["template"]["metadata"]["labels"] = {}
    await admin.create(JOBS, plain)

    opened = {"metadata": {"labels": OURS}, "spec": {"ingress": [{}]}}
    with pytest.raises(Forbidden, match=POLICY + "its own labels only"):
        await operator.patch(NETWORK_POLICIES, "one", namespace, opened)
    cancelled = {"spec": {"cancel": {"reason": "Enough"}}}
    with pytest.raises(Forbidden, match=POLICY + "its own labels only"):
        await operator.patch(TASKS, "one", namespace, cancelled)
    for resource in (NETWORK_POLICIES, JOBS):
        with pytest.raises(Forbidden, match=POLICY + "its own labels only"):
            await operator.delete(resource, "one", namespace)


@pytest.mark.parametrize("state", ["Closed", "Cancelled", "Failed"])
async def test_it_deletes_a_task_of_a_person_that_has_ended(
    operator: Client, admin: Client, namespace: str, state: str
) -> None:
    await admin.create(TASKS, valid("Task", namespace))
    await _move(operator, namespace, state)

    await operator.delete(TASKS, "one", namespace)


async def test_it_deletes_no_task_that_has_not_ended(
    operator: Client, admin: Client, namespace: str
) -> None:
    await admin.create(TASKS, valid("Task", namespace))
    await _move(operator, namespace, "Open")

    with pytest.raises(Forbidden, match=POLICY + "its own labels only"):
        await operator.delete(TASKS, "one", namespace)


async def test_it_deletes_no_task_that_has_an_owner(
    operator: Client, admin: Client, namespace: str
) -> None:
    owner = await admin.create(CONFIG_MAPS, mine(namespace, data={"a": "b"}))
    task, uid = valid("Task", namespace), owner["metadata"]["uid"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "one", "uid": uid}
    task["metadata"]["ownerReferences"] = [reference]
    await admin.create(TASKS, task)
    await _move(operator, namespace, "Cancelled")

    with pytest.raises(Forbidden, match=POLICY + "its own labels only"):
        await operator.delete(TASKS, "one", namespace)


_WAYS = {
    "Open": ("Open",),
    "Cancelled": ("Open", "Cancelled"),
    "Failed": ("Open", "Claimed", "InProgress", "Failed"),
    "Closed": ("Open", "Claimed", "InProgress", "Done", "Closed"),
}


async def _move(operator: Client, namespace: str, state: str) -> None:
    """Brings the Task there by the moves that the rules allow."""
    for step in _WAYS[state]:
        status = {"status": {"state": step, "observedGeneration": 1}}
        await operator.patch(TASKS, "one", namespace, status, subresource="status")


def _of_the_pod(**fields: Any) -> Change:
    return lambda template: template["spec"].update(fields)


def _of_the_pods_security(**fields: Any) -> Change:
    return lambda template: template["spec"]["securityContext"].update(fields)


def _of_the_container(**fields: Any) -> Change:
    return lambda template: template["spec"]["containers"][0]["securityContext"].update(fields)


def _of_an_init_container(**fields: Any) -> Change:
    def change(template: Object) -> None:
        init = copy.deepcopy(template["spec"]["containers"][0]) | {"name": "first"}
        init["securityContext"] |= fields
        template["spec"]["initContainers"] = [init]

    return change


def _port(template: Object) -> None:
    template["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]


def _handler(host: str) -> Object:
    return {"httpGet": {"host": host, "port": 80, "path": "/"}}


def _in_the_container(**fields: Any) -> Change:
    return lambda template: template["spec"]["containers"][0].update(fields)


def _in_an_init_container(**fields: Any) -> Change:
    def change(template: Object) -> None:
        init = copy.deepcopy(template["spec"]["containers"][0]) | {"name": "first"}
        template["spec"]["initContainers"] = [init | {"restartPolicy": "Always"} | fields]

    return change


def _mounted(**how: Any) -> Change:
    def change(template: Object) -> None:
        template["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
        mount = {"name": "v", "mountPath": "/v", **how}
        template["spec"]["containers"][0]["volumeMounts"] = [mount]

    return change


def _unmasked(change: Change) -> Change:
    """Without a user namespace of its own no pod may have it."""

    def both(template: Object) -> None:
        template["spec"]["hostUsers"] = False
        change(template)

    return both


def _annotated(template: Object) -> None:
    name = "container.apparmor.security.beta.kubernetes.io/check"
    template["metadata"]["annotations"] = {name: "unconfined"}


def _volume(**source: Any) -> Change:
    return _of_the_pod(volumes=[{"name": "v", **source}])


def _claim(*containers: str, readOnly: bool) -> Change:  # noqa: N803
    """These containers mount the claim of a cache."""

    def change(template: Object) -> None:
        claim = {"claimName": "caches", "readOnly": readOnly}
        template["spec"]["volumes"] = [{"name": "cache", "persistentVolumeClaim": claim}]
        (first,) = template["spec"]["containers"]
        mounts = [{"name": "cache", "mountPath": "/cache"}]
        template["spec"]["containers"] = [
            {**first, "name": name, "volumeMounts": mounts} for name in containers
        ]

    return change


def _token(audience: str) -> Change:
    source = {"serviceAccountToken": {"path": "token", "audience": audience}}
    return _volume(projected={"sources": [source]})


UNMASKED = {"procMount": "Unmasked"}
SELINUX = {"seLinuxOptions": {"type": "spc_t"}}
APPARMOR = {"appArmorProfile": {"type": "Unconfined"}}
WINDOWS = {"windowsOptions": {"runAsUserName": "ContainerAdministrator"}}
UNRESTRICTED: dict[str, Change] = {
    "token": lambda template: template["spec"].pop("automountServiceAccountToken"),
    "account": _of_the_pod(serviceAccountName="cluster-admin"),
    "network": _of_the_pod(hostNetwork=True),
    "processes": _of_the_pod(hostPID=True),
    "memory": _of_the_pod(hostIPC=True),
    "root": _of_the_pod(securityContext={"seccompProfile": {"type": "RuntimeDefault"}}),
    "root-container": _of_the_container(runAsUser=0),
    "seccomp": _of_the_container(seccompProfile={"type": "Unconfined"}),
    "escalation": _of_the_container(allowPrivilegeEscalation=True),
    "no-drop": _of_the_container(capabilities={}),
    "capability": _of_the_container(capabilities={"drop": ["ALL"], "add": ["SYS_ADMIN"]}),
    "init": _of_an_init_container(allowPrivilegeEscalation=True),
    "port": _port,
    "proc-mount": _unmasked(_of_the_container(**UNMASKED)),
    "proc-mount-init": _unmasked(_of_an_init_container(**UNMASKED)),
    "selinux": _of_the_pods_security(**SELINUX),
    "selinux-container": _of_the_container(**SELINUX),
    "selinux-init": _of_an_init_container(**SELINUX),
    "apparmor": _of_the_pods_security(**APPARMOR),
    "apparmor-container": _of_the_container(**APPARMOR),
    "apparmor-init": _of_an_init_container(**APPARMOR),
    "apparmor-annotation": _annotated,
    "sysctls": _of_the_pods_security(sysctls=[{"name": "kernel.msgmax", "value": "65536"}]),
    "windows": _of_the_pods_security(**WINDOWS),
    "windows-container": _of_the_container(**WINDOWS),
    "windows-init": _of_an_init_container(**WINDOWS),
    "user-of-the-pod": _of_the_pods_security(runAsUser=0),
    "group-of-the-pod": _of_the_pods_security(runAsGroup=0),
    "group-of-the-container": _of_the_container(runAsGroup=0),
    "group-of-volumes": _of_the_pods_security(fsGroup=0),
    "more-groups": _of_the_pods_security(supplementalGroups=[0]),
    "node": _of_the_pod(nodeName="control-plane"),
    "node-selector": _of_the_pod(nodeSelector={"node-role.kubernetes.io/control-plane": ""}),
    "affinity": _of_the_pod(affinity={"podAntiAffinity": {}}),
    "tolerations": _of_the_pod(tolerations=[{"operator": "Exists"}]),
    "priority": _of_the_pod(priorityClassName="system-node-critical"),
    "scheduler": _of_the_pod(schedulerName="theirs"),
    "overhead": _of_the_pod(overhead={"cpu": "1"}),
    "shared-processes": _of_the_pod(shareProcessNamespace=True),
    "users-of-the-node": _of_the_pod(hostUsers=True),
    "host-aliases": _of_the_pod(hostAliases=[{"ip": "192.0.2.1", "hostnames": ["git.example"]}]),
    "dns-of-the-node": _of_the_pod(dnsPolicy="Default"),
    "dns-servers": _of_the_pod(dnsConfig={"nameservers": ["192.0.2.1"]}),
    "liveness-probe": _in_the_container(livenessProbe=_handler("192.0.2.1")),
    "readiness-probe": _in_the_container(
        readinessProbe={"tcpSocket": {"host": "192.0.2.1", "port": 80}}
    ),
    "startup-probe-init": _in_an_init_container(startupProbe=_handler("192.0.2.1")),
    "lifecycle": _in_the_container(lifecycle={"postStart": _handler("192.0.2.1")}),
    "lifecycle-init": _in_an_init_container(lifecycle={"preStop": _handler("192.0.2.1")}),
    "variables-of-a-secret": _in_the_container(envFrom=[{"secretRef": {"name": "theirs"}}]),
    "part-of-a-volume": _mounted(subPath="a"),
    "named-part-of-a-volume": _mounted(subPathExpr="a"),
    "propagated-mount": _mounted(mountPropagation="HostToContainer"),
    "host-path": _volume(hostPath={"path": "/"}),
    "claim": _volume(persistentVolumeClaim={"claimName": "theirs"}),
    "claim-to-write": _claim("agent", readOnly=False),
    "claim-of-an-agent": _claim("agent", readOnly=True),
    "claim-beside-the-cache": _claim("cache", "agent", readOnly=False),
    "api-token": _token(""),
    "other-token": _token("https://kubernetes.default.svc"),
}
"""What a Job's pod template may say that restricted pods do not, or that is not theirs."""


@pytest.mark.parametrize("what", UNRESTRICTED)
async def test_its_jobs_are_of_restricted_pods(operator: Client, namespace: str, what: str) -> None:
    made = job(namespace)
    UNRESTRICTED[what](made["spec"]["template"])

    with pytest.raises(Forbidden, match=POLICY + "makes Jobs"):
        await operator.create(JOBS, made)


async def test_its_jobs_have_what_agents_need(operator: Client, namespace: str) -> None:
    made = job(namespace)
    sources: dict[str, Object] = {
        "scratch": {"emptyDir": {"sizeLimit": "1Gi"}},
        "account": {"secret": {"secretName": "git"}},
        "prompt": {"configMap": {"name": "prompt"}},
        "token": {
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"path": "t", "audience": "bernstein.dev/callback"}}
                ]
            }
        },
    }
    made["spec"]["template"]["spec"]["volumes"] = [{"name": n, **s} for n, s in sources.items()]

    await operator.create(JOBS, made)


@pytest.mark.parametrize(
    "change", [_claim("checkout", readOnly=True), _claim("cache", readOnly=False)]
)
async def test_its_jobs_mount_the_claim_of_a_cache(
    operator: Client, namespace: str, change: Change
) -> None:
    made = job(namespace)
    change(made["spec"]["template"])

    await operator.create(JOBS, made)


CHANGED: dict[str, Object] = {
    "label": {"metadata": {"labels": {"team": "a"}}},
    "annotation": {"metadata": {"annotations": {"a": "b"}}},
    "finalizers": {"metadata": {"finalizers": None}},
    "spec": {"spec": {"activeDeadlineSeconds": 1}},
}
"""What may be changed of a pod besides the finalizer of ours."""


async def pod_of_a_job(operator: Client, namespace: str, name: str = "one") -> Object:
    """The pod that the Job controller makes of a new Job of the operator's."""
    await operator.create(JOBS, job(namespace, name))
    selector = f"batch.kubernetes.io/job-name={name}"

    async def there() -> bool:
        return bool((await operator.list(PODS, namespace, label_selector=selector)).items)

    await eventually(there)
    (pod,) = (await operator.list(PODS, namespace, label_selector=selector)).items
    return pod


@pytest.mark.parametrize("what", CHANGED)
async def test_of_pods_it_changes_its_finalizer_only(
    operator: Client, namespace: str, what: str
) -> None:
    pod = await pod_of_a_job(operator, namespace)
    name, held = pod["metadata"]["name"], pod["metadata"]["finalizers"]

    with pytest.raises(Forbidden, match=f"{POLICY}takes off the finalizer|Kubernetes alone adds"):
        await operator.patch(PODS, name, namespace, CHANGED[what])
    place = f"/metadata/finalizers/{held.index('bernstein.dev/result')}"
    await operator.patch(PODS, name, namespace, [{"op": "remove", "path": place}])


async def test_more_rights_are_of_no_use_to_it(
    operator: Client, tools: Tools, namespace: str
) -> None:
    account = f"{RELEASE_NAMESPACE}:bernstein-operator"
    tools.kubectl(
        *("create", "rolebinding", "too-much", "-n", namespace),
        *("--clusterrole=cluster-admin", f"--serviceaccount={account}"),
    )
    secret = {"metadata": {"name": "s", "namespace": namespace, "labels": OURS}}

    async def refused() -> bool:
        try:
            await operator.create(SECRETS, secret)
        except Forbidden as refusal:
            return "writes no objects of this kind" in str(refusal)
        raise AssertionError("the operator's account wrote it")

    await eventually(refused)
    pod = {**job(namespace)["spec"]["template"], "apiVersion": "v1", "kind": "Pod"}
    pod["metadata"] = {"name": "p", "namespace": namespace, "labels": OURS}
    with pytest.raises(Forbidden):
        await operator.create(PODS, pod)
