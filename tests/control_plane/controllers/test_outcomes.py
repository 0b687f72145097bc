"""How sessions end, what it costs the Task, and what helps."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime

import pytest

from bernstein.api.encoding import dump
from bernstein.api.pod import Failure, Usage
from bernstein.core.reasons import policy
from bernstein.core.reasons.row import Retry
from bernstein.core.reasons.waits import PROBE_SECONDS, SOON_SECONDS
from bernstein.kube.resource import CONFIG_MAPS, JOBS, PODS, Object, Resource, is_deleting
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.kubelet import (
    DISRUPTED,
    Pod,
    Script,
    ends,
    exited,
    run,
    succeed,
    waits,
    works,
)
from tests.control_plane.controllers.world import World, condition, queued, state_of
from tests.control_plane.objects import AGENT_SESSIONS, PROJECTS, TASKS

QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")


def attempts(task: Object) -> list[tuple[str, bool]]:
    """(reason, whether it counted) of every session of the Task."""
    return [(a["reason"], a["counted"]) for a in task["status"]["attempts"]]


def failed(reason: str, message: str) -> Object:
    """A program of ours that could not do its work."""
    return exited(1, dump(Failure(reason, message)))


COUNTED: list[tuple[str, Script]] = [
    ("AgentOutOfMemory", ends("Failed", agent=exited(137, reason="OOMKilled"))),
    (
        "AgentDiskFull",
        ends("Failed", {"reason": "Evicted", "message": "too much ephemeral storage"}),
    ),
    ("Timeout", ends("Failed", {"reason": "DeadlineExceeded"}, agent=exited(143))),
    ("AgentFailed", works(outcome="AgentFailed", message="I gave up")),
    ("MaxTurns", works(outcome="MaxTurns", message="50 turns")),
    ("Refused", works(outcome="Refused", message="no")),
    ("EmptyDiff", works(empty=True)),
    ("Stalled", works(stopped="Stalled")),
    ("SnapshotTooLarge", ends("Failed", recorder=failed("SnapshotTooLarge", "600 MB"))),
    ("SecretFound", ends("Failed", pusher=failed("SecretFound", "it holds a.py:1 access token"))),
]


async def test_what_the_agent_caused_costs_an_attempt(world: World) -> None:
    for number, (_, script) in enumerate(COUNTED):
        world.kubelet.on(f"t{number}-s1", script)
        world.kubelet.on(f"t{number}-s2", run)
    await world.project(gates={"enabled": False}, limits={"maxAgents": 20})
    await world.start()
    for number in range(len(COUNTED)):
        await world.task(f"t{number}")
    for number, (reason, _) in enumerate(COUNTED):
        task = await world.until(TASKS, f"t{number}", lambda t: t["status"]["sessions"] == 2)
        assert attempts(task) == [(reason, True)], reason
        assert task["status"]["attempt"] == 1


NOT_COUNTED: list[tuple[str, Script]] = [
    ("Disrupted", ends("Failed", {"conditions": [DISRUPTED]}, agent=exited(143))),
    ("Disrupted", ends("Succeeded", {"conditions": [DISRUPTED]}, agent=exited(0))),
]


async def test_a_disruption_is_tried_again_at_once_and_costs_nothing(world: World) -> None:
    for number, (_, script) in enumerate(NOT_COUNTED):
        world.kubelet.on(f"t{number}-s1", script)
    await world.start()
    for number in range(len(NOT_COUNTED)):
        await world.task(f"t{number}", maxRetries=0)
    for number, (reason, _) in enumerate(NOT_COUNTED):
        task = await world.task_in(f"t{number}", "Closed")
        assert attempts(task) == [(reason, False), ("Succeeded", True)]
        assert task["status"]["attempt"] == 1


async def test_a_pod_that_is_deleted_behind_our_back_is_lost_and_replaced(world: World) -> None:
    world.kubelet.on("agent", run, succeed)
    await world.start()
    await world.task("one", maxRetries=0)
    await world.task_in("one", "InProgress")
    await world.admin.delete(PODS, world.kubelet.pods["one-s1"].name, world.namespace)
    task = await world.task_in("one", "Closed")
    assert attempts(task) == [("PodLost", False), ("Succeeded", True)]
    assert await world.sessions() == ["one-s1", "one-s2"]


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
async def test_a_job_that_is_deleted_behind_our_back_leaves_no_pod(
    world: World, propagation: str
) -> None:
    world.kubelet.on("agent", run, succeed)
    await world.start()
    await world.task("one", maxRetries=0)
    await world.task_in("one", "InProgress")
    pod = world.kubelet.pods["one-s1"].name
    await world.delete(JOBS, "one-s1", propagation)
    task = await world.task_in("one", "Closed")
    assert attempts(task) == [("PodLost", False), ("Succeeded", True)]
    await world.gone(PODS, pod)


@pytest.mark.parametrize("what", [JOBS, AGENT_SESSIONS], ids=lambda r: r.kind)
async def test_no_second_agent_starts_before_the_pod_of_what_was_deleted_has_ended(
    world: World, what: Resource
) -> None:
    world.kubelet.on("agent", run, succeed)
    world.kubelet.may_end.clear()
    await world.start()
    await world.task("one", maxRetries=0)
    await world.task_in("one", "InProgress")
    await world.delete(what, "one-s1")
    await world.until(PODS, world.kubelet.pods["one-s1"].name, is_deleting)
    await world.task("two")
    await world.task_in("two", "Closed")
    assert await world.sessions() == ["one-s1", "two-s1"]
    world.kubelet.may_end.set()
    task = await world.task_in("one", "Closed")
    assert attempts(task) == [("PodLost", False), ("Succeeded", True)]


async def test_a_session_that_is_deleted_behind_our_back_is_replaced(world: World) -> None:
    world.kubelet.on("agent", run, succeed)
    await world.start()
    await world.task("one", maxRetries=0)
    await world.task_in("one", "InProgress")
    pod = world.kubelet.pods["one-s1"].name
    await world.delete(AGENT_SESSIONS, "one-s1")
    task = await world.task_in("one", "Closed")
    assert attempts(task) == [("PodLost", False), ("Succeeded", True)]
    await world.gone(AGENT_SESSIONS, "one-s1")
    await world.gone(PODS, pod)


async def test_after_five_losses_it_is_a_persons_turn(world: World) -> None:
    lost = ends("Failed", {"conditions": [DISRUPTED]}, agent=exited(143))
    world.kubelet.on("agent", lost)
    await world.start()
    await world.task("one")
    task = await world.stalled(TASKS, "one", "Disrupted")
    assert state_of(task) == "Failed"
    assert task["status"]["attempt"] == 0
    assert len(await world.sessions()) == 6
    assert condition(task, "Succeeded")["status"] == "False"


HELD: list[tuple[str, Script, str]] = [
    ("ImagePullFailed", waits("agent", "ImagePullBackOff", "no such host"), "agent-demo:dev"),
    (
        "SecretNotFound",
        waits("agent", "CreateContainerConfigError", 'secret "model" not found'),
        '"model"',
    ),
    (
        "RepositoryAuthFailed",
        ends("Failed", checkout=failed("RepositoryAuthFailed", "the account 'read' was refused")),
        "'git-read' (spec.repositories[0].credentials.read.secretName)",
    ),
    (
        "HostKeyUntrusted",
        ends(
            "Failed",
            checkout=failed("HostKeyUntrusted", "not in known_hosts of the account 'read'"),
        ),
        "'git-read' (spec.repositories[0].credentials.read.secretName)",
    ),
]


@pytest.mark.parametrize(("reason", "script", "named"), HELD, ids=[h[0] for h in HELD])
async def test_what_an_administrator_must_mend_is_tried_once_and_told(
    world: World, reason: str, script: Script, named: str
) -> None:
    world.kubelet.on("agent", script, succeed)
    await world.project(gates={"enabled": False}, limits={"maxAgents": 1})
    await world.start()
    await world.task("one", maxRetries=0)
    await world.task("two", maxRetries=0)
    task, other = await _one_holds_the_other(world, reason)
    name = task["metadata"]["name"]
    told = condition(task, "Stalled")["message"]
    assert named in told
    assert "Remedy: " in told
    assert task["status"]["attempt"] == 0
    assert state_of(task) == "Open"
    held = datetime.fromisoformat(task["status"]["history"][-1]["time"])
    wait = datetime.fromisoformat(task["status"]["waiting"]["until"]) - held
    soon = policy(reason).retry is Retry.SOON
    assert 0 < wait.total_seconds() <= (SOON_SECONDS if soon else PROBE_SECONDS)
    assert f"'{name}'" in other["status"]["waiting"]["message"]
    assert named in condition(other, "Stalled")["message"]
    assert await world.sessions() == [f"{name}-s1"]
    await world.change(PROJECTS, "default", limits={"maxAgents": 7})
    await world.task_in("one", "Closed")
    await world.task_in("two", "Closed")
    assert condition(await world.get(TASKS, name), "Stalled") == {}


async def test_what_a_session_says_holds_the_others_once_a_second_one_has_said_it(
    world: World,
) -> None:
    refused = works(outcome="ModelAuthFailed", message="401 of the provider")
    world.kubelet.on("agent", refused, refused, succeed)
    await world.project(gates={"enabled": False}, limits={"maxAgents": 1})
    await world.start()
    names = ("one", "two", "three")
    for name in names:
        await world.task(name, maxRetries=0)
    for name in names:
        await world.until(TASKS, name, lambda t: queued(t) == "ModelAuthFailed")
    assert len(await world.sessions()) == 2
    told = [condition(await world.get(TASKS, name), "Stalled").get("message", "") for name in names]
    words = "its provider refuses the model key"
    assert all(words in text and "Remedy: " in text for text in told), "the third one, too"
    assert not any("401" in text for text in told), "conditions quote nobody"
    await world.change(PROJECTS, "default", limits={"maxAgents": 7})
    for name in names:
        await world.task_in(name, "Closed")


async def _one_holds_the_other(world: World, reason: str) -> tuple[Object, Object]:
    """The Task that probes, and the one that waits for it: one pod tells as much as two."""
    await world.until(TASKS, "one", lambda t: queued(t) == reason)
    await world.until(TASKS, "two", lambda t: queued(t) == reason)
    probe, other = "one", "two"
    if await world.sessions() == ["two-s1"]:
        probe, other = other, probe
    return await world.stalled(TASKS, probe, reason), await world.get(TASKS, other)


async def test_what_only_events_tell_is_found_in_them(make_world: MakeWorld) -> None:
    """Both are looked for after a while: side by side."""
    mounts, quotas = await make_world(), await make_world()
    await asyncio.gather(_a_volume_is_missing(mounts), _no_pod_may_be_made(quotas))


async def _a_volume_is_missing(world: World) -> None:
    async def stuck(pod: Pod) -> None:
        await pod.bind()
        text = 'MountVolume.SetUp failed for volume "secret-read": secret "git-read" not found'
        await pod.tell("FailedMount", text)

    world.kubelet.on("agent", stuck)
    await world.project()
    await world.start()
    await world.task("one")
    task = await world.stalled(TASKS, "one", "SecretNotFound")
    assert '"git-read" not found' in condition(task, "Stalled")["message"]
    await world.gone(JOBS, "one-s1")
    assert await world.all(PODS) == {}


async def _no_pod_may_be_made(world: World) -> None:
    quota = {"metadata": {"name": "none", "namespace": world.namespace}}
    await world.admin.create(QUOTAS, quota | {"spec": {"hard": {"pods": "0"}}})
    await world.until(QUOTAS, "none", lambda q: q.get("status", {}).get("hard"))
    await world.project()
    await world.start()
    await world.task("one")
    task = await world.stalled(TASKS, "one", "PodRejected")
    assert "exceeded quota: none" in condition(task, "Stalled")["message"]


async def test_a_usage_limit_waits_as_long_as_the_provider_says(world: World) -> None:
    limited = works(outcome="UsageLimited", message="limit reached", retry_after=2)
    world.kubelet.on("agent", limited, succeed)
    await world.start()
    await world.task("one", maxRetries=0)
    task = await world.task_in("one", "Closed")
    # It waits for so short a time that a look at the Task might miss it.
    moved = [p for p in await world.patches("one") if "state" in p]
    assert [p["state"] for p in moved[1:4]] == ["InProgress", "Open", "Claimed"]
    assert queued({"status": moved[2]}) == "UsageLimited"
    assert attempts(task) == [("UsageLimited", False), ("Succeeded", True)]
    first, second = (m["time"] for m in task["status"]["history"] if m["toState"] == "Claimed")
    waited = datetime.fromisoformat(second) - datetime.fromisoformat(first)
    assert waited.total_seconds() >= 2


async def test_a_retry_is_told_why_the_attempt_before_was_rejected(world: World) -> None:
    await world.project()
    output = "app.py:3: F401 unused import"
    world.kubelet.on("one-s1-lint-[0-9]", ends("Failed", check=exited(1, output)))
    await world.start()
    await world.task("one")
    task = await world.task_in("one", "Closed")
    assert attempts(task) == [("GateFailed", True), ("Succeeded", True)]
    prompts = await world.all(CONFIG_MAPS)
    assert "findings.md" not in prompts["one-s1-prompt"]["data"]
    told = prompts["one-s2-prompt"]["data"]
    assert "Attempt: 2" in told["head.md"]
    assert output in told["findings.md"]
    first = await world.get(AGENT_SESSIONS, "one-s1")
    second = await world.get(AGENT_SESSIONS, "one-s2")
    left = first["status"]["work"]
    assert (first["spec"]["attempt"], second["spec"]["attempt"]) == (1, 2)
    assert second["spec"]["rejected"] == {"ref": left["ref"], "sha": left["sha"]}
    assert "rejected" not in first["spec"]
    assert second["spec"]["workRef"].endswith("/one/s2")
    assert len(world.kubelet.remote.landed) == 1


async def test_without_retries_left_the_task_fails_and_says_what_to_do(world: World) -> None:
    world.kubelet.on("agent", works(outcome="AgentFailed", message="I gave up"))
    await world.start()
    await world.task("one", maxRetries=1)
    task = await world.stalled(TASKS, "one", "AgentFailed")
    assert state_of(task) == "Failed"
    assert attempts(task) == [("AgentFailed", True)] * 2
    told = condition(task, "Stalled")["message"]
    assert "no retry is left after 2 attempts: the agent " in told
    assert "I gave up" not in json.dumps(task["status"]["conditions"]), "conditions quote nobody"
    assert "\n> I gave up" in task["status"]["attempts"][-1]["message"]
    assert "Remedy: " in told
    assert world.kubelet.remote.landed == []


async def test_an_agent_that_says_it_is_done_and_ends_badly_has_failed(world: World) -> None:
    async def liar(pod: Pod) -> None:
        await pod.start()
        await pod.end("Failed", await pod.deliver() | {"agent": exited(1)})

    world.kubelet.on("agent", liar)
    await world.start()
    await world.task("one", maxRetries=0)
    await world.stalled(TASKS, "one", "AgentFailed")


async def test_work_that_only_the_recorder_saw_is_not_taken(world: World) -> None:
    async def unpushed(pod: Pod) -> None:
        await pod.start()
        said = await pod.deliver()
        said["pusher"] = failed("RepositoryUnreachable", "connection refused")
        await pod.end("Succeeded", said)

    world.kubelet.on("agent", unpushed, succeed)
    await world.start()
    await world.task("one")
    task = await world.stalled(TASKS, "one", "RepositoryUnreachable")
    assert task["status"]["attempt"] == 0
    assert world.kubelet.remote.landed == []


async def test_spend_is_counted_once_however_the_session_ends(world: World) -> None:
    prices = [{"model": "sonnet", "input": "10", "output": "0"}]
    await world.project(gates={"enabled": False}, budget={"prices": prices})
    used = Usage(input=100_000)
    world.kubelet.on(
        "agent",
        works(outcome="AgentFailed", usage=used),
        works(outcome="UsageLimited", usage=used, retry_after=1),
        works(usage=used),
    )
    await world.start()
    await world.task("one")
    task = await world.task_in("one", "Closed")
    assert task["status"]["spendUsd"] == "3"
    assert task["status"]["usage"]["input"] == 300_000
    assert [a["spendUsd"] for a in task["status"]["attempts"]] == ["1", "1", "1"]


async def test_a_disruption_of_the_checkout_is_no_fault_of_the_repository(world: World) -> None:
    killed = ends("Failed", {"conditions": [DISRUPTED]}, checkout=exited(143))
    world.kubelet.on("agent", killed, succeed)
    await world.start()
    await world.task("one", maxRetries=0)
    task = await world.task_in("one", "Closed")
    assert attempts(task) == [("Disrupted", False), ("Succeeded", True)]


async def test_a_liars_session_says_what_rejected_its_work_and_not_that_it_succeeded(
    world: World,
) -> None:
    world.kubelet.on("liar-s1", works(empty=True))
    world.kubelet.on("liar-s2", run)
    await world.start()
    await world.task("liar")
    told = await world.until(
        AGENT_SESSIONS, "liar-s1", lambda s: s["status"].get("judgement") is not None
    )
    status = told["status"]
    assert (status["reason"], status["outcome"]["reason"]) == ("EmptyDiff", "Succeeded")
    assert condition(told, "Succeeded")["status"] == "False"


async def test_a_pod_without_a_node_is_told_of_within_30_s(world: World) -> None:
    words = "0/1 nodes are available: 1 Insufficient cpu."

    async def unschedulable(pod: Pod) -> None:
        waits = {"status": "False", "reason": "Unschedulable", "message": words}
        await pod.report(phase="Pending", conditions=[{"type": "PodScheduled"} | waits])

    world.kubelet.on("large-s1", unschedulable)
    await world.start()
    await world.task("large")
    await world.task_in("large", "Claimed")
    task = await world.until(
        TASKS, "large", lambda t: t["status"]["waiting"]["reason"] == "Unschedulable", 30
    )
    assert words in condition(task, "Reconciling")["message"]
    session = await world.get(AGENT_SESSIONS, "large-s1")
    assert session["status"]["reason"] == "Unschedulable"
