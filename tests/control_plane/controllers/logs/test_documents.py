"""What an agent leaves beside its code is fetched from its node before its session has ended."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from bernstein.api.pod import LeftDocument
from bernstein.controllers.logs import documents as keeping
from bernstein.core.documents import OUTPUT, handed, kept
from bernstein.core.sessions import documents
from bernstein.kube.errors import Requeue
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.background import eventually
from tests.control_plane.conftest import eventually as met
from tests.control_plane.controllers.kubelet import CORE_EVENTS, works
from tests.control_plane.controllers.world import QUIET, World
from tests.control_plane.node_logs import NodeLogs
from tests.control_plane.objects import AGENT_SESSIONS, TASKS

VALUES = b'{"tests": 12, "note": "\xc3\xbc"}'
LEFT = LeftDocument(OUTPUT.name, len(VALUES), handed.digest(VALUES))
TOLD = {"bytes": LEFT.size, "sha256": LEFT.sha256}
EVENT = b'{"time":1.0,"event":"recorded"}\n'


def printed(document: bytes) -> bytes:
    return EVENT + "".join(f"{row}\n" for row in handed.lines(OUTPUT.name, document)).encode()


@pytest.fixture
async def quiet(world: World, logs: NodeLogs, monkeypatch: pytest.MonkeyPatch) -> World:
    """A Project without gates, in which agents leave values."""
    await world.project(gates=QUIET)
    world.kubelet.on("agent", works(documents=(LEFT,)))
    monkeypatch.setattr(keeping, "AGAIN_SECONDS", 0.1)
    return world


async def its_documents(world: World) -> dict[str, Object]:
    found = await world.all(CONFIG_MAPS)
    return {name: obj for name, obj in found.items() if name.endswith("-documents")}


async def test_it_is_kept_with_its_session_told_of_in_statuses_and_goes_with_it(
    quiet: World, logs: NodeLogs
) -> None:
    logs.recorded = printed(VALUES)
    await quiet.start()
    await quiet.task("one")
    task = await quiet.task_in("one", "Closed")
    session = await quiet.get(AGENT_SESSIONS, "one-s1")

    found = await quiet.get(CONFIG_MAPS, "one-s1-documents")

    assert task["status"]["output"] == {"session": "one-s1", **TOLD}
    assert session["status"]["documents"] == [{"name": "output.json", **TOLD}]
    assert kept.content(found, OUTPUT.name, LEFT.sha256) == VALUES
    assert base64.b64decode(found["binaryData"]["output.json"]) == VALUES
    assert found["immutable"] is True
    assert found["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "bernstein",
        "bernstein.dev/session": "one-s1",
    }
    ((pod, container, _),) = logs.asked_of_recorders
    assert (pod, container) == (quiet.kubelet.pods["one-s1"].name, "recorder")
    await quiet.delete(TASKS, "one")
    await quiet.gone(AGENT_SESSIONS, "one-s1")
    await quiet.gone(CONFIG_MAPS, "one-s1-documents")


async def test_a_session_that_leaves_none_asks_no_node(world: World, logs: NodeLogs) -> None:
    await world.project(gates=QUIET)
    await world.start()
    await world.task("one")
    task = await world.task_in("one", "Closed")

    assert "output" not in task["status"]
    assert logs.asked_of_recorders == []
    assert await its_documents(world) == {}


async def test_a_node_that_does_not_answer_is_asked_again_and_the_session_waits_for_it(
    quiet: World, logs: NodeLogs
) -> None:
    logs.recorded = EVENT
    await quiet.start()
    await quiet.task("one")
    await eventually(lambda: len(logs.asked_of_recorders) > 2)
    session = await quiet.get(AGENT_SESSIONS, "one-s1")
    logs.recorded = printed(VALUES)
    await quiet.task_in("one", "Closed")

    assert session["status"]["state"] == "Working"
    assert set(await its_documents(quiet)) == {"one-s1-documents"}


@pytest.mark.parametrize("recorded", [EVENT, printed(VALUES.replace(b"12", b"13")), None])
async def test_what_cannot_be_had_in_time_is_lost_and_the_work_is_not(
    quiet: World, logs: NodeLogs, monkeypatch: pytest.MonkeyPatch, recorded: bytes | None
) -> None:
    monkeypatch.setattr(documents, "PATIENCE_SECONDS", 1)
    logs.recorded = recorded
    await quiet.start()
    await quiet.task("one")
    task = await quiet.task_in("one", "Closed")
    event = await told_of(quiet)

    assert task["status"]["output"] == {"session": "one-s1", **TOLD}
    assert await its_documents(quiet) == {}
    assert "The log of the recorder, which has output.json, cannot be had" in event["message"]
    assert "Delete" not in event["message"]


def theirs(world: World, **metadata: Any) -> Object:
    """What somebody else has made by the name of the ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "one-s1-documents", "namespace": world.namespace, **metadata},
        "data": {"theirs": "x"},
    }


