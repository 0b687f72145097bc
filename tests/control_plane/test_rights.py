"""RBAC of the chart: what its accounts and the cluster's own roles may do, and what not."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden, NotFound
from bernstein.kube.resource import LEASES, Resource
from tests.control_plane.conftest import RELEASE_NAMESPACE, Person
from tests.control_plane.objects import AGENT_SESSIONS, KINDS, PLANS, PROJECTS, TASKS, valid

REVIEWS = Resource(
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", False
)


async def may(client: Client, verb: str, what: str, namespace: str = "default") -> bool:
    """`what` is `resource[.group][/subresource]`."""
    resource, _, subresource = what.partition("/")
    plural, _, group = resource.partition(".")
    attributes: dict[str, Any] = {
        "verb": verb,
        "resource": plural,
        "group": group,
        "subresource": subresource,
        "namespace": namespace,
    }
    review = {"spec": {"resourceAttributes": attributes}}
    return bool((await client.create(REVIEWS, review))["status"]["allowed"])


@pytest.mark.parametrize(
    "refused",
    [
        ("get", "secrets"),
        ("list", "secrets"),
        ("list", "configmaps"),
        ("patch", "configmaps"),
        ("delete", "configmaps"),
        ("create", "pods"),
        ("delete", "pods"),
        ("delete", "tasks.bernstein.dev"),
        ("create", "pods/exec"),
        ("update", "jobs.batch"),
        ("create", "projects.bernstein.dev"),
        ("patch", "projects.bernstein.dev"),
        ("create", "plans.bernstein.dev"),
        ("patch", "plans.bernstein.dev"),
        ("delete", "plans.bernstein.dev"),
        ("create", "serviceaccounts/token"),
        ("impersonate", "users"),
        ("create", "rolebindings.rbac.authorization.k8s.io"),
        ("get", "leases.coordination.k8s.io"),
    ],
    ids=lambda refused: " ".join(refused),
)
async def test_the_operator_may_not(operator: Client, refused: tuple[str, str]) -> None:
    assert not await may(operator, *refused)


async def test_the_operator_holds_its_own_lease_and_no_other(operator: Client) -> None:
    name = "bernstein-operator"
    await _create_lease(operator, name)

    await operator.patch(
        LEASES, name, RELEASE_NAMESPACE, {"spec": {"holderIdentity": "a", "leaseTransitions": 1}}
    )

    with pytest.raises(Forbidden):
        await operator.get(LEASES, "another", RELEASE_NAMESPACE)


async def _create_lease(client: Client, name: str) -> None:
    place = {"name": name, "namespace": RELEASE_NAMESPACE}
    try:
        await client.get(LEASES, name, RELEASE_NAMESPACE)
    except NotFound:
        await client.create(LEASES, {"metadata": place, "spec": {}})


@pytest.mark.parametrize(
    "refused",
    [
        ("get", "secrets"),
        ("list", "agentsessions.bernstein.dev"),
        ("watch", "agentsessions.bernstein.dev"),
        ("patch", "agentsessions.bernstein.dev"),
        ("update", "agentsessions.bernstein.dev/status"),
        ("get", "tasks.bernstein.dev"),
        ("patch", "tasks.bernstein.dev/status"),
        ("patch", "plans.bernstein.dev/status"),
        ("get", "pods"),
        ("create", "jobs.batch"),
        ("get", "configmaps"),
        ("create", "subjectaccessreviews.authorization.k8s.io"),
    ],
    ids=lambda refused: " ".join(refused),
)
async def test_the_server_may_not(server: Client, refused: tuple[str, str]) -> None:
    assert not await may(server, *refused)


@pytest.mark.parametrize(
    "allowed",
    [
        ("get", "agentsessions.bernstein.dev"),
        ("patch", "agentsessions.bernstein.dev/status"),
        ("create", "tokenreviews.authentication.k8s.io"),
    ],
    ids=lambda allowed: " ".join(allowed),
)
async def test_the_server_may(server: Client, allowed: tuple[str, str]) -> None:
    assert await may(server, *allowed)


async def test_a_viewer_sees_every_kind_and_writes_none(person: Person, namespace: str) -> None:
    viewer = await person("view")

    for kind, resource in KINDS.items():
        await viewer.list(resource, namespace)
        with pytest.raises(Forbidden):
            await viewer.create(resource, valid(kind, namespace))


async def test_an_editor_writes_plans_and_tasks_only(person: Person, namespace: str) -> None:
    editor = await person("edit")

    await editor.create(PLANS, valid("Plan", namespace))
    await editor.create(TASKS, valid("Task", namespace))
    await editor.patch(PLANS, "one", namespace, {"spec": {"cancel": {"reason": "Enough"}}})
    await editor.delete(TASKS, "one", namespace)

    for kind, resource in (("Project", PROJECTS), ("AgentSession", AGENT_SESSIONS)):
        with pytest.raises(Forbidden, match="cannot create resource"):
            await editor.create(resource, valid(kind, namespace))


async def test_an_administrator_of_the_namespace_writes_projects(
    person: Person, namespace: str
) -> None:
    administrator = await person("admin")

    await administrator.create(PROJECTS, valid("Project", namespace))
    await administrator.create(PLANS, valid("Plan", namespace))

    for verb in ("create", "update", "patch", "delete"):
        assert not await may(administrator, verb, "agentsessions.bernstein.dev", namespace)
        for kind in KINDS.values():
            assert not await may(
                administrator, verb, f"{kind.plural}.{kind.group}/status", namespace
            )
