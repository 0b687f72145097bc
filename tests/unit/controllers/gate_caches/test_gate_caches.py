"""Verdicts of gates are read once, written seldom, and believed only from an object of ours."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from bernstein.api.project import Project
from bernstein.controllers import gate_caches
from bernstein.controllers.gate_caches import MOST_GONE, config_map
from bernstein.core import labels
from bernstein.core.actions import KeepVerdicts
from bernstein.core.gate_cache import MOST, GateCache, KeptVerdict, dump, keeping
from bernstein.kube.client import Client
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.unit.controllers.gate_caches.leading import (
    NAME,
    ONE,
    PASSED,
    PROJECT,
    TWO,
    Process,
    put,
    stored,
    written,
)
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW
from tests.unit.kube.apiserver import ApiServer, Call

# --- read and written -----------------------------------------------------------------------------


async def test_the_next_process_knows_what_this_one_has_kept(
    api: ApiServer, client: Client, process: Process
) -> None:
    assert await process.known() == set()
    await process.keep(ONE)

    another = Process(client)

    assert await another.known() == {ONE}
    cache = await another.caches.of(PROJECT)
    assert cache is not None
    assert cache.images == {"t:1": "sha256:a"}


async def test_it_is_read_once(api: ApiServer, process: Process) -> None:
    put(api, ONE)
    for _ in range(3):
        assert await process.known() == {ONE}
        process.later()

    assert api.count("GET", "configmaps") == 1


async def test_it_is_the_projects_with_our_labels_and_goes_with_it(
    api: ApiServer, process: Process
) -> None:
    await process.known()
    await process.keep(ONE)

    meta = api.get(CONFIG_MAPS, NAME, NAMESPACE)["metadata"]

    assert meta["labels"] == {
        "app.kubernetes.io/managed-by": "bernstein",
        "bernstein.dev/project": "default",
    }
    (owner,) = meta["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["blockOwnerDeletion"]) == (
        "Project",
        PROJECT.metadata.uid,
        False,
    )


async def test_it_is_written_once_a_minute_with_what_has_come_since(
    api: ApiServer, process: Process
) -> None:
    await process.known()
    await process.keep(ONE)
    await process.keep(TWO)

    assert stored(api) == {ONE}
    assert await process.known() == {ONE, TWO}
    process.later()
    await process.keep(TWO)

    assert stored(api) == {ONE, TWO}
    assert written(api) == ["POST", "PATCH"]


async def test_only_what_has_changed_is_sent(api: ApiServer, process: Process) -> None:
    put(api, ONE)
    await process.known()
    await process.keep(TWO)

    assert {*api.writes()[-1].body["data"]} == {TWO, "images"}


async def test_nothing_new_is_not_written(api: ApiServer, process: Process) -> None:
    await process.known()
    await process.keep(ONE)
    process.later()
    await process.keep(ONE)

    assert written(api) == ["POST"]


async def test_projects_are_kept_apart(api: ApiServer, process: Process) -> None:
    other = objects.project("other")
    await process.known()
    await process.keep(ONE)

    assert await process.known(other) == set()
    await process.keep(TWO, project=other)

    assert api.names(CONFIG_MAPS) == [NAME, "other-gate-cache"]


async def test_however_many_projects_there_are_each_is_read_once_and_written_once_a_minute(
    api: ApiServer, process: Process
) -> None:
    many = [objects.project(f"p{number}") for number in range(3 * MOST_GONE)]
    process.there = {each.metadata.uid for each in many}
    for key in (ONE, TWO):
        for each in many:
            await process.known(each)
            await process.keep(key, project=each)

    assert len(api.writes()) == len(many)
    assert await process.known(many[0]) == {ONE, TWO}
    assert api.count("GET", "configmaps") == len(many)


async def test_what_is_known_of_projects_that_are_gone_is_forgotten(
    api: ApiServer, process: Process
) -> None:
    put(api, ONE)
    gone = objects.project("gone")
    await process.known(gone)
    await process.known()
    for number in range(MOST_GONE):
        await process.known(objects.project(f"p{number}"))
    read = api.count("GET", "configmaps")

    assert await process.known() == {ONE}
    assert api.count("GET", "configmaps") == read
    await process.known(gone)
    assert api.count("GET", "configmaps") == read + 1


# --- how much is in memory ------------------------------------------------------------------------

LONG = KeptVerdict("Failed", excerpt="x" * 300)


def full(number: int) -> dict[str, KeptVerdict]:
    """As much as is kept of one Project."""
    return {f"{number * 1000 + each:040x}": LONG for each in range(MOST)}


def bytes_held(process: Process) -> int:
    """Of all texts that it knows of Projects."""
    known = vars(process.caches)["_known"].values()
    return sum(len(str(each.cache)) + len(str(each.stored)) for each in known)


async def fill(process: Process, number: int) -> Project:
    each = objects.project(f"p{number}")
    process.there.add(each.metadata.uid)
    await process.known(each)
    await process.caches.keep(KeepVerdicts(tuple(full(number).items()), ()), each, NOW)
    return each


async def test_what_is_in_memory_is_bounded_over_all_projects_and_read_again_when_it_is_asked_for(
    api: ApiServer, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = gate_caches.MOST_BYTES // 16
    monkeypatch.setattr(gate_caches, "MOST_BYTES", bound)
    many = [await fill(process, 0)]
    for number in range(1, 16):
        many.append(await fill(process, number))
        await process.known(many[0])  # which is used, too
    held = bytes_held(process)
    assert bound // 2 < held <= bound
    api.calls.clear()

    for number in (0, 15):
        assert await process.known(many[number]) == {*full(number)}
    assert api.calls == []
    for number in (1, 2):
        assert await process.known(many[number]) == {*full(number)}
    assert api.count("GET", "configmaps") == 2
    assert bytes_held(process) <= bound


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is none for a second Project."""
    monkeypatch.setattr(gate_caches, "MOST_BYTES", 1)


