"""Waiting for what becomes of many."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from bernstein.kube.resource import Key, Object
from tests.perf.bench.load import Place, Watched, WentWrongError

Handler = Callable[[Object | None, Object | None], None]


class Objects:
    """As an informer has them."""

    def __init__(self) -> None:
        self.objects: dict[Key, Object] = {}
        self.handlers: list[Handler] = []

    def get(self, key: Key) -> Object | None:
        return self.objects.get(key)

    def add_handler(self, handler: Handler) -> None:
        self.handlers.append(handler)

    def put(self, place: Place, state: str) -> None:
        was = self.objects.get(place.key)
        metadata = {"name": place.name, "namespace": place.namespace}
        new = {"metadata": metadata, "status": {"state": state}}
        self.objects[place.key] = new
        for handler in self.handlers:
            handler(was, new)


A, B, OTHER = (Place("team", name) for name in ("a", "b", "other"))


def is_closed(status: Object) -> bool:
    if status["state"] == "Failed":
        raise WentWrongError("failed")
    return bool(status["state"] == "Closed")


async def test_it_has_held_of_each_when_it_held_of_the_last() -> None:
    objects = Objects()
    objects.put(A, "Closed")
    waits = asyncio.create_task(Watched(objects).until_each([A, B], is_closed, 5))  # type: ignore[arg-type]
    for place, state in ((B, "Open"), (OTHER, "Failed"), (A, "Open")):
        await asyncio.sleep(0)
        objects.put(place, state)
    await asyncio.sleep(0.01)
    assert not waits.done()

    objects.put(B, "Closed")

    await asyncio.wait_for(waits, 1)


@pytest.mark.parametrize("before", [True, False])
async def test_what_goes_wrong_ends_it(before: bool) -> None:
    objects = Objects()
    if before:
        objects.put(B, "Failed")
    waits = asyncio.create_task(Watched(objects).until_each([A, B], is_closed, 5))  # type: ignore[arg-type]
    await asyncio.sleep(0.01)
    if not before:
        objects.put(B, "Failed")

    with pytest.raises(WentWrongError):
        await asyncio.wait_for(waits, 1)


async def test_what_does_not_come_is_not_waited_for_for_ever() -> None:
    with pytest.raises(TimeoutError):
        await Watched(Objects()).until_each([A], is_closed, 0.01)  # type: ignore[arg-type]
