"""People let work go on without a gate, on a real API server."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.kube.errors import Invalid
from bernstein.kube.resource import Object
from tests.control_plane.controllers.approvals.test_decisions import decide, pending
from tests.control_plane.controllers.kubelet import ends, exited
from tests.control_plane.controllers.world import World, condition, state_of
from tests.control_plane.objects import APPROVALS, PROJECTS, TASKS

LINT = {"name": "lint", "command": "make lint"}
WHY = "the rule is wrong here"


def gates(**more: Any) -> Object:
    return {"extends": "Default", "pipeline": [LINT], "allowBypass": True, **more}


async def rejected(world: World, **project: Any) -> Object:
    """The Approval about a Task whose only attempt the gate has rejected."""
    await world.project(**({"gates": gates()} | project))
    world.kubelet.on("one-s1-lint-[0-9]", ends("Failed", check=exited(1, "found a bug")))
    await world.start()
    await world.task("one", maxRetries=0)
    return await pending(world, "task/one")


def lint_of(task: Object) -> Object:
    checks = task["status"]["verification"]["checks"]
    return next(check for check in checks if check["name"] == "lint")


async def test_a_person_lets_it_go_on_and_it_lands_with_his_name(world: World, user: str) -> None:
    approval = await rejected(world)

    asked = approval["spec"]["asks"]
    assert asked["gate"] == "lint"
    assert "found a bug" in approval["status"]["shown"]["excerpt"]
    assert "one-s1-land-1" not in world.kubelet.ran
    with pytest.raises(Invalid, match="says why"):
        await decide(world, approval, user, "Approve")
    await decide(world, approval, user, "Approve", reason=WHY)

    task = await world.task_in("one", "Closed")
    assert task["status"]["attempt"] == 1
    assert task["status"]["delivery"]["sha"] == asked["sha"]
    check = lint_of(task)
    assert check["verdict"] == "Bypassed"
    told = {key: check["bypass"][key] for key in ("by", "reason", "verdict", "approval")}
    name = approval["metadata"]["name"]
    assert told == {"by": user, "reason": WHY, "verdict": "Failed", "approval": name}
    moves = {m["reason"]: m["actor"] for m in task["status"]["history"]}
    assert moves["Bypassed"] == user
    assert user in condition(task, "Verified")["message"]
    over = await world.until(APPROVALS, name, lambda a: state_of(a) == "Approved")
    assert condition(over, "Succeeded")["status"] == "True"


async def test_out_of_time_the_gate_has_decided(world: World) -> None:
    approval = await rejected(world, approval={"expiresAfterSeconds": 60})

    task = await world.stalled(TASKS, "one", "GateFailed", 120)
    assert state_of(task) == "Failed"
    name = approval["metadata"]["name"]
    await world.until(APPROVALS, name, lambda a: state_of(a) == "Expired")
    assert world.kubelet.remote.landed == []


async def test_where_the_project_takes_its_word_back_a_yes_that_comes_later_is_none(
    world: World, user: str
) -> None:
    approval = await rejected(world)

    await world.change(PROJECTS, "default", gates=gates(allowBypass=False))

    task = await world.stalled(TASKS, "one", "GateFailed")
    assert state_of(task) == "Failed"
    name = approval["metadata"]["name"]
    await world.until(APPROVALS, name, lambda a: state_of(a) == "Void")
    with pytest.raises(Invalid, match="nothing is left to decide"):
        await decide(world, approval, user, "Approve", reason=WHY)
    assert world.kubelet.remote.landed == []