OTHER = objects.project("other")


@pytest.mark.usefixtures("no_room")
async def test_what_leaves_memory_is_written_where_its_minute_is_over_and_something_is_known(
    api: ApiServer, process: Process
) -> None:
    await process.known(OTHER)
    await process.known()
    await process.keep(ONE)
    await process.keep(TWO)
    assert api.names(CONFIG_MAPS) == [NAME]
    process.later()
    await process.keep(ONE, project=OTHER)

    assert stored(api) == {ONE, TWO}
    assert await process.known() == {ONE, TWO}


@pytest.mark.usefixtures("no_room")
async def test_what_leaves_memory_is_written_no_more_than_once_a_minute(
    api: ApiServer, process: Process
) -> None:
    for key in (ONE, TWO):
        for each in (PROJECT, OTHER):
            await process.known(each)
            await process.keep(key, project=each)

    assert written(api) == ["POST", "POST"]


@pytest.mark.usefixtures("no_room")
async def test_what_is_kept_while_it_leaves_memory_is_not_lost(
    api: ApiServer, process: Process
) -> None:
    three = "3" * 40
    meanwhile: list[asyncio.Task[None]] = []

    def keep_another(call: Call) -> None:
        if call.verb == "PATCH" and not meanwhile:
            meanwhile.append(asyncio.create_task(process.keep(three)))

    await process.known(OTHER)
    await process.known()
    await process.keep(ONE)
    await process.keep(TWO)
    process.later()
    api.fault = keep_another
    await process.keep(ONE, project=OTHER)
    await asyncio.gather(*meanwhile)

    assert len(meanwhile) == 1
    assert stored(api) == {ONE, TWO}
    assert await process.known() == {ONE, TWO, three}


@pytest.mark.parametrize("gates", [{"cacheEnabled": False}, {"enabled": False}])
async def test_nothing_is_read_where_nobody_asks_for_it(
    api: ApiServer, process: Process, gates: Any
) -> None:
    assert await process.caches.of(objects.project(gates=gates)) is None
    assert await process.caches.of(None) is None
    assert api.calls == []


# --- what is not believed -------------------------------------------------------------------------

