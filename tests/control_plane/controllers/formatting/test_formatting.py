"""Work that is formatted before it is judged, on a real API server; the test plays its pods."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.encoding import dump
from bernstein.api.pod import Failure
from bernstein.kube.resource import JOBS, Object
from tests.control_plane.controllers.kubelet import DISRUPTED, Script, ends, exited, run, waits
from tests.control_plane.controllers.world import World, state_of
from tests.control_plane.objects import TASKS

JOB = "one-s1-auto-format-0u11"
GATES: dict[str, Any] = {
    "gates": {"pipeline": [{"name": "auto_format"}, {"name": "lint", "command": "make lint"}]}
}


def failed(reason: str) -> Object:
    return exited(1, dump(Failure(reason, "it did not work")))


def checks(task: Object) -> dict[str, tuple[str, str]]:
    found = task["status"]["verification"]["checks"]
    return {c["name"]: (c["verdict"], c.get("reason", "")) for c in found}


async def test_what_was_formatted_is_judged_and_lands(world: World) -> None:
    await world.project(**GATES)
    await world.start()
    await world.task("one")

    task = await world.task_in("one", "Closed")

    judged, remote = task["status"]["verification"], world.kubelet.remote
    work = judged["formatting"]["work"]
    assert judged["ref"] == f"{work['ref']}-formatted"
    assert remote.refs[work["ref"]] == work["sha"] != judged["sha"]
    assert [sha for _, sha in remote.landed] == [judged["sha"]]
    named = ("auto_format", "lint_suppression", "lint")
    assert checks(task) == dict.fromkeys(named, ("Passed", ""))
    ran = world.kubelet.ran
    assert ran.index("one-s1") < ran.index(JOB) < ran.index("one-s1-lint-0")


@pytest.mark.parametrize(
    ("reason", "script"),
    [
        ("CredentialRefused", ends("Failed", format=failed("CredentialRefused"))),
        ("SnapshotTooLarge", ends("Failed", collect=failed("SnapshotTooLarge"))),
        ("Disrupted", ends("Failed", {"conditions": [DISRUPTED]}, format=exited(143))),
        ("Timeout", ends("Failed", {"reason": "DeadlineExceeded"}, format=exited(143))),
        ("ImagePullFailed", waits("formatter", "ImagePullBackOff", "no such image")),
    ],
)
async def test_whatever_becomes_of_it_the_work_is_judged_and_lands(
    world: World, reason: str, script: Script
) -> None:
    world.kubelet.on(JOB, script)
    await world.project(**GATES)
    await world.start()
    await world.task("one", maxRetries=0)

    task = await world.task_in("one", "Closed")

    assert task["status"]["attempt"] == 1
    assert checks(task)["auto_format"][1] == reason
    assert "work" not in task["status"]["verification"]["formatting"]
    assert world.kubelet.remote.landed[0][1] == task["status"]["verification"]["sha"]


async def test_a_cancel_while_work_is_formatted_ends_its_job(world: World) -> None:
    world.kubelet.on(JOB, run)
    await world.project(**GATES)
    await world.start()
    await world.task("one")
    await world.until(JOBS, JOB, lambda job: bool(job.get("status", {}).get("active")))

    await world.change(TASKS, "one", cancel={"reason": "not needed"})

    task = await world.until(TASKS, "one", lambda t: state_of(t) == "Cancelled")
    assert "delivery" not in task["status"]
    assert world.kubelet.remote.landed == []
