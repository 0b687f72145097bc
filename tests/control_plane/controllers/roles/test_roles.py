"""AgentRoles at work: a Plan waits for its role, a prompt says what the role says."""

from __future__ import annotations

from bernstein import roles
from bernstein.core import names
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.control_plane.controllers.world import World, condition, stage
from tests.control_plane.objects import AGENT_ROLES, AGENT_SESSIONS, PLANS, TASKS, valid


async def apply(world: World, name: str, **spec: object) -> Object:
    return await world.admin.create(AGENT_ROLES, valid("AgentRole", world.namespace, name, **spec))


async def told(world: World, task: str, number: int = 1) -> Object:
    """What the operator has written of the prompt of that session."""
    session = f"{task}-s{number}"
    await world.until(AGENT_SESSIONS, session, lambda s: bool(s["status"].get("state")))
    found = await world.until(CONFIG_MAPS, names.prompt(session), lambda _: True)
    data: Object = found["data"]
    return data


async def test_an_agent_role_says_whether_it_can_be_used(world: World) -> None:
    await world.start()
    await apply(world, "sre", maxTasksPerSession=4, model="opus")
    await apply(world, "broken", prompt="You {{X}}.")

    role = await world.until(
        AGENT_ROLES, "sre", lambda r: r["status"].get("observedGeneration") == 1
    )
    assert condition(role, "Validated")["status"] == "True"
    assert "maxTasksPerSession: 4 is taken as 1" in condition(role, "Validated")["message"]
    assert role["status"]["effective"] == {"model": "opus", "maxTasksPerSession": 1}
    broken = await world.stalled(AGENT_ROLES, "broken", "RoleInvalid")
    assert "prompt: line 1, column 5: unknown name 'X'" in condition(broken, "Stalled")["message"]


async def test_a_plan_goes_on_when_its_role_comes(world: World) -> None:
    await world.project(gates={"enabled": False})
    await world.start()
    await world.plan("early", [stage("a", {"title": "one", "role": "sre"})])
    plan = await world.stalled(PLANS, "early", "PlanInvalid")
    assert "invalid value 'sre'" in condition(plan, "Validated")["message"]
    assert await world.all(TASKS) == {}

    await apply(world, "sre")

    await world.until(PLANS, "early", lambda p: p["status"].get("phase") == "Succeeded")
    (task,) = await world.all(TASKS)
    data = await told(world, task)
    assert data["role.md"] == "You work as sre."
    assert data["description.md"] == "Do it:"


async def test_an_agent_role_takes_the_place_of_a_built_in_one(world: World) -> None:
    await world.project(gates={"enabled": False})
    await world.start()
    await apply(world, "backend", prompt="You are ours.")

    await world.task("ours", role="backend", description="Use Redis.")
    await world.task("theirs", role="docs", description="Write it.")
    await world.task_in("ours", "Closed")
    await world.task_in("theirs", "Closed")

    ours, theirs = await told(world, "ours"), await told(world, "theirs")
    assert (ours["role.md"], ours["description.md"]) == ("You are ours.", "Do it:\nUse Redis.")
    assert (theirs["role.md"], theirs["description.md"]) == (roles.text("docs"), "Write it.")


async def test_a_task_waits_for_a_role_that_is_not_there_and_for_one_that_is_not_valid(
    world: World,
) -> None:
    await world.project(gates={"enabled": False})
    await world.start()
    await world.task("work", role="sre")
    await world.stalled(TASKS, "work", "RoleNotFound")

    await apply(world, "sre", prompt="You {{X}}.")
    await world.stalled(TASKS, "work", "RoleInvalid")
    assert await world.all(AGENT_SESSIONS) == {}

    await world.change(AGENT_ROLES, "sre", prompt="You keep it up.")
    await world.task_in("work", "Closed")
    assert (await told(world, "work"))["role.md"] == "You keep it up."
