"""RBAC of the chart: what its accounts and the cluster's own roles may do, and what not."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden, NotFound
from bernstein.kube.resource import LEASES, Resource
from tests.control_plane.conftest import RELEASE_NAMESPACE, Person, Tools, may
from tests.control_plane.objects import (
    AGENT_SESSIONS,
    APPROVALS,
    KINDS,
    PLANS,
    PROJECTS,
    TASKS,
    valid,
)
from tests.documents import documents


class Right(NamedTuple):
    verb: str
    what: str
    """`resource[.group][/subresource]`"""


CALLS: Mapping[tuple[str, int], tuple[str, ...]] = {
    # Of the controllers, after the key of whom it is for. A name that is taken is looked at, and
    # so is an object whose finalizers changed meanwhile.
    ("create", 1): ("create", "get"),
    ("merge", 1): ("patch",),
    ("release", 1): ("patch", "get"),
    ("set_spec", 1): ("patch",),
    ("delete", 1): ("delete",),
    ("delete_unchanged", 1): ("delete",),
    ("status", 1): ("patch/status",),
    # Of the engine.
    ("Delete", 0): ("delete",),
    ("Informer", 1): ("list", "watch"),
    ("informer", 0): ("list", "watch"),
    # Of the client itself.
    ("create", 0): ("create",),
    ("get", 0): ("get",),
    ("list", 0): ("list",),
    ("first_page", 0): ("list",),
    ("patch", 0): ("patch",),
    ("apply", 0): ("patch",),
}
"""What is called with a resource, at which argument -> the verbs that the API server sees."""
LOGS = {"logs": Right("get", "pods/log")}
"""Calls of the client that name no resource."""
OWNERS = ("plans", "tasks", "agentsessions")
"""Who makes an object that blocks its owner's deletion needs a right on the owner's finalizers;
the test's API server insists on it, too."""
EVERYBODYS = Right("create", "selfsubjectaccessreviews.authorization.k8s.io")


def _modules(name: str) -> Iterator[ModuleType]:
    """A module, or all modules of a package."""
    module = importlib.import_module(name)
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
        yield importlib.import_module(found.name)


def _asked(*modules: str) -> set[Right]:
    """The rights that the code's calls need. A call whose resource is no constant is not seen, and
    then its right has no use here: the test fails, rather than to let a wide one pass."""
    found: set[Right] = set()
    for module in (found for name in modules for found in _modules(name)):
        for call in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
            if isinstance(call, ast.Call):
                found.update(_needed(call, vars(module)))
    return found


def _needed(call: ast.Call, names: Mapping[str, Any]) -> Iterator[Right]:
    called = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    called = call.func.id if isinstance(call.func, ast.Name) else called
    if isinstance(call.func, ast.Attribute) and called in LOGS:
        yield LOGS[called]
    below = [word.value for word in call.keywords if word.arg == "subresource"]
    for place, argument in enumerate(call.args):
        resource = names.get(argument.id) if isinstance(argument, ast.Name) else None
        if isinstance(resource, Resource):
            for verb in CALLS.get((called, place), ()):
                verb, _, part = verb.partition("/")
                part = ast.literal_eval(below[0]) if below else part
                yield Right(verb, _what(resource.group, resource.plural, part))


def _what(group: str, resource: str, subresource: str = "") -> str:
    name = f"{resource}.{group}" if group else resource
    return f"{name}/{subresource}" if subresource else name


class Grant(NamedTuple):
    """Where a right holds, and for which object; "" is everywhere, and every one."""

    right: Right
    namespace: str = ""
    name: str = ""


def _everywhere(rights: Iterable[Right]) -> set[Grant]:
    return {Grant(right) for right in rights}


def _granted(tools: Tools, account: str) -> set[Grant]:
    """What the chart's roles of that name allow."""
    rendered = tools.template("-n", RELEASE_NAMESPACE)
    rules = [
        (rule, document["metadata"].get("namespace", ""))
        for document in documents(rendered)
        if document["kind"] in ("ClusterRole", "Role")
        if document["metadata"]["name"] == account
        for rule in document["rules"]
    ]
    return {
        Grant(Right(verb, _what(group, *resource.split("/"))), namespace, name)
        for rule, namespace in rules
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
    }