async def told_of(world: World) -> Object:
    """The Event that tells of lost documents, once it is there."""
    found: list[Object] = []

    async def is_there() -> bool:
        events = (await world.all(CORE_EVENTS)).values()
        found[:] = [event for event in events if event["reason"] == "DocumentLost"]
        return bool(found)

    await met(is_there)
    (event,) = found
    return event


async def test_a_name_that_somebody_else_has_is_not_waited_for_and_people_are_told(
    quiet: World, logs: NodeLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "AGAIN_SECONDS", documents.PATIENCE_SECONDS)
    logs.recorded = printed(VALUES)
    await quiet.apply(CONFIG_MAPS, theirs(quiet))
    await quiet.start()
    await quiet.task("one")
    task = await quiet.task_in("one", "Closed")
    event = await told_of(quiet)
    found = await its_documents(quiet)

    assert task["status"]["output"] == {"session": "one-s1", **TOLD}
    assert found["one-s1-documents"]["data"] == {"theirs": "x"}
    assert len(logs.asked_of_recorders) == 1
    assert (event["type"], event["involvedObject"]["name"]) == ("Warning", "one")
    assert "'one-s1-documents' exists already and was made by someone else" in event["message"]
    assert "Remedy: Delete " in event["message"]


async def test_one_that_is_being_deleted_is_waited_for_no_longer_than_a_node(
    quiet: World, logs: NodeLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "PATIENCE_SECONDS", 1)
    logs.recorded = printed(VALUES)
    await quiet.apply(CONFIG_MAPS, theirs(quiet, finalizers=["example.com/held"]))
    await quiet.delete(CONFIG_MAPS, "one-s1-documents")
    await quiet.start()
    await quiet.task("one")
    await quiet.task_in("one", "Closed")
    event = await told_of(quiet)

    await quiet.admin.patch(
        CONFIG_MAPS, "one-s1-documents", quiet.namespace, {"metadata": {"finalizers": []}}
    )

    assert "'one-s1-documents' is being deleted" in event["message"]
    assert "Remedy: Take out of it the finalizers" in event["message"]


async def test_after_a_crash_before_it_was_recorded_it_is_kept_once(
    quiet: World, logs: NodeLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.recorded = EVENT
    first = await quiet.start()
    await quiet.task("one")
    await eventually(lambda: bool(logs.asked_of_recorders))
    await first.kill()
    logs.recorded = printed(VALUES)
    await quiet.start(lease="second")
    await quiet.task_in("one", "Closed")

    writes = [w for w in await quiet.writes() if w.name == "one-s1-documents"]
    assert [(w.verb, w.code) for w in writes] == [("create", 201)]


async def test_after_a_crash_between_the_two_writes_what_is_there_stands(
    quiet: World, logs: NodeLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, tries = keeping.keep, 0

    async def keep_and_break(*told: Any) -> None:
        nonlocal tries
        await keep(*told)  # raises while the log is still being read
        tries += 1
        if tries == 1:
            raise Requeue(0.1, "as if it had ended here")

    monkeypatch.setattr(keeping, "keep", keep_and_break)
    logs.recorded = printed(VALUES)
    await quiet.start()
    await quiet.task("one")
    task = await quiet.task_in("one", "Closed")

    writes = [w for w in await quiet.writes() if w.name == "one-s1-documents"]
    assert [(w.verb, w.code) for w in writes] == [("create", 201), ("create", 409)]
    assert task["status"]["output"] == {"session": "one-s1", **TOLD}
