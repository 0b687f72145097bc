"""NetworkPolicies of Projects on a real API server: there first, kept right, and written once."""

from __future__ import annotations

from typing import Any

from bernstein.kube.resource import JOBS, NETWORK_POLICIES
from tests.control_plane.controllers.world import World, condition, stage
from tests.control_plane.objects import PLANS, PROJECTS, TASKS

CLOSED, GIT, CHECKS, AGENTS = (
    f"bernstein-default-{pods}" for pods in ("closed", "git", "checks", "agents")
)
RULES: list[dict[str, Any]] = [
    {
        "to": [
            {"ipBlock": {"cidr": "192.0.2.0/24", "except": ["192.0.2.7/32"]}},
            {"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "index"}}},
        ],
        "ports": [{"port": 443}, {"port": 8000, "endPort": 8100, "protocol": "UDP"}],
    },
    {},
]
"""Every field that there is."""


async def ready(world: World, status: str) -> dict[str, Any]:
    project = await world.until(
        PROJECTS, "default", lambda p: condition(p, "Ready").get("status") == status
    )
    return condition(project, "Ready")


async def test_a_project_gets_its_policies_and_they_go_with_it(world: World) -> None:
    await world.start()
    await ready(world, "True")

    policies = await world.all(NETWORK_POLICIES)
    assert policies.keys() == {CLOSED, GIT, CHECKS}

    await world.delete(PROJECTS, "default")
    for name in policies:
        await world.gone(NETWORK_POLICIES, name)


async def test_a_settled_project_is_written_once_whatever_its_rules_say(world: World) -> None:
    """The API server stores our policies as we spell them, or they would be written for ever."""
    await world.project(network={"git": RULES, "checks": RULES, "agents": RULES})
    first = await world.start()
    await ready(world, "True")
    assert (await world.all(NETWORK_POLICIES)).keys() == {CLOSED, GIT, CHECKS, AGENTS}
    await first.stop()
    before = len(await world.writes())

    again = await world.start(resync=0.2)
    await again.reconciled(project=5)

    assert (await world.writes())[before:] == []


async def test_a_policy_is_there_before_the_first_job_that_it_is_about(world: World) -> None:
    await world.start()
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")

    made = [w.resource for w in await world.writes() if (w.verb, w.code) == ("create", 201)]
    assert made.count("networkpolicies") == 3
    assert max(i for i, what in enumerate(made) if what == "networkpolicies") < made.index("jobs")
    for job in (await world.all(JOBS)).values():
        labels = job["spec"]["template"]["metadata"]["labels"]
        assert labels["bernstein.dev/project"] == "default"


async def test_what_somebody_changed_or_deleted_is_put_right(world: World) -> None:
    await world.start()
    await ready(world, "True")
    wanted = (await world.get(NETWORK_POLICIES, CHECKS))["spec"]

    # People cannot, with the chart's admission policies.
    opened: dict[str, Any] = {"spec": {"egress": [{}]}}
    await world.as_operator.patch(NETWORK_POLICIES, CHECKS, world.namespace, opened)
    await world.until(NETWORK_POLICIES, CHECKS, lambda p: p["spec"] == wanted)

    uid = (await world.get(NETWORK_POLICIES, CHECKS))["metadata"]["uid"]
    await world.delete(NETWORK_POLICIES, CHECKS)
    again = await world.until(NETWORK_POLICIES, CHECKS, lambda p: p["metadata"]["uid"] != uid)
    assert again["spec"] == wanted


async def test_policies_follow_the_project(world: World) -> None:
    await world.start()
    await ready(world, "True")

    await world.project(network={"agents": []})
    limited = await world.until(NETWORK_POLICIES, AGENTS, lambda _: True)
    assert limited["spec"]["egress"][1]["ports"] == [{"port": 443, "protocol": "TCP"}]

    await world.project(network={"policy": "Unmanaged"})
    for name in (CLOSED, GIT, CHECKS, AGENTS):
        await world.gone(NETWORK_POLICIES, name)


async def test_our_jobs_go_through_the_projects_proxy(world: World) -> None:
    peers = [{"ipBlock": {"cidr": "192.0.2.7/32"}}]
    proxy = {"url": "http://proxy.example.com:3128", "noProxy": ["example.org"], "peers": peers}
    await world.project(network={"proxy": proxy})
    await world.start()
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")

    _, opened = (await world.get(NETWORK_POLICIES, GIT))["spec"]["egress"]
    assert opened == {"to": peers, "ports": [{"port": 3128, "protocol": "TCP"}]}
    told = {"name": "BERNSTEIN_PROXY", "value": proxy["url"]}
    for job in (await world.all(JOBS)).values():
        pod = job["spec"]["template"]["spec"]
        ours = [
            c for c in pod["containers"] + pod.get("initContainers", []) if told in c.get("env", [])
        ]
        assert ours


async def test_a_name_that_is_taken_keeps_the_project_from_being_used(world: World) -> None:
    theirs = {"metadata": {"name": CHECKS, "namespace": world.namespace}}
    await world.admin.create(
        NETWORK_POLICIES, {**theirs, "spec": {"podSelector": {}, "policyTypes": ["Egress"]}}
    )
    await world.start()
    told = await ready(world, "False")
    assert told["reason"] == "NameConflict"
    assert f"NetworkPolicy '{CHECKS}' exists already" in told["message"]
    assert "Remedy: " in told["message"]

    await world.task("one")
    await world.plan("shop", [stage("a", "one")])
    task = await world.stalled(TASKS, "one", "ProjectNotReady")
    plan = await world.stalled(PLANS, "shop", "ProjectNotReady")
    for obj in (task, plan):
        assert CHECKS in condition(obj, "Stalled")["message"]
    assert await world.all(JOBS) == {}

    await world.delete(NETWORK_POLICIES, CHECKS)
    # Its going away tells nobody: it was not ours. A change of the Project is looked at at once.
    await world.project(limits={"maxAgents": 5})
    await world.task_in("one", "Closed")
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
