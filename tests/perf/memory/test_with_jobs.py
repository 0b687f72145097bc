"""What a Task costs in memory that has just ended: its Jobs and pods are there for a quarter of an
hour yet.

Tasks are copies of one that was played with its session, its four Jobs and their pods. The ratio
holds on any machine; the figures are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator

import orjson
import pytest

from bernstein.api import session, task
from bernstein.kube.cache import OPENED
from bernstein.kube.resource import JOBS, PODS, Object, Resource
from bernstein.resources import SESSIONS, TASKS
from tests.perf.memory.test_closed import EXAMPLE, Lists, filled, held, world_of_one

KINDS = (TASKS, SESSIONS, JOBS, PODS)
FEW, MANY = OPENED + 6, OPENED + 56
"""What was read last stays unpacked, however many there are."""
SOME = 10
MOST = 46 / 234
"""Of what all of it takes as it comes: as a sketch of it did."""


def played() -> dict[Resource, list[Object]]:
    """A Task that was just Closed, and what belongs to it."""
    world = world_of_one()
    found = {kind: world.store.all(kind) for kind in KINDS}
    assert found[TASKS][0]["status"]["state"] == "Closed"
    assert (len(found[JOBS]), len(found[PODS])) == (4, 4)
    return found


def copies(example: dict[Resource, list[Object]], number: int) -> Lists:
    """So many of it, as JSON."""
    uids = [str(obj["metadata"]["uid"]) for objects in example.values() for obj in objects]

    def of(obj: Object) -> Iterator[bytes]:
        for n in range(number):
            text = json.dumps(obj).replace(EXAMPLE, f"copy-{n:04}")
            for uid in uids:
                text = text.replace(uid, str(uuid.uuid5(uuid.NAMESPACE_OID, f"{uid}/{n}")))
            yield text.encode()

    return {
        kind: [text for obj in objects for text in of(obj)] for kind, objects in example.items()
    }


def plain(lists: Lists) -> list[object]:
    """Each as a dict, and what has models as a model, too."""
    parse = {TASKS: task.parse, SESSIONS: session.parse}
    found: list[object] = []
    for kind, texts in lists.items():
        for text in texts:
            obj = orjson.loads(text)
            found += [obj, parse[kind](obj)] if kind in parse else [obj]
    return found


@pytest.fixture(scope="module")
def example() -> dict[Resource, list[Object]]:
    return played()


def kept(example: dict[Resource, list[Object]]) -> int:
    """Bytes that one more takes in the caches."""
    few, many = (copies(example, number) for number in (FEW, MANY))

    def of(lists: Lists) -> int:
        return held(lambda: asyncio.run(filled(lists)))

    return (of(many) - of(few)) // (MANY - FEW)


def as_they_come(example: dict[Resource, list[Object]]) -> int:
    some = copies(example, SOME)
    return held(lambda: plain(some)) // SOME


def test_a_task_whose_jobs_and_pods_are_there_takes_a_fifth_of_their_size(
    example: dict[Resource, list[Object]],
) -> None:
    each, before = kept(example), as_they_come(example)
    on_the_wire = sum(len(text) for texts in copies(example, 1).values() for text in texts)
    print(
        f"\na Closed Task with its session, four Jobs and four pods: {each:,} bytes in the caches, "
        f"as dicts and models {before:,}; {on_the_wire:,} bytes of JSON"
    )
    assert each < MOST * before


def test_with_jobs_and_pods_as_they_come_it_would_take_more_than_that(
    example: dict[Resource, list[Object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bernstein.controllers.caches.fields.only", lambda obj, _: obj)
    each, before = kept(example), as_they_come(example)
    print(f"\nwith Jobs and pods as they come: {each:,} bytes, as dicts and models {before:,}")
    assert each > MOST * before
