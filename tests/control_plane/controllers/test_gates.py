"""Verdicts of checks, from what the kubelet says about their pods; and who may merge on them."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.encoding import dump
from bernstein.api.pod import CheckVerdict, Failure, InspectResult
from bernstein.core import runs
from bernstein.core.reasons import policy
from bernstein.core.reasons.limits import MAX_GATE_ERRORS
from bernstein.core.reasons.row import Retry
from bernstein.kube.resource import JOBS, PODS, Object
from tests.control_plane.controllers.kubelet import (
    DISRUPTED,
    Pod,
    Script,
    ends,
    exited,
    run,
    succeed,
    waits,
)
from tests.control_plane.controllers.world import World, condition, state_of
from tests.control_plane.objects import PROJECTS, TASKS

pytestmark = pytest.mark.verification

LINT = {"name": "lint", "command": "make lint"}


def verdict(task: Object, check: str) -> tuple[str, str]:
    found = next(c for c in task["status"]["verification"]["checks"] if c["name"] == check)
    return found["verdict"], found["reason"]


REJECTED: list[tuple[str, tuple[str, str], Script]] = [
    ("exit", ("Failed", "ExitCode"), ends("Failed", check=exited(1, "found a bug"))),
    (
        "slow",
        ("TimedOut", "Timeout"),
        ends("Failed", {"reason": "DeadlineExceeded"}, check=exited(143, after=120)),
    ),
    (
        "trap",
        ("TimedOut", "Timeout"),
        ends("Failed", {"reason": "DeadlineExceeded"}, check=exited(0, after=120)),
    ),
    ("disk", ("Failed", "ResourceLimit"), ends("Failed", {"reason": "Evicted"}, check=exited(137))),
]


async def test_a_required_gate_that_says_no_ends_the_attempt(world: World) -> None:
    await world.project(limits={"maxAgents": 20})
    for name, _, script in REJECTED:
        world.kubelet.on(f"{name}-s1-lint-[0-9]", script)
    await world.start()
    for name, _, _ in REJECTED:
        await world.task(name, maxRetries=0)
    for name, expected, _ in REJECTED:
        task = await world.stalled(TASKS, name, "GateFailed")
        assert verdict(task, "lint") == expected
        assert state_of(task) == "Failed"
        assert condition(task, "Verified")["status"] == "False"
    assert world.kubelet.remote.landed == []


async def test_a_disrupted_gate_is_run_again_at_once_and_costs_no_attempt(world: World) -> None:
    await world.project()
    disrupted = ends("Failed", {"conditions": [DISRUPTED]}, check=exited(143))
    world.kubelet.on("one-s1-lint-0", disrupted)
    await world.start()
    await world.task("one", maxRetries=0)
    task = await world.task_in("one", "Closed")
    assert task["status"]["attempt"] == 1
    assert verdict(task, "lint") == ("Passed", "")
    told = [condition({"status": p}, "Verified") for p in await world.patches("one")]
    assert any("Disrupted" in c.get("message", "") for c in told)


async def test_a_gate_that_is_disrupted_every_time_stalls_at_the_cap(world: World) -> None:
    await world.project()
    world.kubelet.on("one-s1-lint-*", ends("Failed", {"conditions": [DISRUPTED]}))
    await world.start()
    await world.task("one", maxRetries=0)
    task = await world.stalled(TASKS, "one", "GateErrored")
    assert "Disrupted" in condition(task, "Stalled")["message"]
    assert (state_of(task), task["status"]["attempt"]) == ("Done", 1)
    assert len([job for job in world.kubelet.ran if "-lint-" in job]) == 1 + MAX_GATE_ERRORS
    assert world.kubelet.remote.landed == []


async def test_a_gate_whose_node_is_lost_is_run_again_and_costs_no_attempt(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node says nothing any more, so that its pods are evicted and never end."""
    monkeypatch.setattr(runs, "LOST_SECONDS", 2)
    await world.project()
    world.kubelet.on("one-s1-lint-0", run)
    world.kubelet.may_end.clear()
    await world.start()
    await world.task("one", maxRetries=0)
    await world.until(JOBS, "one-s1-lint-0", lambda job: job["status"]["ready"] == 1)
    lost = world.kubelet.pods["one-s1-lint-0"]
    evicted = DISRUPTED | {"reason": "DeletionByTaintManager"}
    await lost.report(phase="Running", conditions=[evicted])
    await world.admin.delete(PODS, lost.name, lost.namespace)

    task = await world.task_in("one", "Closed")

    assert task["status"]["attempt"] == 1
    assert verdict(task, "lint") == ("Passed", "")
    assert [job for job in world.kubelet.ran if "-lint-" in job] == [
        "one-s1-lint-0",
        "one-s1-lint-1",
    ]
    silent = await world.get(PODS, lost.name)
    assert silent["status"]["phase"] == "Running"
    told = [condition({"status": p}, "Verified") for p in await world.patches("one")]
    assert any("Disrupted" in c.get("message", "") for c in told)
    world.kubelet.may_end.set()