def test_who_makes_the_certificate_has_a_right_on_its_one_secret(tools: Tools) -> None:
    used = _asked("bernstein.certificates")

    assert used == {Right("get", "secrets"), Right("patch", "secrets")}
    assert _granted(tools, "bernstein-certificates") == {
        Grant(right, RELEASE_NAMESPACE, "bernstein-server-certificate") for right in used
    }


def test_the_operator_has_the_rights_that_its_code_uses_and_no_other(tools: Tools) -> None:
    used = _asked("bernstein.controllers", "bernstein.kube.events")
    finalizers = {Right("update", f"{owner}.bernstein.dev/finalizers") for owner in OWNERS}
    lease = {
        # A create cannot be limited to a name.
        Grant(right, RELEASE_NAMESPACE, "" if right.verb == "create" else "bernstein-operator")
        for right in _asked("bernstein.kube.lease")
    }
    assert lease
    assert _granted(tools, "bernstein-operator") == _everywhere(used | finalizers) | lease


def test_the_server_has_the_rights_that_its_code_uses_and_no_other(tools: Tools) -> None:
    used = _asked("bernstein.server") - {EVERYBODYS}
    assert _granted(tools, "bernstein-server") == _everywhere(used)


@pytest.mark.parametrize(
    "refused",
    [
        ("get", "secrets"),
        ("list", "secrets"),
        ("list", "configmaps"),
        ("update", "configmaps"),
        ("delete", "configmaps"),
        ("create", "pods"),
        ("delete", "pods"),
        ("create", "pods/exec"),
        ("get", "pods/exec"),
        ("list", "pods/log"),
        ("update", "jobs.batch"),
        ("create", "projects.bernstein.dev"),
        ("patch", "projects.bernstein.dev"),
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


WRITES = ("create", "update", "patch", "delete", "deletecollection")


async def _allowed(
    client: Client, namespace: str, kinds: Iterable[str], *parts: str
) -> list[tuple[str, str]]:
    """What it may write of these kinds, or of these parts of theirs."""
    whats = [_what(KINDS[k].group, KINDS[k].plural, part) for k in kinds for part in parts]
    asked = [(verb, what) for what in whats for verb in WRITES]
    return [each for each in asked if await may(client, *each, namespace)]


async def test_a_viewer_writes_nothing_of_any_kind(person: Person, namespace: str) -> None:
    viewer = await person("view")

    assert await _allowed(viewer, namespace, KINDS, "", "status", "finalizers") == []


async def test_an_editor_writes_no_status_and_no_kind_but_plans_and_tasks(
    person: Person, namespace: str
) -> None:
    editor = await person("edit")
    others = [kind for kind in KINDS if kind not in ("Plan", "Task")]

    assert await _allowed(editor, namespace, KINDS, "status", "finalizers") == []
    assert await _allowed(editor, namespace, others, "") == []


@pytest.mark.parametrize(
    "allowed",
    [("list", "configmaps"), ("list", "pods"), ("get", "pods/log")],
    ids=lambda allowed: " ".join(allowed),
)
async def test_a_viewer_reads_what_checks_printed(
    person: Person, namespace: str, allowed: tuple[str, str]
) -> None:
    """By Kubernetes' own role: the chart adds nothing for it."""
    assert await may(await person("view"), *allowed, namespace)


async def test_an_editor_writes_plans_and_tasks_only(person: Person, namespace: str) -> None:
    editor = await person("edit")

    await editor.create(PLANS, valid("Plan", namespace))
    await editor.create(TASKS, valid("Task", namespace))
    await editor.patch(PLANS, "one", namespace, {"spec": {"cancel": {"reason": "Enough"}}})
    await editor.delete(TASKS, "one", namespace)

    others = {"Project": PROJECTS, "AgentSession": AGENT_SESSIONS, "Approval": APPROVALS}
    for kind, resource in others.items():
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