FOREIGN: dict[str, Object] = {
    "without our label": {"labels": {}},
    "of nobody": {"ownerReferences": []},
    "of another Project of that name": {
        "ownerReferences": [{"kind": "Project", "name": "default", "uid": "b", "controller": True}]
    },
    "of one that does not control it": {
        "ownerReferences": [{"kind": "Project", "name": "default", "uid": PROJECT.metadata.uid}]
    },
    "being deleted": {"deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["somebody's"]},
}


@pytest.mark.parametrize("metadata", FOREIGN.values(), ids=FOREIGN)
async def test_an_object_that_is_not_ours_is_neither_believed_nor_written(
    api: ApiServer, process: Process, metadata: Object
) -> None:
    put(api, ONE, **metadata)

    assert await process.known() == set()
    await process.keep(TWO)

    assert await process.known() == {TWO}
    assert written(api) == []


async def test_it_is_looked_at_again_after_a_minute(api: ApiServer, process: Process) -> None:
    put(api, ONE, labels={})
    await process.known()
    await process.known()
    assert api.count("GET", "configmaps") == 1
    api.remove(CONFIG_MAPS, NAME, NAMESPACE)
    process.later()

    assert await process.known() == set()
    await process.keep(TWO)

    assert stored(api) == {TWO}


@pytest.mark.parametrize("data", [None, {}, {"images": "[", ONE: "{"}])
async def test_content_that_nobody_can_read_is_nothing(
    api: ApiServer, process: Process, data: Any
) -> None:
    obj = config_map(PROJECT, {})
    api.put(CONFIG_MAPS, NAME, NAMESPACE, data=data, metadata=obj["metadata"])

    assert await process.known() == set()


# --- what fails -----------------------------------------------------------------------------------


async def test_where_it_cannot_be_read_nothing_is_known_and_nothing_lost(
    api: ApiServer, process: Process
) -> None:
    put(api, ONE)
    api.fault = lambda call: 500 if call.verb == "GET" else None
    assert await process.known() == set()
    await process.keep(TWO)
    assert written(api) == []
    api.fault = lambda _: None
    process.later()

    assert await process.known() == {ONE, TWO}


async def test_what_another_process_has_written_is_read_before_it_is_written_over(
    api: ApiServer, process: Process
) -> None:
    await process.known()
    await process.keep(ONE)
    put(api, ONE, "3" * 40)
    process.later()
    await process.keep(TWO)
    assert stored(api) == {ONE, "3" * 40}

    assert await process.known() == {ONE, TWO, "3" * 40}
    process.later()
    await process.keep(TWO)

    assert stored(api) == {ONE, TWO, "3" * 40}


async def test_one_that_somebody_has_deleted_is_made_anew(api: ApiServer, process: Process) -> None:
    await process.known()
    await process.keep(ONE)
    api.remove(CONFIG_MAPS, NAME, NAMESPACE)
    process.later()
    await process.keep(TWO)

    await process.known()
    process.later()
    await process.keep(TWO)

    assert stored(api) == {ONE, TWO}


@pytest.mark.parametrize("fault", ["drop-after", "drop-before", 403, 422, 500])
async def test_a_write_that_fails_is_dropped_and_made_up_for(
    api: ApiServer, process: Process, fault: Any
) -> None:
    def broken(call: Call) -> Any:
        return fault if call.verb == "POST" else None

    await process.known()
    api.fault = broken
    await process.keep(ONE)
    api.fault = lambda _: None
    process.later()

    assert await process.known() == {ONE}
    await process.keep(TWO)

    assert stored(api) == {ONE, TWO}


async def test_a_refused_write_is_asked_for_once_a_minute(api: ApiServer, process: Process) -> None:
    api.fault = lambda call: 403 if call.verb == "POST" else None
    await process.known()
    for _ in range(3):
        await process.keep(ONE)

    assert written(api) == ["POST"]


def test_what_is_written_is_text_alone() -> None:
    cache = keeping(GateCache("b:1"), [(ONE, PASSED)], [("t:1", "sha256:a")], NOW)

    data = config_map(PROJECT, dump(cache))["data"]

    assert json.loads(json.dumps(data)) == data
    assert all(isinstance(text, str) for text in data.values())
    assert labels.OURS not in json.dumps(data)
