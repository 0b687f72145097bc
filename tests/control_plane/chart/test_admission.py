"""The chart's admission policies: who may write what the operator believes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import JOBS, PODS, Object, Resource
from tests.control_plane.conftest import (
    RELEASE_NAMESPACE,
    Person,
    Tools,
    eventually,
    first_pod,
    gone,
)
from tests.control_plane.objects import AGENT_SESSIONS, KINDS, TASKS, job, valid

DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
REPLICA_SETS = Resource("apps", "v1", "replicasets", "ReplicaSet")
JOBS_POLICY = "bernstein-objects.*are written by its operator only"
NEW_PODS_POLICY = "bernstein-pods.*made from its operator's Jobs only"
PODS_POLICY = "bernstein-pods.*only Bernstein's operator changes"
STATUS_POLICY = "bernstein-status.*Bernstein's own accounts only"
REPORT_POLICY = "bernstein-status.*nothing but status.report"
SESSIONS_POLICY = "bernstein-sessions.*by Bernstein's operator only"


def plain_job(namespace: str, name: str = "plain") -> Object:
    """A Job that is nobody's of ours."""
    obj = job(namespace, name, labels={"app": "mine"})
    obj["spec"]["template"]["metadata"] = {}
    return obj


def pod_of(made: Object, namespace: str, name: str = "pod") -> Object:
    """A Pod as this Job's template describes it."""
    template = copy.deepcopy(made["spec"]["template"])
    return {"metadata": {**template["metadata"], "name": name, "namespace": namespace}} | {
        "spec": template["spec"]
    }


# --- Jobs


async def test_the_operators_job_gets_its_pod(operator: Client, namespace: str) -> None:
    await operator.create(JOBS, job(namespace))

    pod = await first_pod(operator, namespace, "one")

    assert pod["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "bernstein"
    assert "bernstein.dev/result" in pod["metadata"]["finalizers"]


LABELS = [{"app.kubernetes.io/managed-by": "bernstein"}, {"bernstein.dev/check": "lint"}]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: next(iter(labels)))
@pytest.mark.parametrize("where", ["job", "template"])
async def test_an_editor_cannot_create_a_job_with_our_labels(
    person: Person, namespace: str, labels: dict[str, str], where: str
) -> None:
    editor = await person("edit")
    forged = plain_job(namespace)
    (forged if where == "job" else forged["spec"]["template"])["metadata"]["labels"] = labels

    with pytest.raises(Forbidden, match=JOBS_POLICY):
        await editor.create(JOBS, forged)
    await editor.create(JOBS, plain_job(namespace))


async def test_an_editor_cannot_label_a_job_of_his_own_as_ours(
    person: Person, namespace: str
) -> None:
    editor = await person("edit")
    await editor.create(JOBS, plain_job(namespace))

    ours = {"metadata": {"labels": {"bernstein.dev/task": "task"}}}
    with pytest.raises(Forbidden, match=JOBS_POLICY):
        await editor.patch(JOBS, "plain", namespace, ours)
    await editor.patch(JOBS, "plain", namespace, {"metadata": {"labels": {"app": "other"}}})


@pytest.mark.parametrize(
    "change",
    [{"spec": {"suspend": True}}, {"metadata": {"labels": {"bernstein.dev/task": None}}}],
    ids=["suspend", "unlabel"],
)
async def test_nobody_else_changes_a_job_of_the_operator(
    operator: Client, admin: Client, person: Person, namespace: str, change: dict[str, Any]
) -> None:
    await operator.create(JOBS, job(namespace))
    editor = await person("edit")

    for other in (editor, admin):
        with pytest.raises(Forbidden, match=JOBS_POLICY):
            await other.patch(JOBS, "one", namespace, change)


async def test_a_job_deleted_in_the_foreground_goes_away(operator: Client, namespace: str) -> None:
    await operator.create(JOBS, job(namespace))
    pod = await first_pod(operator, namespace, "one")
    await operator.delete(JOBS, "one", namespace)

    async def let_go() -> bool:
        # The Job controller takes its own finalizer off meanwhile: a conflict, and once more.
        kept = await operator.get(PODS, pod["metadata"]["name"], namespace)
        assert "bernstein.dev/result" in kept["metadata"]["finalizers"]
        others = [f for f in kept["metadata"]["finalizers"] if f != "bernstein.dev/result"]
        version = kept["metadata"]["resourceVersion"]
        change = {"metadata": {"finalizers": others, "resourceVersion": version}}
        await operator.patch(PODS, pod["metadata"]["name"], namespace, change)
        return True

    await eventually(let_go)
    await gone(operator, JOBS, namespace)


# --- Pods


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: next(iter(labels)))
async def test_an_editor_cannot_create_a_pod_with_our_labels(
    person: Person, namespace: str, labels: dict[str, str]
) -> None:
    editor = await person("edit")
    forged = pod_of(plain_job(namespace), namespace)

    with pytest.raises(Forbidden, match=NEW_PODS_POLICY):
        await editor.create(PODS, {**forged, "metadata": {**forged["metadata"], "labels": labels}})
    await editor.create(PODS, forged)


