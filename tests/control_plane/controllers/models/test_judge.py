"""Signals that ask a model, on a real API server; the test says what its pods have been told."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.encoding import dump
from bernstein.api.pod import CheckVerdict, Usage
from bernstein.api.programs.judge import JudgeResult, Spent
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import JOBS, NETWORK_POLICIES, Object
from tests.control_plane.controllers.kubelet import Script, ends, exited, waits
from tests.control_plane.controllers.world import QUIET, World, condition, state_of
from tests.control_plane.objects import APPROVALS, TASKS

MODEL = {
    "name": "claude-sonnet-4-5",
    "provider": "anthropic",
    "key": {"name": "judge-key", "key": "api-key"},
}
PROJECT = {"gates": QUIET, "models": [MODEL]}
EXISTS = {"type": "path_exists", "path": "new.py"}
JUDGED = [{"type": "llm_judge", "criteria": "The old path still answers."}, EXISTS]
USED = Spent("claude-sonnet-4-5", Usage(input=1_000_000, output=100_000))


def says(verdict: str, reason: str = "", excerpt: str = "") -> Script:
    """The judge's pod ends with this verdict on the first signal."""
    told = JudgeResult((CheckVerdict("signal-0", verdict, reason, excerpt),), (USED,))
    return ends("Succeeded", judge=exited(message=dump(told)))


def checks(task: Object) -> dict[str, tuple[str, str]]:
    found = task["status"]["verification"]["checks"]
    return {c["name"]: (c["verdict"], c.get("reason", "")) for c in found}


async def approved(world: World, user: str, because: str) -> None:
    task = await world.task_in("one", "PendingApproval")
    asked = task["status"]["approval"]
    assert asked["because"] == [because]
    approval = asked["name"]
    await world.until(APPROVALS, approval, lambda a: state_of(a) == "Pending")
    await world.change(APPROVALS, approval, decision="Approve", decidedBy=user)


async def test_a_model_that_accepts_lets_work_land_beside_a_signal_that_holds(
    world: World,
) -> None:
    world.kubelet.on("one-s1-judge-1-0", says("Passed"))
    await world.project(**PROJECT)
    await world.start()
    await world.task("one", completionSignals=JUDGED)

    task = await world.task_in("one", "Closed")

    assert checks(task) == {"signal-0": ("Passed", ""), "signal-1": ("Passed", "")}
    assert task["status"]["verification"]["checks"][0]["byModel"] is True
    assert "approval" not in task["status"]
    (call,) = task["status"]["verification"]["calls"]
    assert (call["job"], call["source"], call["spendUsd"]) == (
        "one-s1-judge-1-0",
        "Computed",
        "4.5",
    )
    assert float(task["status"]["spendUsd"]) >= 4.5
    policies = await world.all(NETWORK_POLICIES)
    assert "bernstein-default-judge" in policies


async def test_a_models_yes_alone_waits_for_a_person(world: World, user: str) -> None:
    world.kubelet.on("one-s1-judge-1-0", says("Passed"))
    await world.project(**PROJECT)
    await world.start()
    await world.task("one", completionSignals=JUDGED[:1])

    await approved(world, user, "no signal but those of models says that it is done")

    task = await world.task_in("one", "Closed")
    assert world.kubelet.remote.landed
    assert task["status"]["attempt"] == 1


async def test_who_approves_what_a_model_is_not_sure_of_stands_for_it(
    world: World, user: str
) -> None:
    world.kubelet.on("one-s1-judge-1-0", says("Skipped", "Unsure", "only 0.50 sure"))
    await world.project(**PROJECT)
    await world.start()
    await world.task("one", completionSignals=JUDGED)

    title = "llm_judge: The old path still answers."
    await approved(world, user, f"a model could not tell for sure: {title}")

    task = await world.task_in("one", "Closed")
    assert checks(task)["signal-0"] == ("Skipped", "Unsure")


