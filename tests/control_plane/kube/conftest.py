"""A control plane of its own: some of these tests kill its parts."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress

import pytest

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import AlreadyExists, KubeError
from bernstein.kube.resource import Object, Resource
from tests.cluster.interface import Cluster
from tests.cluster.provider import select
from tests.control_plane.conftest import own_name
from tests.resources import NAMESPACES

WIDGETS = Resource("engine.example.com", "v1", "widgets", "Widget")
DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    namespaced=False,
)
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition() -> Object:
    return {
        "metadata": {"name": f"{WIDGETS.plural}.{WIDGETS.group}"},
        "spec": {
            "group": WIDGETS.group,
            "scope": "Namespaced",
            "names": {"plural": WIDGETS.plural, "kind": WIDGETS.kind, "singular": "widget"},
            "versions": [
                {
                    "name": WIDGETS.version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"spec": ANYTHING, "status": ANYTHING},
                        }
                    },
                }
            ],
        },
    }


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    engine = select("control-plane", own_name("engine"))
    engine.up()
    yield engine
    engine.down()


@pytest.fixture
def connection(cluster: Cluster) -> ConnectionInfo:
    return ConnectionInfo.from_kubeconfig(str(cluster.kubeconfig))


@pytest.fixture
async def client(connection: ConnectionInfo) -> AsyncIterator[Client]:
    async with Client(connection, timeout=10.0) as client:
        await until(lambda: served(client))
        yield client


async def served(client: Client) -> bool:
    """Whether the API server is up and serves Widgets, which it is told to."""
    try:
        with suppress(AlreadyExists):
            await client.create(DEFINITIONS, definition())
        await client.list(WIDGETS, limit=1)
    except KubeError:
        return False
    return True


@pytest.fixture
async def namespace(client: Client) -> str:
    name = f"engine-{uuid.uuid4().hex[:8]}"
    await client.create(NAMESPACES, {"metadata": {"name": name}})
    return name


async def until(holds: Callable[[], Awaitable[object]], *, seconds: float = 60.0) -> None:
    """Waits until a condition that takes a request to know holds."""
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110 - another program does it
            await asyncio.sleep(0.05)


async def items(client: Client, resource: Resource, namespace: str) -> list[Object]:
    return (await client.list(resource, namespace)).items


def named(resource: Resource, name: str, namespace: str, **fields: object) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": metadata,
        **fields,
    }
