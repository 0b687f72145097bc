"""The client's assumptions about the API, on a real API server."""

from contextlib import aclosing

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import AlreadyExists, Conflict, Invalid, NotFound
from bernstein.kube.resource import CONFIG_MAPS, JOBS, PODS, Object
from tests.control_plane.kube.conftest import WIDGETS, items, named, until


def job(name: str, namespace: str) -> Object:
    container = {"name": "c", "image": "none"}
    pod = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    return named(JOBS, name, namespace, spec={"template": pod, "backoffLimit": 0})


async def test_errors_are_told_apart(client: Client, namespace: str) -> None:
    config = named(CONFIG_MAPS, "c", namespace)
    live = await client.create(CONFIG_MAPS, config)
    with pytest.raises(AlreadyExists):
        await client.create(CONFIG_MAPS, config)
    with pytest.raises(NotFound):
        await client.get(CONFIG_MAPS, "none", namespace)
    with pytest.raises(Conflict):
        await client.delete(CONFIG_MAPS, "c", namespace, uid="another")
    stale = {"metadata": {"resourceVersion": "1"}, "data": {"a": "1"}}
    with pytest.raises(Conflict):
        await client.patch(CONFIG_MAPS, "c", namespace, stale)
    for path in ("/metadata/uid", "/metadata/finalizers/0"):
        test = {"op": "test", "path": path, "value": "another"}
        with pytest.raises(Invalid):
            await client.patch(CONFIG_MAPS, "c", namespace, [test])
    with pytest.raises(Invalid):
        await client.create(CONFIG_MAPS, named(CONFIG_MAPS, "Not_A_Name", namespace))
    await client.delete(CONFIG_MAPS, "c", namespace, uid=live["metadata"]["uid"])


async def test_lists_are_read_page_by_page(client: Client, namespace: str) -> None:
    for number in range(7):
        labels = {"half": "even" if number % 2 == 0 else "odd"}
        config = named(CONFIG_MAPS, f"c{number}", namespace)
        config["metadata"]["labels"] = labels
        await client.create(CONFIG_MAPS, config)
    listed = await client.list(CONFIG_MAPS, namespace, limit=2)
    assert {f"c{n}" for n in range(7)} <= {o["metadata"]["name"] for o in listed.items}
    assert {o["kind"] for o in listed.items} == {"ConfigMap"}
    even = await client.list(CONFIG_MAPS, namespace, label_selector="half=even", limit=2)
    assert len(even.items) == 4


async def test_a_watch_gives_what_came_after_the_list(client: Client, namespace: str) -> None:
    start = (await client.list(WIDGETS, namespace)).resource_version
    await client.create(WIDGETS, named(WIDGETS, "w", namespace))
    await client.patch(WIDGETS, "w", namespace, {"spec": {"a": 1}})
    await client.delete(WIDGETS, "w", namespace, propagation="Background")
    async with aclosing(client.watch(WIDGETS, namespace, resource_version=start)) as events:
        types = [(await anext(events)).type for _ in range(3)]
    assert types == ["ADDED", "MODIFIED", "DELETED"]


async def test_a_job_deleted_in_the_foreground_takes_its_pods_along(
    client: Client, namespace: str
) -> None:
    await client.create(JOBS, job("j", namespace))
    await until(lambda: items(client, PODS, namespace))
    await client.delete(JOBS, "j", namespace)

    async def gone() -> bool:
        return not await items(client, JOBS, namespace)

    await until(gone)
    assert await items(client, PODS, namespace) == []


async def test_apply_owns_fields_and_another_manager_conflicts(
    client: Client, namespace: str
) -> None:
    await client.apply(CONFIG_MAPS, named(CONFIG_MAPS, "c", namespace, data={"a": "1"}))
    other = named(CONFIG_MAPS, "c", namespace, data={"a": "2"})
    with pytest.raises(Conflict):
        await client.apply(CONFIG_MAPS, other, field_manager="other")
    live = await client.apply(CONFIG_MAPS, other, field_manager="other", force=True)
    assert live["data"] == {"a": "2"}