async def test_a_deployment_makes_no_pod_with_our_labels(person: Person, namespace: str) -> None:
    editor = await person("edit")
    labels = {"app.kubernetes.io/managed-by": "bernstein"}
    pod = pod_of(job(namespace), namespace)["spec"] | {"restartPolicy": "Always"}
    await editor.create(
        DEPLOYMENTS,
        {
            "metadata": {"name": "forger", "namespace": namespace},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        },
    )

    async def refused() -> bool:
        sets = (await editor.list(REPLICA_SETS, namespace)).items
        conditions = [c for s in sets for c in s.get("status", {}).get("conditions", ())]
        return any("bernstein-pods" in c["message"] for c in conditions)

    await eventually(refused)
    assert (await editor.list(PODS, namespace)).items == []


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"labels": {"bernstein.dev/task": "other"}}},
        {"metadata": {"labels": {"bernstein.dev/task": None}}},
        {"metadata": {"labels": {"bernstein.dev/check": "lint"}}},
        {"metadata": {"labels": {"app.kubernetes.io/managed-by": "me"}}},
        {"metadata": {"finalizers": None}},
        {"spec": {"containers": [{"name": "check", "image": "true"}]}},
        {"spec": {"activeDeadlineSeconds": 1}},
    ],
    ids=["relabel", "unlabel", "label", "take", "finalizer", "image", "deadline"],
)
async def test_nobody_else_changes_what_matters_of_our_pods(
    operator: Client, admin: Client, person: Person, namespace: str, change: dict[str, Any]
) -> None:
    await operator.create(JOBS, job(namespace))
    pod = (await first_pod(operator, namespace, "one"))["metadata"]["name"]
    if containers := change.get("spec", {}).get("containers"):
        found = await operator.get(PODS, pod, namespace)
        change = {"spec": {"containers": [{**found["spec"]["containers"][0], **containers[0]}]}}
    editor = await person("edit")

    for other in (editor, admin):
        with pytest.raises(Forbidden, match=PODS_POLICY):
            await other.patch(PODS, pod, namespace, change)


@pytest.mark.parametrize("subresource", ["ephemeralcontainers", "resize"])
async def test_nobody_changes_our_pods_by_another_door(
    operator: Client, admin: Client, person: Person, namespace: str, subresource: str
) -> None:
    """A container that `kubectl debug` adds could mount the Secrets of the others."""
    made = job(namespace)
    (container,) = made["spec"]["template"]["spec"]["containers"]
    container["resources"] = {"requests": {"cpu": "10m", "memory": "16Mi"}}
    await operator.create(JOBS, made)
    pod = (await first_pod(operator, namespace, "one"))["metadata"]["name"]
    (stored,) = (await operator.get(PODS, pod, namespace))["spec"]["containers"]
    changes: dict[str, Object] = {
        "ephemeralcontainers": {"ephemeralContainers": [{"name": "debug", "image": "busybox"}]},
        "resize": {
            "containers": [{**stored, "resources": {"requests": {"cpu": "20m", "memory": "16Mi"}}}]
        },
    }
    change = {"spec": changes[subresource]}

    with pytest.raises(Forbidden, match=PODS_POLICY):
        await admin.patch(PODS, pod, namespace, change, subresource=subresource)
    with pytest.raises(Forbidden):
        await (await person("edit")).patch(PODS, pod, namespace, change, subresource=subresource)
    with pytest.raises(Forbidden):
        await operator.patch(PODS, pod, namespace, change, subresource=subresource)

    plain = plain_job(namespace)
    plain["spec"]["template"]["spec"]["containers"] = [container]
    await admin.create(JOBS, plain)
    other = (await first_pod(operator, namespace, "plain"))["metadata"]["name"]
    await admin.patch(PODS, other, namespace, change, subresource=subresource)


async def test_others_may_annotate_and_label_our_pods_for_their_own_ends(
    operator: Client, person: Person, namespace: str
) -> None:
    await operator.create(JOBS, job(namespace))
    pod = (await first_pod(operator, namespace, "one"))["metadata"]["name"]
    editor = await person("edit")

    mine = {"metadata": {"labels": {"team": "a"}, "annotations": {"team": "a"}}}
    changed = await editor.patch(PODS, pod, namespace, mine)

    assert changed["metadata"]["labels"]["team"] == "a"


# --- status

STATUS: dict[str, dict[str, Any]] = {
    "Project": {"running": 1},
    "Plan": {"phase": "Running"},
    "Task": {"state": "Claimed"},
    "AgentSession": {"state": "Working"},
    "Approval": {"state": "Approved"},
    "AgentRole": {"overrides": True},
}