ERRORED: list[tuple[str, Script]] = [
    ("ToolMissing", ends("Failed", check=exited(127, "make: not found"))),
    (
        "RepositoryUnreachable",
        ends("Failed", checkout=exited(1, dump(Failure("RepositoryUnreachable", "no route")))),
    ),
    ("ImagePullFailed", waits("check", "ErrImagePull", "no such image")),
]


async def test_a_gate_that_cannot_run_stalls_the_task_until_the_project_is_mended(
    world: World,
) -> None:
    await world.project(limits={"maxAgents": 20})
    for number, (reason, script) in enumerate(ERRORED):
        for again in range(2 if policy(reason).retry is Retry.SOON else 1):
            world.kubelet.on(f"t{number}-s1-lint-{again}", script)
    await world.start()
    for number in range(len(ERRORED)):
        await world.task(f"t{number}", maxRetries=0)
    for number, (reason, _) in enumerate(ERRORED):
        task = await world.stalled(TASKS, f"t{number}", "GateErrored")
        assert state_of(task) == "Done"
        assert task["status"]["attempt"] == 1
        assert reason in condition(task, "Stalled")["message"]
        assert "Remedy: " in condition(task, "Stalled")["message"]
    lints = [job for job in world.kubelet.ran if "-lint-" in job]
    first = {f"t{n}-s1-lint-0" for n in range(len(ERRORED))}
    # Whether an image is there now is looked at every few seconds.
    assert first <= {*lints} <= first | {f"t{number}-s1-lint-1"}
    assert world.kubelet.remote.landed == []
    await world.until(PROJECTS, "default", lambda p: p["status"]["running"] == 0)
    await world.change(PROJECTS, "default", limits={"maxAgents": 21})
    for number in range(len(ERRORED)):
        task = await world.task_in(f"t{number}", "Closed")
        assert verdict(task, "lint") == ("Passed", "")
        assert task["status"]["attempt"] == 1


async def test_only_the_gate_whose_image_is_missing_is_run_again(world: World) -> None:
    own = {"name": "own", "command": "true", "image": "own:1"}
    await world.project(gates={"extends": "Default", "pipeline": [LINT, own]})
    for number in range(2):
        world.kubelet.on(f"one-s1-own-{number}", waits("check", "ErrImagePull", "no such image"))
    await world.start()
    await world.task("one", maxRetries=0)
    task = await world.task_in("one", "Closed", 90)
    assert (verdict(task, "lint"), verdict(task, "own")) == (("Passed", ""), ("Passed", ""))
    assert task["status"]["attempt"] == 1
    checks = [job for job in world.kubelet.ran if "-lint-" in job or "-own-" in job]
    assert sorted(checks) == ["one-s1-lint-0", *(f"one-s1-own-{n}" for n in range(3))]


async def test_a_gate_that_fails_on_the_base_too_burns_no_attempts(world: World) -> None:
    """It stands still after the first, until the Project excuses it."""
    gates = {"extends": "Default", "pipeline": [LINT]}
    await world.project(gates=gates)
    world.kubelet.on("*-lint-*", ends("Failed", check=exited(1, "old faults")))
    await world.start()
    await world.task("one")
    task = await world.stalled(TASKS, "one", "BaseFails")
    assert (state_of(task), task["status"]["attempt"]) == ("Done", 1)
    assert verdict(task, "lint") == ("Skipped", "BaseFails")
    assert "gates.allowBaseFailures" in task["status"]["waiting"]["message"]
    lints = [job for job in world.kubelet.ran if "-lint-" in job]
    assert lints == ["one-s1-lint-0", "one-s1-lint-0b"]
    base = world.kubelet.pods["one-s1-lint-0b"].config("checkout")
    assert base["base"] == task["status"]["verification"]["base"]
    await world.change(PROJECTS, "default", gates=gates | {"allowBaseFailures": True})
    task = await world.task_in("one", "Closed")
    assert (task["status"]["attempt"], verdict(task, "lint")) == (1, ("Skipped", "BaseFails"))


