"""What is settled is kept packed, and disturbs nobody until it is read."""

from __future__ import annotations

import asyncio
import math

import pytest

from bernstein.kube import reconcile as reconcile_module
from bernstein.kube.cache import Packed
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.informer import Informer
from bernstein.kube.observer import NullObserver
from bernstein.kube.queue import Priority
from bernstein.kube.reconcile import Controller, Result
from bernstein.kube.resource import Key, Object
from tests.background import Background, eventually
from tests.unit.kube.apiserver import WIDGETS, ApiServer

MANY = 100
"""More than stay unpacked because they were read last."""


def is_over(obj: Object) -> bool:
    return bool(obj.get("spec", {}).get("over"))


@pytest.fixture
async def widgets(api: ApiServer, client: Client, background: Background) -> Informer:
    """Two that go on, among many that are settled."""
    for number in range(MANY):
        api.put(WIDGETS, f"over-{number}", spec={"over": True})
        if number in (30, 60):
            api.put(WIDGETS, f"going-{number}")
    informer = Informer(client, WIDGETS, settled=is_over)
    background.start(informer.run())
    await informer.synced()
    return informer


@pytest.fixture
def unpacked(widgets: Informer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Uids of what is unpacked from now on."""
    del widgets
    found: list[str] = []
    original = Packed.unpacked

    def counted(self: Packed) -> Object:
        found.append(self.uid)
        return original(self)

    monkeypatch.setattr(Packed, "unpacked", counted)
    return found


def test_a_new_handler_hears_of_what_goes_on_alone(widgets: Informer, unpacked: list[str]) -> None:
    heard: list[str] = []

    def handler(old: Object | None, new: Object | None) -> None:
        assert old is None
        assert new is not None
        heard.append(new["metadata"]["name"])

    widgets.add_handler(handler)

    assert (sorted(heard), unpacked) == (["going-30", "going-60"], [])


async def test_what_is_settled_is_looked_at_after_what_goes_on_and_not_unpacked_for_it(
    widgets: Informer,
    unpacked: list[str],
    background: Background,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reconcile_module, "ADDED_AT_ONCE", 10)
    seen: list[str] = []
    ranks: dict[str, Priority] = {}

    async def reconcile(key: Key) -> Result:
        seen.append(key.name)
        ranks[key.name] = controller.queue.priority_of(key)
        return Result()

    controller = Controller("widgets", reconcile, primary=widgets, workers=1, resync=0.05)
    background.start(controller.run())
    await eventually(lambda: len(seen) >= 3 * (MANY + 2))  # at the start, and at two resyncs

    assert {*seen[:2]} == {"going-30", "going-60"}
    assert len({*seen[: MANY + 2]}) == MANY + 2
    assert {*ranks.values()} == {Priority.LOW}
    assert unpacked == []


async def test_what_is_settled_is_looked_at_first_when_it_is_said_to_be_due(
    widgets: Informer, background: Background
) -> None:
    seen: dict[str, float] = {}
    passed: list[str] = []
    loop = asyncio.get_running_loop()

    class Observer(NullObserver):
        def passed_over(self, controller: str) -> None:
            passed.append(controller)

    async def reconcile(key: Key) -> Result:
        seen[key.name] = loop.time()
        return Result()

    def due(key: Key) -> float:
        if key.name == "over-3":
            raise RuntimeError("whoever cannot be judged is looked at")
        return {"over-1": 0.0, "over-2": 0.3}.get(key.name, math.inf)

    controller = Controller(
        "widgets",
        reconcile,
        primary=widgets,
        resync=3600,
        observer=Observer(),
        first_look=lambda: due,
    )
    begun = loop.time()
    background.start(controller.run())
    await eventually(lambda: {"over-1", "over-2", "over-3"} <= seen.keys())

    assert {*seen} == {"going-30", "going-60", "over-1", "over-2", "over-3"}
    assert seen["over-2"] - begun >= 0.3
    assert passed == ["widgets"] * (MANY - 2)


async def test_what_goes_on_again_is_told_with_what_it_was(
    api: ApiServer, widgets: Informer
) -> None:
    changes: list[tuple[object, object]] = []
    widgets.add_handler(lambda old, new: changes.append((old and old["spec"], new and new["spec"])))
    changes.clear()

    api.put(WIDGETS, "over-1", spec={"over": False})
    await eventually(lambda: changes)

    assert changes == [({"over": True}, {"over": False})]
    assert Key("default", "over-1") not in widgets.settled_keys()


async def test_a_list_of_what_has_not_changed_unpacks_nothing(
    widgets: Informer, unpacked: list[str]
) -> None:
    await widgets.catch_up()

    assert unpacked == []


@pytest.mark.parametrize(("later", "lists"), [(-1.0, 1), (0.0, 1), (1.0, 2)])
async def test_what_was_listed_since_is_not_listed_again_to_catch_up(
    api: ApiServer, client: Client, background: Background, later: float, lists: int
) -> None:
    informer = Informer(client, WIDGETS, clock=Clock(monotonic=lambda: 1000.0))
    background.start(informer.run())
    await informer.synced()

    await asyncio.wait_for(informer.catch_up(1000.0 + later), 30)

    assert api.count("GET", "widgets") == lists