@pytest.mark.parametrize("kind", sorted(KINDS))
async def test_the_operator_alone_writes_status(
    operator: Client, admin: Client, person: Person, namespace: str, kind: str
) -> None:
    author = operator if kind in ("AgentSession", "Approval") else admin
    await author.create(KINDS[kind], valid(kind, namespace))
    change = {"status": STATUS[kind]}

    with pytest.raises(Forbidden, match=STATUS_POLICY):
        await admin.patch(KINDS[kind], "one", namespace, change, subresource="status")
    owner = await person("admin")
    with pytest.raises(Forbidden, match="cannot patch resource"):
        await owner.patch(KINDS[kind], "one", namespace, change, subresource="status")
    made = await operator.patch(KINDS[kind], "one", namespace, change, subresource="status")
    assert made["status"] | STATUS[kind] == made["status"]


def report(name: str, namespace: str, **status: Any) -> Object:
    return {"metadata": {"name": name, "namespace": namespace}, "status": status}


async def test_the_server_reports_on_a_session(
    operator: Client, server: Client, namespace: str
) -> None:
    await operator.create(AGENT_SESSIONS, valid("AgentSession", namespace))
    state = {"status": {"state": "Starting"}}
    await operator.patch(AGENT_SESSIONS, "one", namespace, state, subresource="status")

    for seq in (1, 2):
        said = await server.apply(
            AGENT_SESSIONS,
            report("one", namespace, report={"seq": seq}),
            field_manager="bernstein-server",
            subresource="status",
        )

    assert said["status"] == {"observedGeneration": -1, "state": "Starting", "report": {"seq": 2}}


SHA = "0" * 40


@pytest.mark.parametrize(
    "change",
    [
        {"state": "Dead"},
        {"startedAt": None},
        {"observedGeneration": 1},
        {"work": {"base": SHA, "sha": SHA, "tree": SHA, "ref": "refs/heads/main"}},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_the_server_changes_nothing_else_of_a_session(
    operator: Client, server: Client, namespace: str, change: dict[str, Any]
) -> None:
    await operator.create(AGENT_SESSIONS, valid("AgentSession", namespace))
    begun = {"status": {"state": "Starting", "startedAt": "2030-01-01T00:00:00Z"}}
    await operator.patch(AGENT_SESSIONS, "one", namespace, begun, subresource="status")

    body = {"status": {"report": {"seq": 1}, **change}}
    with pytest.raises(Forbidden, match=REPORT_POLICY):
        await server.patch(AGENT_SESSIONS, "one", namespace, body, subresource="status")


@pytest.mark.parametrize("kind", ["Project", "Plan", "Task"])
async def test_the_server_writes_no_other_status_even_if_it_is_given_the_right(
    admin: Client, server: Client, tools: Tools, namespace: str, kind: str
) -> None:
    await admin.create(KINDS[kind], valid(kind, namespace))
    change = {"status": STATUS[kind]}
    with pytest.raises(Forbidden, match="cannot patch resource"):
        await server.patch(KINDS[kind], "one", namespace, change, subresource="status")

    account = f"{RELEASE_NAMESPACE}:bernstein-server"
    tools.kubectl(
        *("create", "rolebinding", "too-much", "-n", namespace),
        *("--clusterrole=cluster-admin", f"--serviceaccount={account}"),
    )

    async def reaches_the_policy() -> bool:
        try:
            await server.patch(KINDS[kind], "one", namespace, change, subresource="status")
        except Forbidden as refusal:
            return "nothing but status.report" in str(refusal)
        raise AssertionError("the server's account wrote it")

    await eventually(reaches_the_policy)


# --- AgentSessions


async def test_only_the_operator_makes_and_changes_sessions(
    operator: Client, admin: Client, person: Person, namespace: str
) -> None:
    owner = await person("admin")
    with pytest.raises(Forbidden, match="cannot create resource"):
        await owner.create(AGENT_SESSIONS, valid("AgentSession", namespace))
    with pytest.raises(Forbidden, match=SESSIONS_POLICY):
        await admin.create(AGENT_SESSIONS, valid("AgentSession", namespace))
    await operator.create(AGENT_SESSIONS, valid("AgentSession", namespace))

    stop = {"spec": {"stop": {"reason": "Cancelled"}}}
    with pytest.raises(Forbidden, match=SESSIONS_POLICY):
        await admin.patch(AGENT_SESSIONS, "one", namespace, stop)
    await operator.patch(AGENT_SESSIONS, "one", namespace, stop)


async def test_sessions_go_away_with_their_task(
    operator: Client, person: Person, namespace: str
) -> None:
    editor = await person("edit")
    task = await editor.create(TASKS, valid("Task", namespace))
    owner = {
        "apiVersion": task["apiVersion"],
        "kind": "Task",
        "name": "one",
        "uid": task["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    session = valid("AgentSession", namespace)
    session["metadata"]["ownerReferences"] = [owner]
    await operator.create(AGENT_SESSIONS, session)

    await editor.delete(TASKS, "one", namespace, propagation="Foreground")

    await gone(operator, AGENT_SESSIONS, namespace)
    await gone(operator, TASKS, namespace)
