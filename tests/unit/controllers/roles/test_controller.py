"""What the operator says of AgentRoles, and that others see them change."""

from __future__ import annotations

from typing import Any

from bernstein.controllers.roles.controller import RoleController
from bernstein.core.roles.known import BUILT_IN
from bernstein.kube.client import Client
from bernstein.resources import PROJECTS, ROLES
from tests.background import Background, eventually
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE
from tests.unit.kube.apiserver import ApiServer


def put(api: ApiServer, name: str, generation: int, **spec: Any) -> None:
    api.put(ROLES, name, NAMESPACE, metadata={"generation": generation}, spec=spec)


def conditions(api: ApiServer, name: str) -> dict[str, str]:
    status = api.get(ROLES, name, NAMESPACE).get("status", {})
    return {c["type"]: c["status"] for c in status.get("conditions", ())}


async def test_each_says_whether_it_can_be_used_also_once_it_was_corrected(
    api: ApiServer, client: Client, background: Background
) -> None:
    rig = Rig(api, client, background)
    rig.controller = RoleController(rig.context)
    put(api, "tester", 1, prompt="You {{TEST}}.")
    await rig.start()
    rig.run()
    await eventually(lambda: conditions(api, "tester") == {"Validated": "False", "Stalled": "True"})

    put(api, "tester", 2, prompt="You test.")

    await eventually(lambda: conditions(api, "tester") == {"Validated": "True"})
    assert api.get(ROLES, "tester", NAMESPACE)["status"]["observedGeneration"] == 2


async def test_what_is_known_of_a_namespace_stays_the_same_until_a_role_says_something_else(
    api: ApiServer, client: Client, background: Background
) -> None:
    rig = Rig(api, client, background)
    rig.controller = RoleController(rig.context)
    await rig.start()
    known = rig.caches.roles_known
    assert known.of(NAMESPACE) is BUILT_IN

    put(api, "tester", 1, prompt="You test.")
    await eventually(lambda: "tester" in known.of(NAMESPACE))
    first = known.of(NAMESPACE)
    rig.run()
    await eventually(lambda: conditions(api, "tester") == {"Validated": "True"})

    assert known.of(NAMESPACE) is first
    assert known.of("another") is BUILT_IN
    put(api, "tester", 2, prompt="You test more.")
    await eventually(lambda: known.of(NAMESPACE).text("tester") == "You test more.")
    api.remove(ROLES, "tester", NAMESPACE)
    await eventually(lambda: known.of(NAMESPACE) is BUILT_IN)


async def test_a_model_that_a_project_does_not_know_is_told_until_the_project_does(
    api: ApiServer, client: Client, background: Background
) -> None:
    rig = Rig(api, client, background)
    rig.controller = RoleController(rig.context)
    put(api, "tester", 1, prompt="You test.", model="house-model-1")
    put(api, "usual", 1, prompt="You test.", model="opus")
    await rig.start()
    rig.run()
    await eventually(lambda: conditions(api, "tester") == {"Validated": "True"})

    project = objects.project().dump()
    api.put(PROJECTS, "default", NAMESPACE, **project)
    both = {"Validated": "True", "ModelNotKnown": "True"}
    await eventually(lambda: conditions(api, "tester") == both)
    assert conditions(api, "usual") == {"Validated": "True"}

    project["metadata"]["generation"] = 2
    project["spec"]["agents"][0]["models"] = {"opus": "house-model-1"}
    api.put(PROJECTS, "default", NAMESPACE, **project)
    await eventually(lambda: conditions(api, "tester") == {"Validated": "True"})
