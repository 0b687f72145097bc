"""The real engine with the operator's account, on the real API server, Job controller and
garbage collector."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial

import pytest

from bernstein.core import labels
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import Conflict, NotFound
from bernstein.kube.resource import LEASES, PODS, Resource
from bernstein.resources import SESSIONS
from tests.cluster import Cluster
from tests.cluster.control_plane import audit
from tests.control_plane.conftest import RELEASE_NAMESPACE, Tools, eventually
from tests.control_plane.controllers.kubelet import Kubelet
from tests.control_plane.controllers.world import World
from tests.resources import NAMESPACES, RBAC, ROLE_BINDINGS, ROLES


@pytest.fixture(scope="session")
def node(tools: Tools, chart: None) -> Iterator[str]:
    name = played_node(tools)
    yield name
    tools.kubectl("delete", "node", name, "--wait=false")


def played_node(tools: Tools) -> str:
    """Its name. Pods on a node that does not exist would be collected."""
    name = f"played-{uuid.uuid4().hex[:6]}"
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    tools.kubectl("create", "-f-", stdin=json.dumps(node))
    return name


MakeWorld = Callable[[], Awaitable[World]]


@pytest.fixture
async def make_world(
    admin: Client, operator_connection: ConnectionInfo, cluster: Cluster, node: str
) -> AsyncIterator[MakeWorld]:
    """A new namespace for every call; gone with all that is in it at the end of the test."""
    async with worlds(admin, operator_connection, cluster, node) as make:
        yield make


@contextlib.asynccontextmanager
async def worlds(
    admin: Client, connection: ConnectionInfo, cluster: Cluster, node: str
) -> AsyncIterator[MakeWorld]:
    """`connection`: of the operator's account; `node`: one that no kubelet keeps."""
    made: list[World] = []
    kubelets: list[asyncio.Task[None]] = []
    async with Client(connection) as operator:

        async def make() -> World:
            name = f"controllers-{uuid.uuid4().hex[:8]}"
            labels = {"pod-security.kubernetes.io/enforce": "restricted"}
            await admin.create(NAMESPACES, {"metadata": {"name": name, "labels": labels}})
            await _lend_leases(admin, operator, name)
            kubelet = Kubelet(admin, name, node)
            kubelets.append(asyncio.create_task(kubelet.run()))
            log = cluster.audit_log
            position = audit.position(log)
            made.append(World(admin, connection, operator, name, kubelet, log, position))
            return made[-1]

        yield make
        await asyncio.gather(*(world.end() for world in made))
        for kubelet in kubelets:
            kubelet.cancel()
        ended = await asyncio.gather(*kubelets, return_exceptions=True)
        await asyncio.gather(*(_remove(admin, operator, world.namespace) for world in made))
    for end in ended:
        if isinstance(end, Exception):
            raise end


@pytest.fixture
async def world(make_world: MakeWorld) -> World:
    """One namespace with a Project without gates, and nobody at work yet."""
    world = await make_world()
    await world.project(gates={"enabled": False})
    return world


async def _remove(admin: Client, operator: Client, namespace: str) -> None:
    """Nobody is left who would take the operator's finalizers off.

    A namespace that cannot go is tried again and again, with some 35 requests each time.
    """
    for resource in (SESSIONS, PODS):
        for held in (await admin.list(resource, namespace)).items:
            name = held["metadata"]["name"]
            await eventually(partial(_let_go, operator, resource, name, namespace))
            if resource is PODS:
                with contextlib.suppress(NotFound):
                    await admin.delete(PODS, name, namespace, grace_seconds=0)
    with contextlib.suppress(NotFound, Conflict):
        await admin.delete(NAMESPACES, namespace, propagation="Background")


async def _let_go(operator: Client, resource: Resource, name: str, namespace: str) -> bool:
    """Takes the operator's finalizer off; others may change the object meanwhile."""
    with contextlib.suppress(NotFound):
        meta = (await operator.get(resource, name, namespace))["metadata"]
        held = meta.get("finalizers", [])
        kept = [f for f in held if f != labels.FINALIZER]
        if kept != held:
            change = {"finalizers": kept, "resourceVersion": meta["resourceVersion"]}
            await operator.patch(resource, name, namespace, {"metadata": change})
    return True


async def _lend_leases(admin: Client, operator: Client, namespace: str) -> None:
    """The operator's account may keep a Lease in the chart's namespace alone; here too now."""
    verbs = ["get", "create", "patch"]
    rules = [{"apiGroups": [LEASES.group], "resources": [LEASES.plural], "verbs": verbs}]
    subject = {
        "kind": "ServiceAccount",
        "name": "bernstein-operator",
        "namespace": RELEASE_NAMESPACE,
    }
    reference = {"apiGroup": RBAC, "kind": "Role", "name": "lease"}
    metadata = {"name": "lease", "namespace": namespace}
    await admin.create(ROLES, {"metadata": metadata, "rules": rules})
    binding = {"metadata": metadata, "roleRef": reference, "subjects": [subject]}
    await admin.create(ROLE_BINDINGS, binding)

    async def lent() -> bool:
        with contextlib.suppress(NotFound):
            await operator.get(LEASES, "operator", namespace)
        return True

    await eventually(lent)
