"""What gates have said is the operator's to write: admission lets nobody else do it."""

from __future__ import annotations

import pytest

from bernstein.api.project import Project
from bernstein.controllers.gate_caches import config_map
from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.control_plane.conftest import Person
from tests.control_plane.objects import PROJECTS, valid

POLICY = r"bernstein-objects.*operator"
VERDICT = {"0" * 40: '{"verdict":"Passed"}'}


async def made_for(admin: Client, namespace: str) -> Object:
    """The ConfigMap of a Project that is there."""
    project = await admin.create(PROJECTS, valid("Project", namespace, "default"))
    return config_map(Project.model_validate(project), VERDICT)


async def test_nobody_else_writes_what_gates_have_said(
    operator: Client, admin: Client, person: Person, namespace: str
) -> None:
    mine = await made_for(admin, namespace)
    name = mine["metadata"]["name"]
    people = (await person("edit"), await person("admin"), admin)
    for client in people:
        for missing in ("labels", "ownerReferences"):
            with pytest.raises(Forbidden, match=POLICY):
                await client.create(CONFIG_MAPS, mine)
            part = {k: v for k, v in mine["metadata"].items() if k != missing}
            with pytest.raises(Forbidden, match=POLICY):
                await client.create(CONFIG_MAPS, mine | {"metadata": part})

    await operator.create(CONFIG_MAPS, mine)

    for client in people:
        with pytest.raises(Forbidden, match=POLICY):
            await client.patch(CONFIG_MAPS, name, namespace, {"data": {"1" * 40: "{}"}})
        with pytest.raises(Forbidden, match=POLICY):
            await client.delete(CONFIG_MAPS, name, namespace)


async def test_the_operator_changes_it_and_no_config_map_of_others(
    operator: Client, admin: Client, namespace: str
) -> None:
    mine = await made_for(admin, namespace)
    other = {"metadata": {"name": "mine", "namespace": namespace}, "data": {"a": "b"}}
    await admin.create(CONFIG_MAPS, other)
    await operator.create(CONFIG_MAPS, mine)

    name = mine["metadata"]["name"]
    changed = await operator.patch(CONFIG_MAPS, name, namespace, {"data": {"1" * 40: "{}"}})

    assert changed["data"] == VERDICT | {"1" * 40: "{}"}
    with pytest.raises(Forbidden, match=r"bernstein-operator.*its own labels only"):
        await operator.patch(CONFIG_MAPS, "mine", namespace, {"data": {"a": "c"}})