async def test_lint_that_finds_only_what_was_there_before_lets_the_work_on(world: World) -> None:
    known = dump(CheckVerdict("lint", "Passed", "", "2 findings were there before"))
    await world.project()
    world.kubelet.on("one-s1-lint-0", ends("Failed", check=exited(1, "F401")))
    world.kubelet.on("one-s1-lint-0b", ends("Succeeded", check=exited(message=known)))
    await world.start()
    await world.task("one")
    task = await world.task_in("one", "Closed")
    assert verdict(task, "lint") == ("Passed", "")


async def test_a_check_that_ran_out_of_memory_fails(world: World) -> None:
    await world.project()
    world.kubelet.on("*-lint-[0-9]", ends("Failed", check=exited(137, reason="OOMKilled")))
    await world.start()
    await world.task("one", maxRetries=0)
    task = await world.stalled(TASKS, "one", "GateFailed")
    assert verdict(task, "lint") == ("Failed", "OutOfMemory")


async def test_a_check_without_a_pod_is_no_verdict(world: World) -> None:
    """Somebody deleted the pod; the Job is over and its pod is gone."""

    async def deleted(pod: Pod) -> None:
        await pod.start()
        await world.admin.delete(PODS, pod.name, pod.namespace)

    await world.project()
    world.kubelet.on("one-s1-lint-0", deleted)
    await world.start()
    await world.task("one", maxRetries=0)
    task = await world.task_in("one", "Closed")
    assert verdict(task, "lint") == ("Passed", "")
    assert "one-s1-lint-1" in world.kubelet.ran


async def test_an_optional_gate_blocks_nothing_and_is_shown(world: World) -> None:
    await world.project(gates={"extends": "Default", "pipeline": [LINT | {"required": False}]})
    world.kubelet.on("*-lint-[0-9]", ends("Failed", check=exited(1, "style")))
    await world.start()
    await world.task("one")
    task = await world.task_in("one", "Closed")
    assert verdict(task, "lint") == ("Failed", "ExitCode")


async def test_a_signal_that_reads_is_judged_by_the_inspect_job(world: World) -> None:
    async def missing(pod: Pod) -> None:
        await pod.start()
        names = [check["name"] for check in pod.config()["checks"]]
        said = tuple(CheckVerdict(n, "Failed", "NotFound", "no such path") for n in names)
        await pod.end("Succeeded", {"inspect": exited(message=dump(InspectResult(said)))})

    world.kubelet.on("inspect", missing)
    await world.start()
    signal = {"type": "path_exists", "path": "new.py"}
    await world.task("one", completionSignals=[signal], maxRetries=0)
    task = await world.stalled(TASKS, "one", "SignalFailed")
    assert "path_exists: new.py" in task["status"]["feedback"]


async def test_a_gate_that_is_added_while_a_task_waits_is_asked_before_it_merges(
    world: World,
) -> None:
    """may_merge looks at what the Project asks for now."""
    await world.start()
    world.kubelet.on("first-s1-land-1", _never)
    await world.task("first")
    await world.until(JOBS, "first-s1-land-1", lambda j: j["status"].get("active"))
    await world.task("second")
    await world.until(TASKS, "second", _verified)
    project = await world.project(gates={"extends": "Default", "pipeline": [LINT], "enabled": True})
    generation = project["metadata"]["generation"]
    # The operator has seen it, which the event of a pod may overtake.
    await world.until(
        PROJECTS, "default", lambda p: p["status"]["observedGeneration"] == generation
    )
    first = world.kubelet.pods["first-s1-land-1"]
    await succeed(first)
    task = await world.task_in("second", "Closed")
    assert verdict(task, "lint") == ("Passed", "")


async def _never(pod: Pod) -> None:
    """Waits for the test to run it."""


def _verified(task: Object) -> Any:
    return task.get("status", {}).get("verification", {}).get("passed")


async def test_checks_in_turn_stop_at_the_first_that_says_no(world: World) -> None:
    own = {"image": "audit:1"}
    pipeline = [
        LINT,
        {"name": "audit", "command": "a", **own},
        {"name": "slow", "command": "s", **own},
    ]
    await world.project(
        gates={"extends": "Default", "execution": "Sequential", "pipeline": pipeline}
    )
    world.kubelet.on("one-s1-audit-0", ends("Failed", check=exited(1, "a hole")))
    await world.start()
    await world.task("one", maxRetries=0)
    task = await world.stalled(TASKS, "one", "GateFailed")

    assert verdict(task, "audit") == ("Failed", "ExitCode")
    assert verdict(task, "slow") == ("Skipped", "NotReached")
    made = [w.name for w in await world.writes() if (w.resource, w.verb) == ("jobs", "create")]
    judged = (f"one-s1-{check}-0" for check in ("inspect", "lint", "audit"))
    assert made == ["one-s1", *judged, "one-s1-audit-0b"]