async def test_a_judge_sends_a_task_back_twice_and_then_a_person_decides(world: World) -> None:
    retry = says("Failed", "JudgeRetry", "app.py: the old path is gone")
    world.kubelet.on("one-s[123]-judge-1-0", retry)
    await world.project(**PROJECT)
    await world.start()
    await world.task("one", completionSignals=JUDGED, maxRetries=5)

    task = await world.task_in("one", "PendingApproval")

    assert await world.sessions() == ["one-s1", "one-s2", "one-s3"]
    assert task["status"]["judgeRetries"] == 2
    assert checks(task)["signal-0"] == ("Skipped", "JudgeRetry")
    assert float(task["status"]["spendUsd"]) >= 13.5


@pytest.mark.verification
async def test_a_provider_that_is_down_costs_no_attempt_and_is_asked_again(world: World) -> None:
    down = says("Errored", "ModelAuthFailed", "the provider refuses the key")
    world.kubelet.on("one-s1-judge-1-0", down)
    world.kubelet.on("one-s1-judge-1-1", says("Passed"))
    await world.project(**PROJECT)
    await world.start()
    await world.task("one", completionSignals=JUDGED, maxRetries=0)

    task = await world.stalled(TASKS, "one", "GateErrored")
    assert "valid for the model" in task["status"]["waiting"]["message"]
    await world.project(**PROJECT, limits={"maxAgents": 2})  # a change of it is a new try

    closed = await world.task_in("one", "Closed")
    assert closed["status"]["attempt"] == 1
    assert condition(closed, "Verified")["status"] == "True"
    assert "one-s1-inspect-1" not in world.kubelet.ran


async def test_a_key_that_is_missing_is_waited_for(world: World) -> None:
    missing = waits("judge", "ContainerCreating", "")
    told = 'MountVolume.SetUp failed for volume "secret-model-0": secret "judge-key" not found'

    async def script(pod: Any) -> None:
        await missing(pod)
        await pod.tell("FailedMount", told)

    world.kubelet.on("one-s1-judge-1-[01]", script)
    await world.project(**PROJECT)
    await world.start()
    await world.task("one", completionSignals=JUDGED, maxRetries=0)

    task = await world.until(
        TASKS, "one", lambda t: "judge-key" in t["status"].get("waiting", {}).get("message", "")
    )

    assert state_of(task) == "Done"
    assert "spec.models[0].key.name" in task["status"]["waiting"]["message"]


async def test_a_cancel_ends_the_job_that_asks(world: World) -> None:
    async def works(pod: Any) -> None:
        await pod.start()

    world.kubelet.on("one-s1-judge-1-0", works)
    await world.project(**PROJECT)
    await world.start()
    await world.task("one", completionSignals=JUDGED)
    await world.until(JOBS, "one-s1-judge-1-0", lambda _: True)

    await world.change(TASKS, "one", cancel={"reason": "not needed"})

    await world.task_in("one", "Cancelled")
    assert world.kubelet.remote.landed == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"provider": "nobody"}, "Unsupported value"),
        ({"baseUrl": "http://models.example"}, "should match"),
        ({"baseUrl": "https://user@models.example"}, "should match"),
        ({"key": None}, "Required value"),
    ],
)
async def test_a_model_that_nobody_could_ask_is_refused(
    world: World, change: dict[str, Any], told: str
) -> None:
    model = {k: v for k, v in (MODEL | change).items() if v is not None}

    with pytest.raises(Invalid) as refused:
        await world.project(**(PROJECT | {"models": [model]}))

    assert told in str(refused.value)


@pytest.mark.parametrize(
    "signal",
    [
        {"type": "llm_review"},
        {"type": "llm_review", "criteria": "x", "path": "a.py"},
        {"type": "path_exists", "path": "a.py", "criteria": "x"},
    ],
)
async def test_a_signal_with_wrong_fields_is_refused(world: World, signal: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        await world.task("one", completionSignals=[signal])

    assert "criteria" in str(refused.value) or "path" in str(refused.value)
