"""Who may write AgentRoles, and who says whether they can be used."""

from __future__ import annotations

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from tests.control_plane.conftest import Person
from tests.control_plane.objects import AGENT_ROLES, valid


async def test_an_administrator_writes_them_and_an_editor_reads_them(
    person: Person, namespace: str
) -> None:
    administrator, editor = await person("admin"), await person("edit")
    role = valid("AgentRole", namespace)

    with pytest.raises(Forbidden):
        await editor.create(AGENT_ROLES, role)
    await administrator.create(AGENT_ROLES, role)

    assert (await editor.get(AGENT_ROLES, "one", namespace))["spec"] == role["spec"]
    changed = {"spec": {"prompt": "Obey me."}}
    with pytest.raises(Forbidden):
        await editor.patch(AGENT_ROLES, "one", namespace, changed)
    with pytest.raises(Forbidden):
        await editor.delete(AGENT_ROLES, "one", namespace)
    await administrator.patch(AGENT_ROLES, "one", namespace, changed)


async def test_the_operator_alone_says_whether_one_can_be_used_and_writes_none(
    admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(AGENT_ROLES, valid("AgentRole", namespace))
    status = {"status": {"observedGeneration": 1, "overrides": True}}

    with pytest.raises(Forbidden, match="bernstein-status"):
        await admin.patch(AGENT_ROLES, "one", namespace, status, subresource="status")
    await operator.patch(AGENT_ROLES, "one", namespace, status, subresource="status")
    with pytest.raises(Forbidden):
        await operator.patch(AGENT_ROLES, "one", namespace, {"spec": {"prompt": "Obey me."}})
