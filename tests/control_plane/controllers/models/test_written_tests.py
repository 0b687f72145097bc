"""A gate whose model writes a test that is then run, on a real API server: the test says what its
pods have been told."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.encoding import dump, load
from bernstein.api.pod import CheckoutConfig, CheckVerdict, Usage
from bernstein.api.programs.judge import JudgeResult, Spent
from bernstein.core.judging import written
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import CONFIG_MAPS, JOBS, Object
from tests.control_plane.controllers.kubelet import Script, ends, exited
from tests.control_plane.controllers.world import World
from tests.control_plane.objects import JUDGE, TASKS

GATE = "integration_test_gen"
WRITER, RUN = "one-s{}-judge-integration-test-gen-{}u26", "one-s{}-integration-test-gen-{}u20"
EXISTS = {"type": "path_exists", "path": "new.py"}
TEST = "import new\n\n\ndef test_x() -> None:\n    assert new.X == 1\n"
USED = Spent(JUDGE["name"], Usage(input=1_000_000, output=100_000))


def project(**settings: Any) -> dict[str, Any]:
    pipeline = [{"name": GATE, "condition": "any_changed", **settings}]
    return {"gates": {"pipeline": pipeline}, "models": [{**JUDGE}]}


def writes(test: str = TEST) -> Script:
    told = JudgeResult((CheckVerdict(GATE, "Passed"),), (USED,), written.packed(test))
    return ends("Succeeded", judge=exited(message=dump(told)))


def runs(code: int, printed: str = "") -> Script:
    return ends("Failed" if code else "Succeeded", check=exited(code, printed))


def check(task: Object) -> tuple[str, str]:
    (found,) = [c for c in task["status"]["verification"]["checks"] if c["name"] == GATE]
    return found["verdict"], found.get("reason", "")


async def test_what_one_pod_writes_another_one_runs_and_work_that_passes_lands(
    world: World,
) -> None:
    world.kubelet.on(WRITER.format(1, 0), writes())
    world.kubelet.on(RUN.format(1, 0), runs(0))
    await world.project(**project())
    await world.start()
    await world.task("one", completionSignals=[EXISTS])

    task = await world.task_in("one", "Closed")

    assert check(task) == ("Passed", "")
    (call,) = task["status"]["verification"]["calls"]
    assert (call["job"], call["spendUsd"]) == (WRITER.format(1, 0), "4.5")
    job = await world.get(JOBS, RUN.format(1, 0))
    spec = job["spec"]["template"]["spec"]
    (checkout,) = spec["initContainers"]
    config = load(CheckoutConfig, checkout["command"][-1])
    assert written.unpacked(config.test or "") == TEST
    assert not any("model" in volume["name"] for volume in spec["volumes"])


async def test_a_test_that_fails_is_told_to_the_next_attempt(world: World) -> None:
    world.kubelet.on(WRITER.format(1, 0), writes())
    world.kubelet.on(RUN.format(1, 0), runs(1, "E  assert 2 == 1"))
    world.kubelet.on(WRITER.format(2, 0), writes())
    world.kubelet.on(RUN.format(2, 0), runs(0))
    await world.project(**project())
    await world.start()
    await world.task("one", completionSignals=[EXISTS], maxRetries=1)

    task = await world.task_in("one", "Closed")

    assert task["status"]["attempt"] == 2
    rejected = task["status"]["attempts"][0]
    assert rejected["reason"] == "GateFailed"
    assert "E  assert 2 == 1" in rejected["message"]
    prompt = await world.get(CONFIG_MAPS, "one-s2-prompt")
    assert "assert new.X == 1" in str(prompt["data"])


async def test_a_test_of_no_use_costs_no_attempt_and_another_one_is_written(world: World) -> None:
    world.kubelet.on(WRITER.format(1, 0), writes("import nowhere\n"))
    world.kubelet.on(RUN.format(1, 0), runs(2, "no test of it has run to its end"))
    world.kubelet.on(WRITER.format(1, 1), writes())
    world.kubelet.on(RUN.format(1, 1), runs(0))
    await world.project(**project())
    await world.start()
    await world.task("one", completionSignals=[EXISTS], maxRetries=0)

    waiting = await world.until(
        TASKS, "one", lambda t: (t["status"].get("waiting") or {}).get("reason") == "GateErrored"
    )
    assert check(waiting) == ("Errored", "WrittenTestUnusable")
    await world.project(**project(), limits={"maxAgents": 2})  # a change of it is a new try

    task = await world.task_in("one", "Closed")
    assert (task["status"]["attempt"], check(task)) == (1, ("Passed", ""))


@pytest.mark.parametrize(
    ("settings", "change", "told"),
    [
        ({}, {"models": []}, "the Project needs one in models"),
        ({"command": "true"}, {"models": []}, "the Project needs one in models"),
        ({"paths": ["src/**"]}, {}, "it runs for any path"),
        ({"blockOnNo": False}, {}, "only intent_verification takes"),
    ],
)
async def test_settings_that_mean_nothing_for_it_are_refused(
    world: World, settings: dict[str, Any], change: dict[str, Any], told: str
) -> None:
    with pytest.raises(Invalid) as refused:
        await world.project(**(project(**settings) | change))

    assert told in str(refused.value)


async def test_its_model_and_its_command_may_both_be_the_projects(world: World) -> None:
    await world.project(**project(model=JUDGE["name"], command='pytest "$TEST"', image="t:1"))
