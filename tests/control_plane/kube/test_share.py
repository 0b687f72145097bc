"""Objects that the real API server takes long to write, beside one of another namespace."""

from __future__ import annotations

import uuid

import pytest

from bernstein.kube import share
from bernstein.kube.client import Client
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Controller, Result
from bernstein.kube.resource import Key, Object
from tests.background import Background, eventually
from tests.control_plane.kube.conftest import WIDGETS, named
from tests.resources import NAMESPACES

WORKERS = 4
LARGE = 12
FIELDS = 12_000
"""Names in the managedFields of each: a write of it takes some tenths of a second."""


def large(number: int, namespace: str) -> Object:
    fields: Object = {"f:metadata": {"f:annotations": {f"f:k{n}": {} for n in range(FIELDS)}}}
    entry = {"manager": "m", "operation": "Update", "apiVersion": WIDGETS.api_version}
    obj = named(WIDGETS, f"large-{number}", namespace)
    obj["metadata"]["managedFields"] = [entry | {"fieldsType": "FieldsV1", "fieldsV1": fields}]
    return obj


@pytest.mark.parametrize(
    ("slow_seconds", "before"),
    [
        pytest.param(0.05, range(1, LARGE // 2 + 1), id="half of the workers"),
        pytest.param(1000.0, range(LARGE - WORKERS + 1, LARGE + 1), id="all of them"),
    ],
)
async def test_how_many_slow_writes_of_others_a_write_waits_for(
    client: Client,
    namespace: str,
    background: Background,
    monkeypatch: pytest.MonkeyPatch,
    slow_seconds: float,
    before: range,
) -> None:
    monkeypatch.setattr(share, "SLOW_SECONDS", slow_seconds)
    greedy = f"greedy-{uuid.uuid4().hex[:8]}"
    await client.create(NAMESPACES, {"metadata": {"name": greedy}})
    keys = [Key(greedy, f"large-{number}") for number in range(LARGE)]
    for number in range(LARGE):
        await client.create(WIDGETS, large(number, greedy))
    small = Key(namespace, "small")
    await client.create(WIDGETS, named(WIDGETS, small.name, namespace))
    written: list[Key] = []

    async def reconcile(key: Key) -> Result:
        await client.patch(
            WIDGETS, key.name, key.namespace, {"status": {"n": 1}}, subresource="status"
        )
        written.append(key)
        return Result()

    elsewhere = Informer(client, WIDGETS, label_selector="nobody=has-it")
    background.start(elsewhere.run())
    controller = Controller("widgets", reconcile, primary=elsewhere, workers=WORKERS)
    background.start(controller.run())
    controller.queue.add(small)
    await eventually(lambda: written == [small])
    written.clear()

    for key in (*keys, small):
        controller.queue.add(key)

    await eventually(lambda: small in written)
    assert written.index(small) in before
