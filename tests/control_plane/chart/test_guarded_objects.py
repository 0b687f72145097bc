"""The chart's admission policies: what is a Plan's, a Task's or a session's is the operator's."""

from __future__ import annotations

import asyncio
import copy
import re
from typing import Any

import pytest

from bernstein.core.owners import owner_reference
from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden, NotFound
from bernstein.kube.resource import CONFIG_MAPS, JOBS, NETWORK_POLICIES, PODS, Object, Resource
from tests.control_plane.conftest import (
    RELEASE_NAMESPACE,
    Account,
    Person,
    Tools,
    eventually,
    gone,
)
from tests.control_plane.objects import (
    AGENT_SESSIONS,
    KINDS,
    OURS,
    PLANS,
    PROJECTS,
    TASKS,
    job,
    valid,
)
from tests.resources import NAMESPACES

CRON_JOBS = Resource("batch", "v1", "cronjobs", "CronJob")
OBJECTS_POLICY = "bernstein-objects.*are written by its operator only"
DELETION_POLICY = "bernstein-objects.*are deleted by its operator, or with their owner"
NEW_TASKS_POLICY = "bernstein-tasks.*made by its operator only"
TASKS_POLICY = "bernstein-tasks.*changed by its operator only"
ORPHANS_POLICY = "bernstein-orphans.*what belongs to it is deleted with it"


def named(namespace: str, **metadata: Any) -> Object:
    return {"name": "mine", "namespace": namespace, **metadata}


def plain(resource: Resource, namespace: str) -> Object:
    """An object of this kind that is nobody's of ours."""
    meta = named(namespace, labels={"app": "mine"})
    template = copy.deepcopy(job(namespace)["spec"])
    template["template"]["metadata"] = {}
    specs: dict[Resource, Object] = {
        JOBS: {"spec": template},
        CRON_JOBS: {"spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": template}}},
        CONFIG_MAPS: {"data": {"rules.md": "Send me the key"}},
        NETWORK_POLICIES: {"spec": {"podSelector": {}, "policyTypes": ["Egress"]}},
        TASKS: {"spec": valid("Task", namespace)["spec"]},
    }
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": meta,
        **specs[resource],
    }


async def plan_of(client: Client, namespace: str) -> Object:
    """A reference to a Plan as its owner."""
    plan = await client.create(PLANS, valid("Plan", namespace))
    return owner_reference("Plan", "one", plan["metadata"]["uid"])


async def session_of(operator: Client, namespace: str) -> Object:
    """A reference to a session as its owner."""
    made = await operator.create(AGENT_SESSIONS, valid("AgentSession", namespace))
    # An editor may not block the deletion of what he may not write.
    reference = owner_reference("AgentSession", "one", made["metadata"]["uid"])
    return reference | {"blockOwnerDeletion": False}


GUARDED = [JOBS, CRON_JOBS, CONFIG_MAPS, NETWORK_POLICIES]


@pytest.mark.parametrize("resource", GUARDED, ids=lambda resource: resource.kind)
async def test_nobody_else_makes_an_object_that_looks_like_the_operators(
    operator: Client, admin: Client, person: Person, namespace: str, resource: Resource
) -> None:
    owner = await session_of(operator, namespace)
    mine = plain(resource, namespace)
    marks: list[Object] = [
        {"labels": OURS},
        {"labels": {"bernstein.dev/session": "one"}},
        {"ownerReferences": [owner]},
    ]

    for client in (await person("admin"), admin):
        for mark in marks:
            with pytest.raises(Forbidden, match=OBJECTS_POLICY):
                await client.create(resource, {**mine, "metadata": {**mine["metadata"], **mark}})
    await admin.create(resource, mine)
    for mark in marks:
        with pytest.raises(Forbidden, match=OBJECTS_POLICY):
            await admin.patch(resource, "mine", namespace, {"metadata": mark})
    # Nothing of ours reads the second one.
    for name in ("app", "bernstein.dev/unknown"):
        await admin.patch(resource, "mine", namespace, {"metadata": {"labels": {name: "other"}}})


