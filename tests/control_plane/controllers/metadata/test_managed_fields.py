"""Metadata that only its author needs: who has set which field, as deep and as large as the API
server takes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.kube.resource import Object
from bernstein.resources import TASKS
from tests.control_plane.conftest import Tools
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.world import World, state_of


def nested(levels: int) -> str:
    return '{"f:spec":' + '{"f:title":' * levels + "{}" + "}" * levels + "}"


def many(number: int) -> str:
    names: dict[str, Any] = {f"f:k{n}": {} for n in range(number)}
    return json.dumps({"f:metadata": {"f:annotations": names}}, separators=(",", ":"))


FIELDS = {"1,100 levels": nested(1_100), "9,000 levels": nested(9_000), "90,000": many(90_000)}


def create(tools: Tools, world: World, name: str, fields: str) -> None:
    """Python's own JSON goes no deeper either."""
    api_version, kind = TASKS.api_version, TASKS.kind
    entry = (
        '{"manager":"m","operation":"Update","apiVersion":"%s","fieldsType":"FieldsV1",'
        '"time":"2026-01-01T00:00:00Z","fieldsV1":%s}'
    )
    task = '{"apiVersion":"%s","kind":"%s","metadata":{"name":"%s","managedFields":[%s]},"spec":%s}'
    spec = '{"title":"t","dependsOn":["nobody"]}'
    whole = task % (api_version, kind, name, entry % (api_version, fields), spec)
    tools.kubectl("create", "-n", world.namespace, "-f-", stdin=whole)


def is_told(obj: Object) -> bool:
    return state_of(obj) is not None


@pytest.mark.parametrize("fields", FIELDS)
async def test_one_tasks_managed_fields_keep_no_other_from_its_status(
    make_world: MakeWorld, tools: Tools, fields: str
) -> None:
    world = await make_world()
    replica = await world.start()
    await world.project()
    create(tools, world, "large", FIELDS[fields])
    await world.task("second", dependsOn=["nobody"])
    await world.until(TASKS, "second", is_told)
    await world.until(TASKS, "large", is_told)

    await replica.stop()
    await world.task("third", dependsOn=["nobody"])
    replica = await world.start()  # which lists them
    await world.until(TASKS, "third", is_told)

    tools.kubectl("delete", "task", "large", "-n", world.namespace, "--wait=false")
    await world.gone(TASKS, "large")
    await world.task("fourth", dependsOn=["nobody"])
    await world.until(TASKS, "fourth", is_told)
    assert replica.engine.caches.tasks.informer.last_error is None
