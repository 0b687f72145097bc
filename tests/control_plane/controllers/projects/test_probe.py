"""The probe of a Project on a real API server: what `Ready` tells, and nothing runs at rest."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from bernstein.api import pod as programs
from bernstein.api.encoding import dump
from bernstein.core.reasons import waits as times
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.kube.resource import JOBS
from tests.control_plane.controllers.kubelet import (
    Pod,
    exited,
    now,
    running,
    succeed,
    tried,
    waiting,
    waits,
)
from tests.control_plane.controllers.world import World, condition, state_of
from tests.control_plane.objects import PROJECTS, TASKS


async def ready(world: World, status: str, reason: str) -> dict[str, Any]:
    def holds(project: dict[str, Any]) -> bool:
        told = condition(project, "Ready")
        return (told.get("status"), told.get("reason")) == (status, reason)

    return condition(await world.until(PROJECTS, "default", holds), "Ready")


async def no_probe_left(world: World) -> None:
    await world.at_rest()
    assert await world.probes() == []


def lacks_work(there: asyncio.Event) -> Any:
    """The kubelet starts the container of the work account once its Secret is there."""

    async def script(pod: Pod) -> None:
        await pod.bind()
        sound = tried(pod)
        missing = waiting("CreateContainerConfigError", 'secret "git-work" not found')
        pod.states = sound | {"probe-work": missing}
        await pod.report(phase="Running", startTime=now())
        await there.wait()
        pod.states["probe-work"] = running()
        await pod.report(phase="Running")
        await pod.end("Succeeded", sound)

    return script


def refused(account: str) -> Any:
    async def script(pod: Pod) -> None:
        await pod.start()
        failure = programs.Failure("CredentialRefused", "the git server answers 403 to a push")
        states = tried(pod, **{account: exited(1, dump(failure))})
        await pod.end("Failed", states)

    return script


async def test_a_sound_project_is_tried_once_and_keeps_no_job(world: World) -> None:
    first = await world.start()
    await ready(world, "True", "Accepted")
    await no_probe_left(world)
    project = await world.get(PROJECTS, "default")
    assert project["status"]["probe"]["number"] == 0
    await first.stop()
    before = len(await world.writes())

    again = await world.start(resync=0.2)
    await again.reconciled(project=5)

    assert (await world.writes())[before:] == []
    assert await world.probes() == []


async def test_a_changed_project_is_tried_again(world: World) -> None:
    await world.start()
    await ready(world, "True", "Accepted")

    await world.project(gates={"enabled": False}, limits={"maxAgents": 2})
    await world.until(PROJECTS, "default", lambda p: p["status"]["probe"]["number"] == 1)

    await ready(world, "True", "Accepted")
    await no_probe_left(world)


async def test_a_missing_secret_is_told_and_work_starts_meanwhile(world: World) -> None:
    there = asyncio.Event()
    world.kubelet.on("probe", lacks_work(there))
    await world.start()
    told = await ready(world, "False", "SecretNotFound")
    assert 'work: secret "git-work" not found' in told["message"]
    assert "Remedy: Create the Secret" in told["message"]

    await world.task("one")
    await world.task_in("one", "Closed")
    assert len(await world.probes()) == 1, "the pod waits"

    there.set()
    await ready(world, "True", "Accepted")
    await no_probe_left(world)


async def test_a_created_secret_is_noticed_within_15_s_by_the_pod_that_waits_for_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was there when the Project was tried. What misses it later tries it rarely."""
    monkeypatch.setattr(times, "SOON_TRIES", 1)
    monkeypatch.setattr(times, "LATER_ON_SECONDS", PROBE_SECONDS)
    there = asyncio.Event()
    world.kubelet.on("probe", lacks_nothing, lacks_work(there))
    missing = waits("agent", "CreateContainerConfigError", 'secret "git-work" not found')
    world.kubelet.on("agent", missing, missing, succeed)
    await world.start()
    await ready(world, "True", "Accepted")
    await world.task("one")
    await ready(world, "False", "SecretNotFound")
    await world.until(TASKS, "one", lambda task: seconds_to_wait(task) > PROBE_SECONDS / 2)

    there.set()

    await world.until(TASKS, "one", lambda task: state_of(task) != "Open", seconds=15)
    await world.task_in("one", "Closed")
    await ready(world, "True", "Accepted")
    await no_probe_left(world)


def seconds_to_wait(task: dict[str, Any]) -> float:
    until = datetime.fromisoformat(task["status"]["waiting"]["until"])
    return (until - datetime.now(UTC)).total_seconds()


async def test_a_refused_account_is_told_until_the_project_names_another(world: World) -> None:
    world.kubelet.on("probe", refused("probe-work"), lacks_nothing)
    await world.start()
    told = await ready(world, "False", "CredentialRefused")
    assert "work: the git server answers 403" in told["message"]
    status = (await world.get(PROJECTS, "default"))["status"]
    assert "until" in status["probe"]

    await world.project(gates={"enabled": False}, limits={"maxAgents": 3})
    await ready(world, "True", "Accepted")


async def test_a_key_that_cannot_sign_is_told_by_the_project_that_names_it(world: World) -> None:
    async def another_kind(pod: Pod) -> None:
        await pod.start()
        failure = programs.Failure("AttestationKeyInvalid", "the key 'a' of 'b' cannot be used")
        states = tried(pod, **{"probe-attestation": exited(1, dump(failure))})
        await pod.end("Failed", states)

    world.kubelet.on("probe", another_kind, lacks_nothing)
    key = {"name": "signs", "key": "key.pem"}
    await world.project(attestation={"key": key, "publicKey": "key.pub"})
    await world.start()
    told = await ready(world, "False", "AttestationKeyInvalid")
    assert "attestation key: the key 'a' of 'b' cannot be used" in told["message"]
    assert "openssl genpkey" in told["message"]

    await world.project(attestation={"key": key, "publicKey": "other.pub"})
    await ready(world, "True", "Accepted")


async def lacks_nothing(pod: Pod) -> None:
    await pod.start()
    await pod.end("Succeeded", tried(pod))


async def test_the_job_of_a_probe_goes_with_its_project(world: World) -> None:
    there = asyncio.Event()
    world.kubelet.on("probe", lacks_work(there))
    await world.start()
    await ready(world, "False", "SecretNotFound")
    (name,) = await world.probes()

    await world.delete(PROJECTS, "default")

    await world.gone(JOBS, name)


async def test_a_name_that_is_taken_keeps_no_project_from_being_tried(world: World) -> None:
    taken = await world.admin.create(JOBS, _foreign(world.namespace))
    await world.start()

    await ready(world, "True", "Accepted")

    project = await world.get(PROJECTS, "default")
    assert project["status"]["probe"]["number"] == 1, "the next name"
    theirs = await world.get(JOBS, "default--probe-0")
    assert theirs["metadata"]["uid"] == taken["metadata"]["uid"]


def _foreign(namespace: str) -> dict[str, Any]:
    container = {"name": "c", "image": "other:1"}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "metadata": {"name": "default--probe-0", "namespace": namespace},
        "spec": {"suspend": True, "template": template},
    }