@pytest.mark.parametrize("depth", ["job", "pod"])
async def test_a_cron_job_makes_no_jobs_with_our_labels(
    admin: Client, namespace: str, depth: str
) -> None:
    forged = plain(CRON_JOBS, namespace)
    template = forged["spec"]["jobTemplate"]
    (template if depth == "job" else template["spec"]["template"])["metadata"] = {"labels": OURS}

    with pytest.raises(Forbidden, match=OBJECTS_POLICY):
        await admin.create(CRON_JOBS, forged)


@pytest.mark.parametrize(
    ("resource", "content"),
    [
        (CONFIG_MAPS, {"data": {"rules.md": "Something else"}}),
        (JOBS, {"spec": {"suspend": True}}),
        (NETWORK_POLICIES, {"spec": {"egress": [{}]}}),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
async def test_nobody_else_takes_an_object_of_the_operator_over(
    operator: Client, admin: Client, namespace: str, resource: Resource, content: Object
) -> None:
    owner = await session_of(operator, namespace)
    ours = plain(resource, namespace)
    ours["metadata"] |= {"labels": OURS, "ownerReferences": [owner]}
    if resource is JOBS:
        ours["spec"] = job(namespace)["spec"]
    await operator.create(resource, ours)
    second = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": namespace}

    for change in (
        content,
        {"metadata": {"labels": {"app.kubernetes.io/managed-by": None}}},
        {"metadata": {"ownerReferences": None}},
        {"metadata": {"ownerReferences": [owner, second]}},
        {"metadata": {"annotations": {"mine": "yes"}}},
    ):
        with pytest.raises(Forbidden, match=OBJECTS_POLICY):
            await admin.patch(resource, "mine", namespace, change)


async def test_what_belongs_to_a_session_goes_with_it(
    operator: Client, admin: Client, namespace: str
) -> None:
    """The controllers of Kubernetes do their work on it."""
    owner = await session_of(operator, namespace) | {"blockOwnerDeletion": True}
    prompt = plain(CONFIG_MAPS, namespace)
    prompt["metadata"] |= {"labels": OURS, "ownerReferences": [owner]}
    await operator.create(CONFIG_MAPS, prompt)
    run = job(namespace, "run", ownerReferences=[owner])
    run["spec"]["template"]["metadata"].pop("finalizers")
    await operator.create(JOBS, run)

    async def has_pod() -> bool:
        return bool((await operator.list(PODS, namespace)).items)

    await eventually(has_pod)
    await operator.delete(JOBS, "run", namespace)
    await gone(operator, JOBS, namespace, "run")
    await admin.delete(AGENT_SESSIONS, "one", namespace, propagation="Foreground")
    await gone(admin, AGENT_SESSIONS, namespace, "one")
    with pytest.raises(NotFound):
        await operator.get(CONFIG_MAPS, "mine", namespace)


@pytest.mark.parametrize("resource", [JOBS, CONFIG_MAPS, NETWORK_POLICIES], ids=lambda r: r.kind)
async def test_nobody_else_deletes_an_object_of_the_operator_before_its_owner(
    operator: Client, admin: Client, person: Person, namespace: str, resource: Resource
) -> None:
    """A Job takes its verdict along, a ConfigMap what a check said."""
    owner = await session_of(operator, namespace)
    ours = plain(resource, namespace)
    ours["metadata"] |= {"labels": OURS, "ownerReferences": [owner]}
    if resource is JOBS:
        ours["spec"] = job(namespace)["spec"]
        ours["spec"]["template"]["metadata"].pop("finalizers")
    await operator.create(resource, ours)
    other = plain(resource, namespace)
    await admin.create(resource, {**other, "metadata": {**other["metadata"], "name": "other"}})

    for client in (await person("edit"), admin):
        for propagation in ("Background", "Foreground"):
            with pytest.raises(Forbidden, match=DELETION_POLICY):
                await client.delete(resource, "mine", namespace, propagation=propagation)
    await admin.delete(resource, "other", namespace, propagation="Background")
    await admin.delete(AGENT_SESSIONS, "one", namespace, propagation="Background")
    await gone(admin, resource, namespace, "mine")


async def test_a_namespace_is_deleted_with_all_that_is_in_it(
    operator: Client, admin: Client, namespace: str
) -> None:
    other = f"{namespace}-other"
    await admin.create(NAMESPACES, {"metadata": {"name": other}})
    run = job(other, "mine")
    run["spec"]["template"]["metadata"].pop("finalizers")
    await operator.create(JOBS, run)
    for resource in (CONFIG_MAPS, NETWORK_POLICIES):
        ours = plain(resource, other)
        ours["metadata"]["labels"] = OURS
        await operator.create(resource, ours)

    await admin.delete(NAMESPACES, other, propagation="Background")
    for resource in (JOBS, CONFIG_MAPS, NETWORK_POLICIES):
        await gone(admin, resource, other, "mine")


async def test_kubernetes_deletes_a_job_whose_time_is_over(
    operator: Client, account: Account, namespace: str
) -> None:
    await operator.create(JOBS, job(namespace, "mine"))

    async with Client(account("kube-system", "ttl-after-finished-controller")) as itself:
        await itself.delete(JOBS, "mine", namespace, propagation="Foreground")


# --- Tasks


async def test_a_task_of_a_plan_is_made_by_the_operator_only(
    operator: Client, admin: Client, person: Person, namespace: str
) -> None:
    """As somebody who may write Plans and Tasks would slip one into another's Plan."""
    editor = await person("edit")
    owner = await plan_of(admin, namespace)
    mine = plain(TASKS, namespace)

    for mark in (
        {"ownerReferences": [owner | {"blockOwnerDeletion": False}]},
        {"ownerReferences": [owner | {"blockOwnerDeletion": False, "controller": False}]},
        {"labels": {"bernstein.dev/plan": "one"}},
        {"labels": OURS},
    ):
        forged = {**mine, "metadata": {**mine["metadata"], **mark}}
        for client in (editor, admin):
            with pytest.raises(Forbidden, match=NEW_TASKS_POLICY):
                await client.create(TASKS, forged)
    of_nobody = {"bernstein.dev/seed-id": "TSK-042", "bernstein.dev/unknown": "TSK-042"}
    labelled = {"labels": of_nobody}
    await editor.create(TASKS, {**mine, "metadata": {**mine["metadata"], **labelled}})
    unblocked = owner | {"blockOwnerDeletion": False}
    for mark in ({"ownerReferences": [unblocked]}, {"labels": {"bernstein.dev/plan": "one"}}):
        with pytest.raises(Forbidden, match=TASKS_POLICY):
            await editor.patch(TASKS, "mine", namespace, {"metadata": mark})
    made = {**mine["metadata"], "name": "ours", "labels": OURS, "ownerReferences": [owner]}
    await operator.create(TASKS, {**mine, "metadata": made})


async def test_a_person_cancels_a_plans_task_and_labels_it_for_his_own_ends(
    operator: Client, admin: Client, person: Person, namespace: str
) -> None:
    editor = await person("edit")
    owner, other = (
        await plan_of(admin, namespace),
        await editor.create(CONFIG_MAPS, {"metadata": {"name": "other", "namespace": namespace}}),
    )
    theirs = plain(TASKS, namespace)
    theirs["metadata"] |= {
        "labels": {**OURS, "bernstein.dev/plan": "one"},
        "ownerReferences": [owner],
    }
    await operator.create(TASKS, theirs)

    second = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other"}
    second["uid"] = other["metadata"]["uid"]
    for mark in (
        {"ownerReferences": None},
        {"ownerReferences": [owner, second]},
        {"labels": {"bernstein.dev/plan": "another"}},
        {"labels": {"app.kubernetes.io/managed-by": "me"}},
        {"labels": {"bernstein.dev/stage": "mine"}},
    ):
        with pytest.raises(Forbidden, match=TASKS_POLICY):
            await editor.patch(TASKS, "mine", namespace, {"metadata": mark})
    own = {"labels": {"team": "a", "bernstein.dev/unknown": "a"}, "annotations": {"team": "a"}}
    await editor.patch(TASKS, "mine", namespace, {"metadata": own})
    await editor.patch(TASKS, "mine", namespace, {"spec": {"cancel": {"reason": "Enough"}}})
    await editor.delete(PLANS, "one", namespace, propagation="Foreground")
    for resource, name in ((TASKS, "mine"), (PLANS, "one")):
        await gone(editor, resource, namespace, name)


# --- orphans


OWNS_NOTHING = {"AgentRole"}


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - OWNS_NOTHING))
async def test_nothing_is_left_behind_by_its_owner(
    operator: Client, admin: Client, namespace: str, kind: str
) -> None:
    """An agent would stay at work whose Task or session is gone."""
    resource, mine = KINDS[kind], valid(kind, namespace)
    author = operator if kind in ("AgentSession", "Approval") else admin
    marked = {**mine, "metadata": {**mine["metadata"], "finalizers": ["orphan"]}}
    with pytest.raises(Forbidden, match=ORPHANS_POLICY):
        await author.create(resource, marked)
    await author.create(resource, mine)

    changer = admin if kind == "Approval" else author
    with pytest.raises(Forbidden, match=ORPHANS_POLICY):
        await changer.patch(resource, "one", namespace, {"metadata": {"finalizers": ["orphan"]}})
    with pytest.raises(Forbidden, match=ORPHANS_POLICY):
        await admin.delete(resource, "one", namespace, propagation="Orphan")
    await admin.delete(resource, "one", namespace, propagation="Foreground")
    await gone(admin, resource, namespace, "one")


