"""What Argo CD's actions write is taken by the API server, with the chart's policies."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import ApiError
from bernstein.kube.resource import Object, Resource
from tests.control_plane.conftest import Account
from tests.control_plane.controllers.kubelet import works
from tests.control_plane.controllers.world import World, stage
from tests.control_plane.objects import APPROVALS, PLANS, TASKS
from tests.platform.gitops.argocd import NAMESPACE, SERVER, ArgoCD
from tests.platform.gitops.judges import acted


async def act(
    world: World, account: Account, resource: Resource, name: str, action: str, **more: str
) -> Object:
    """As Argo CD's server does: with its account, what differs."""
    before = await world.get(resource, name)
    after = acted(before, action, **more)
    names = before["spec"].keys() | after["spec"].keys()
    spec: dict[str, Any] = {
        n: after["spec"].get(n) for n in names if before["spec"].get(n) != after["spec"].get(n)
    }
    async with Client(account(NAMESPACE, SERVER)) as client:
        return await client.patch(resource, name, world.namespace, {"spec": spec})


async def test_a_plan_is_suspended_resumed_and_cancelled(
    accounts: ArgoCD, world: World, account: Account
) -> None:
    await world.start()
    await world.plan("web", [stage("a", "one")], suspend=True)
    await world.until(PLANS, "web", lambda p: p["status"]["phase"] == "Suspended")
    await act(world, account, PLANS, "web", "resume")
    await world.until(PLANS, "web", lambda p: p["status"]["phase"] != "Suspended")
    await act(world, account, PLANS, "web", "suspend")
    await act(world, account, PLANS, "web", "cancel", reason="not needed")
    found = await world.until(PLANS, "web", lambda p: p["status"]["phase"] == "Cancelled")
    assert found["spec"]["cancel"]["reason"] == "not needed"


async def test_what_has_failed_is_tried_again(
    accounts: ArgoCD, world: World, account: Account
) -> None:
    world.kubelet.on("agent", works(outcome="AgentFailed", message="I gave up"))
    await world.start()
    await world.task("one", maxRetries=0)
    await world.stalled(TASKS, "one", "AgentFailed")

    await act(world, account, TASKS, "one", "retry", reason="the quota is raised")

    found = await world.until(TASKS, "one", lambda t: t["status"]["requests"])
    (answer,) = found["status"]["requests"]
    assert (answer["answer"], answer["asked"]) == ("Done", "the quota is raised")
    assert answer["by"] == f"system:serviceaccount:{NAMESPACE}:{SERVER}"


async def test_nobody_is_asked_in_another_name(
    accounts: ArgoCD, world: World, account: Account
) -> None:
    world.kubelet.on("agent", works(outcome="AgentFailed", message="I gave up"))
    await world.start()
    await world.task("one", maxRetries=0)
    await world.stalled(TASKS, "one", "AgentFailed")
    with pytest.raises(ApiError, match="must be the name of who asks"):
        await act(world, account, TASKS, "one", "retry", by="ann")


async def test_a_plan_is_approved(accounts: ArgoCD, world: World, account: Account) -> None:
    await world.start()
    await world.plan("web", [stage("a", "one")], approval={"plan": "Always"})
    asked = await world.until(PLANS, "web", lambda p: p["status"]["approval"])
    name = asked["status"]["approval"]["name"]
    await world.until(APPROVALS, name, lambda a: a["status"]["state"] == "Pending")

    await act(world, account, APPROVALS, name, "approve")

    found = await world.until(APPROVALS, name, lambda a: a["status"]["state"] == "Approved")
    assert found["spec"]["decidedBy"] == f"system:serviceaccount:{NAMESPACE}:{SERVER}"
    await world.until(PLANS, "web", lambda p: p["status"]["phase"] == "Succeeded")
