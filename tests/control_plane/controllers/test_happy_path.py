"""From an applied object to merged work, with few writes, and then with none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bernstein.api.encoding import dump
from bernstein.api.pod import Failure
from bernstein.api.programs.merge import LandResult
from bernstein.kube.resource import CONFIG_MAPS, JOBS
from tests.control_plane.controllers.kubelet import Pod, ends, exited, run
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import World, condition, queued, stage, state_of
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, PROJECTS, TASKS

SIGNAL = {"type": "path_exists", "path": "new.py"}


def _told(patch: Mapping[str, Any]) -> object:
    """Its state, what it waits for, or its step on the way to where it belongs."""
    waiting = patch.get("waiting") or {}
    return patch.get("state") or waiting.get("reason") or patch["delivery"]["step"]


async def test_a_task_is_closed_with_six_status_patches(world: World) -> None:
    await world.project()
    await world.start()
    await world.task("one", completionSignals=[SIGNAL])
    task = await world.task_in("one", "Closed")
    patches = await world.patches("one")
    said = [_told(patch) for patch in patches]
    assert said == ["Claimed", "InProgress", "Done", "MergeQueue", "Landing", "Closed"]
    status = task["status"]
    moves = [move["toState"] for move in status["history"]]
    assert moves == ["Open", "Claimed", "InProgress", "Done", "Closed"]
    assert status["attempt"] == 1
    assert status["delivery"]["sha"] == world.kubelet.remote.refs[MAIN]
    assert world.kubelet.ran[0] == "one-s1"
    assert sorted(world.kubelet.ran) == [
        "one-s1",
        "one-s1-inspect-0",
        "one-s1-land-1",
        "one-s1-lint-0",
    ]


async def test_what_is_said_of_landed_work_is_told_to_its_job_and_its_end_kept(
    world: World,
) -> None:
    told: list[dict[str, Any]] = []

    async def lands(pod: Pod) -> None:
        await pod.start()
        config = pod.config("land")
        told.append(config["attest"])
        remote = world.kubelet.remote
        assert remote.swap(config["onto"], config["expect"], config["sha"])
        await pod.end("Succeeded", {"land": exited(message=dump(_landed(config["sha"])))})

    world.kubelet.on("land", lands)
    await world.project(attestation={"key": {"name": "signs", "key": "key.pem"}})
    await world.start()
    await world.task("one", completionSignals=[SIGNAL])
    status = (await world.task_in("one", "Closed"))["status"]

    (attest,) = told
    assert attest["ref"] == f"refs/bernstein/attestations/{status['delivery']['sha']}"
    assert attest["key"] == "/secrets/attestation/key.pem"
    predicate = json.loads(attest["predicate"])
    checks = predicate["https://bernstein.dev/verification/v1"]["checks"]
    assert [c["name"] for c in checks] == [c["name"] for c in status["verification"]["checks"]]
    assert status["delivery"]["attestation"] == "Signed"
    assert predicate["timeVerified"][:19] == status["verification"]["verifiedAt"][:19]


def _landed(sha: str) -> LandResult:
    return LandResult("Landed", sha, "Signed")


async def test_a_session_is_written_three_times_and_lets_its_pod_go(world: World) -> None:
    async def seen_at_work(pod: Pod) -> None:
        await pod.start()
        await world.until(AGENT_SESSIONS, pod.job, lambda s: state_of(s) == "Working")
        await pod.end("Succeeded", await pod.deliver())

    world.kubelet.on("agent", seen_at_work)
    await world.start()
    await world.task("one")
    await world.task_in("one", "Closed")
    await world.until(AGENT_SESSIONS, "one-s1", lambda s: s["status"]["reason"] == "Verified")
    said = [patch.get("state") for patch in await world.patches("one-s1", "agentsessions")]
    assert said == ["Working", "Dead", None], "and how its work was judged"
    await world.let_go(world.kubelet.pods["one-s1"].name)


async def test_every_write_of_a_task_has_a_purpose(world: World) -> None:
    await world.start()
    await world.task("one")
    await world.task_in("one", "Closed")
    await world.at_rest()
    writes = await world.writes()
    # Controllers of Projects and sessions may ask for the same policy: one of them is told 409.
    made = [(w.resource, w.name) for w in writes if (w.verb, w.code) == ("create", 201)]
    assert sorted(made) == [
        ("agentsessions", "one-s1"),
        ("configmaps", "one-s1-prompt"),
        ("jobs", "one-s1"),
        ("jobs", "one-s1-land-1"),
        ("networkpolicies", "bernstein-default-checks"),
        ("networkpolicies", "bernstein-default-closed"),
        ("networkpolicies", "bernstein-default-git"),
    ]
    others = [(w.resource, w.subresource) for w in writes if w.verb != "create"]
    assert set(others) == {
        ("tasks", "status"),
        ("agentsessions", "status"),
        ("projects", "status"),
        ("pods", ""),
    }
    assert others.count(("pods", "")) == 1
    assert all(w.code in (200, 201, 409) for w in writes)


async def test_a_plan_is_expanded_run_in_order_and_delivered(world: World) -> None:
    await world.start()
    await world.plan("shop", [stage("build", "api", "page"), stage("ship", "image")])
    plan = await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    status = plan["status"]
    assert status["counts"]["closed"] == status["counts"]["total"] == 3
    assert condition(plan, "Succeeded")["status"] == "True"
    assert not {"Stalled", "Reconciling"} & {c["type"] for c in status["conditions"]}
    ran = world.kubelet.ran
    assert ran[0] == "shop-begin-0"
    assert ran.index("shop-ship-image-s1") > ran.index("shop-build-api-s1")
    assert ran.index("shop-ship-image-s1") > ran.index("shop-build-page-s1")
    remote = world.kubelet.remote
    integration = status["integration"]["ref"]
    assert remote.refs[MAIN] == remote.refs[integration] == status["delivery"]["sha"]
    assert [ref for ref, _ in remote.landed] == [integration] * 3 + [MAIN]


async def test_a_plan_on_a_repository_reached_by_ssh_is_delivered(world: World) -> None:
    (repository,) = (await world.get(PROJECTS, "default"))["spec"]["repositories"]
    url = "ssh://git@git.example:2222/team/app.git"
    repository = {k: v for k, v in repository.items() if k != "ca"} | {"url": url}
    await world.change(PROJECTS, "default", repositories=[repository])
    await world.start()
    await world.plan("web", [stage("build", "work")])
    await world.until(PLANS, "web", lambda p: p["status"].get("phase") == "Succeeded")
    jobs = [job for name, job in (await world.all(JOBS)).items() if "-land-" in name]
    sources = [v["secret"] for j in jobs for v in _volumes(j) if "secret" in v]
    assert {tuple(i["key"] for i in s["items"]) for s in sources} == {
        ("ssh-privatekey", "known_hosts")
    }


def _volumes(job: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = job["spec"]["template"]["spec"]["volumes"]
    return found


async def test_a_dependant_starts_from_what_its_dependency_landed(world: World) -> None:
    await world.start()
    await world.plan("shop", [stage("build", "api"), stage("ship", "image")])
    plan = await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    api, image = await world.get(TASKS, "shop-build-api"), await world.get(TASKS, "shop-ship-image")
    assert image["status"]["verification"]["base"] == api["status"]["delivery"]["sha"]
    session = await world.get(AGENT_SESSIONS, "shop-ship-image-s1")
    assert session["spec"]["baseRef"] == plan["status"]["integration"]["ref"]


async def test_a_settled_cluster_is_not_written_to(world: World) -> None:
    await _one_of_every_kind_of_rest(world)
    for replica in world.replicas:
        await replica.stop()
    position = len(await world.writes())
    replica = await world.start(resync=0.3)
    await replica.reconciled(**_SEVERAL)
    assert (await world.writes())[position:] == []


_SEVERAL = {"project": 5, "scheduler": 5, "plan": 10, "task": 35, "agentsession": 15}
"""Reconciles of each controller: at least five of each object."""


async def _one_of_every_kind_of_rest(world: World) -> None:
    """Closed, at work, waiting for each other, held, stalled, suspended, invalid."""
    refused = dump(Failure("RepositoryAuthFailed", "git-read was refused"))
    world.kubelet.on("held-s1", ends("Failed", checkout=exited(1, refused)))
    world.kubelet.on("working-*", run)
    await world.start()
    await world.task("closed")
    await world.task_in("closed", "Closed")
    await world.let_go(world.kubelet.pods["closed-s1"].name)
    await world.until(AGENT_SESSIONS, "closed-s1", lambda s: s["status"]["reason"] == "Verified")
    await world.task("working", files=["a.py"])
    await world.until(AGENT_SESSIONS, "working-s1", lambda s: s["status"].get("state") == "Working")
    await world.task_in("working", "InProgress")
    await world.task("overlapping", files=["a.py"])
    await world.task("dependent", dependsOn=["working"])
    await world.task("elsewhere", cli="codex")
    await world.plan("suspended", [stage("a", "b")], suspend=True)
    await world.plan("invalid", [stage("a", "b", dependsOn=["a"])])
    await world.stalled(TASKS, "elsewhere", "AgentNotFound")
    await world.stalled(PLANS, "invalid", "PlanInvalid")
    await world.until(PLANS, "suspended", lambda p: p["status"].get("phase") == "Suspended")
    await world.until(TASKS, "overlapping", lambda t: queued(t) == "FileOverlap")
    await world.until(TASKS, "dependent", lambda t: queued(t) == "DependencyPending")
    await world.task("held")
    await world.stalled(TASKS, "held", "RepositoryAuthFailed")
    await world.until(AGENT_SESSIONS, "held-s1", lambda s: s["status"].get("state") == "Dead")
    await world.let_go(world.kubelet.pods["held-s1"].name)
    await world.until(PROJECTS, "default", lambda p: p["status"]["running"] == 1)
    await world.until(PLANS, "suspended", lambda p: p["status"]["counts"]["open"] == 1)
    await world.until(TASKS, "suspended-a-b", lambda t: queued(t) == "PlanSuspended")


async def test_an_agent_is_told_its_task_in_an_immutable_config_map(world: World) -> None:
    await world.project(appendOnly=["news/**"], fileScope="Enforce")
    await world.start()
    await world.task(
        "one", description="Write it down.", files=["new.py"], contextFiles=["README.md"]
    )
    await world.task_in("one", "Closed")
    prompt = await world.get(CONFIG_MAPS, "one-s1-prompt")
    assert prompt["immutable"] is True
    assert prompt["data"]["description.md"] == "Write it down."
    assert "- new.py" in prompt["data"]["files.md"]
    assert "- news/**" in prompt["data"]["files.md"]
    assert prompt["data"]["context.json"] == '["README.md"]'


async def test_every_job_of_a_plan_says_which_plan_task_and_session_it_is_for(
    world: World,
) -> None:
    await world.project()
    await world.start()
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")

    for name, job in (await world.all(JOBS)).items():
        own = job["metadata"]["labels"]
        assert own.items() <= job["spec"]["template"]["metadata"]["labels"].items(), name
        assert own["bernstein.dev/plan"] == "shop", name
        if name.startswith("shop-a-one"):
            assert own["bernstein.dev/task"] == "shop-a-one", name
            assert own["bernstein.dev/session"] == "shop-a-one-s1", name