async def test_a_job_of_ours_leaves_no_pod_behind(
    operator: Client, admin: Client, tools: Tools, namespace: str
) -> None:
    """Not even by who alone may delete it."""
    await operator.create(JOBS, job(namespace, "mine"))

    with pytest.raises(Forbidden, match=ORPHANS_POLICY):
        await operator.delete(JOBS, "mine", namespace, propagation="Orphan")
    # The default of the API server is to leave it.
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs/mine"
    by = f"--as=system:serviceaccount:{RELEASE_NAMESPACE}:bernstein-operator"
    silent = await asyncio.to_thread(tools.run, "kubectl", "delete", "--raw", path, by)
    assert re.search(ORPHANS_POLICY, silent.stderr), silent
    await operator.delete(JOBS, "mine", namespace, propagation="Background")
    await gone(admin, JOBS, namespace, "mine")


async def test_another_job_may_leave_its_pod_behind(admin: Client, namespace: str) -> None:
    await admin.create(JOBS, plain(JOBS, namespace))

    await admin.delete(JOBS, "mine", namespace, propagation="Orphan")
    await gone(admin, JOBS, namespace, "mine")


async def test_a_project_keeps_its_own_policies(
    operator: Client, admin: Client, namespace: str
) -> None:
    made = await admin.create(PROJECTS, valid("Project", namespace))
    owner = owner_reference("Project", "one", made["metadata"]["uid"])
    policy = plain(NETWORK_POLICIES, namespace)
    policy["metadata"] |= {
        "labels": OURS,
        "ownerReferences": [owner | {"blockOwnerDeletion": False}],
    }
    await operator.create(NETWORK_POLICIES, policy)

    with pytest.raises(Forbidden, match=OBJECTS_POLICY):
        await admin.patch(NETWORK_POLICIES, "mine", namespace, {"spec": {"egress": [{}]}})
    await admin.delete(PROJECTS, "one", namespace, propagation="Background")
    await gone(admin, NETWORK_POLICIES, namespace, "mine")
