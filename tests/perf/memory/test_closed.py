"""What Tasks and Plans cost that ended long ago: room in memory, steps of a start, and nothing at
any event.

Tasks are copies of one that was played with its session. Counts and ratios hold on any machine; the
figures are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import asyncio
import gc
import json
import tracemalloc
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import orjson
import pytest

from bernstein.api import plan as plans
from bernstein.api import session, task
from bernstein.controllers.caches import OPENED_PLANS, Caches
from bernstein.kube.answers import WatchEvent
from bernstein.kube.cache import Packed
from bernstein.kube.client import Client
from bernstein.kube.resource import Object, Resource
from bernstein.observe.engine import SETTLED
from bernstein.observe.metrics import Metrics
from bernstein.resources import PLANS, PROJECTS, SESSIONS, TASKS
from tests.control_plane.objects import valid
from tests.model.cluster.store import NAMESPACE, Store
from tests.model.loop import run
from tests.model.replicas import Replica
from tests.model.scenario import Scenario
from tests.model.trouble import Troubles
from tests.model.world import World
from tests.perf.test_plan_status import STEPS, plan

T = TypeVar("T")
Lists = Mapping[Resource, list[bytes]]

EXAMPLE = "example"
MANY = 300
SOME_PLANS = 20
RECONCILES = "controller_runtime_reconcile"
WAIT = 3600.0
"""Virtual seconds after the end of the example; its Job is gone by then."""


def world_of_one() -> World:
    """The world of a Task that was just Closed."""
    signal = {"type": "path_exists", "path": "a"}
    spec = {"title": "t", "completionSignals": [signal]}
    event = {"do": "apply task", "at": 1.0, "name": EXAMPLE, "spec": spec}
    limits = {"limits": {"maxAgents": 1}}
    world = World(Scenario(1, rates="calm", events=(event,), project=limits, seconds=300.0))
    world.programs.all_good = True
    run(world.play())
    return world


def played() -> Mapping[Resource, Object]:
    """A Task that is Closed, and its session."""
    world = world_of_one()
    (ended,), (dead,) = world.store.all(TASKS), world.store.all(SESSIONS)
    assert (ended["status"]["state"], dead["status"]["state"]) == ("Closed", "Dead")
    return {TASKS: ended, SESSIONS: dead}


@pytest.fixture(scope="module")
def closed() -> Lists:
    """So many of both, as JSON."""
    example = played()
    uids = [str(obj["metadata"]["uid"]) for obj in example.values()]
    return {kind: list(_copies(obj, uids)) for kind, obj in example.items()}


def _copies(obj: Object, uids: Iterable[str]) -> Iterator[bytes]:
    for number in range(MANY):
        text = json.dumps(obj).replace(EXAMPLE, f"copy-{number:04}")
        for uid in uids:
            text = text.replace(uid, str(uuid.uuid5(uuid.NAMESPACE_OID, f"{uid}/{number}")))
        made = json.loads(text)
        made["metadata"]["resourceVersion"] = str(1000 + number)
        yield json.dumps(made).encode()


def ended(number: int, steps: int) -> list[bytes]:
    """So many Plans as JSON, each of so many steps a stage that have all landed."""
    one = plan(steps)
    over = one.status.model_copy(
        update={
            "observed_generation": 1,
            "phase": "Succeeded",
            "expanded": True,
            "project": "default",
            "ended_at": datetime(2030, 1, 1, tzinfo=UTC),
        }
    )
    made = one.model_copy(update={"status": over}).dump()
    found = []
    for n in range(number):
        meta = {"name": f"over-{n}", "namespace": NAMESPACE, "uid": f"uid-over-{n}"}
        meta |= {"resourceVersion": str(n + 1)}
        found.append(json.dumps(made | {"metadata": made["metadata"] | meta}).encode())
    return found


class Served:
    """An API server that has these, and nothing new."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists

    async def read(
        self, kind: Resource, _: object, take: Callable[[Object], T], *__: object, **___: object
    ) -> tuple[list[T], str]:
        return [take(orjson.loads(each)) for each in self._lists.get(kind, ())], "9999"

    async def watch(self, *_: object, **__: object) -> Any:
        await asyncio.Event().wait()
        yield WatchEvent("BOOKMARK", {})


async def filled(lists: Lists) -> Caches:
    caches = Caches(cast("Client", Served(lists)))
    running = [asyncio.create_task(informer.run()) for informer in caches.informers]
    for informer in caches.informers:
        await informer.synced()
    for each in running:
        each.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    return caches


def plain(lists: Lists) -> list[object]:
    """Each as a dict and as a model, as the caches have what goes on."""
    found: list[object] = []
    for kind, parse in ((TASKS, task.parse), (SESSIONS, session.parse)):
        for each in lists[kind]:
            obj = orjson.loads(each)
            found += [obj, parse(obj)]
    return found


def held(make: Callable[[], object]) -> int:
    """Bytes that what is made holds."""
    gc.collect()
    tracemalloc.start()
    try:
        made = make()
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del made
    return taken


def test_tasks_that_ended_with_their_sessions_take_a_fifteenth_of_their_size(closed: Lists) -> None:
    some = {kind: texts[: MANY // 2] for kind, texts in closed.items()}
    # What was read last stays unpacked, however many there are.
    each = (held(lambda: asyncio.run(filled(closed))) - held(lambda: asyncio.run(filled(some)))) * 2
    before = held(lambda: plain(closed))

    print(
        f"\na Closed Task with its session: {each // MANY:,} bytes in the caches, as dicts and "
        f"models {before // MANY:,}"
    )
    assert each < before / 15


def test_a_plan_that_ended_takes_a_tenth_of_its_size() -> None:
    more, few = OPENED_PLANS + 6, OPENED_PLANS + 2
    texts = ended(more, STEPS)
    # Those that were read last stay unpacked, however many there are.

    def kept(number: int) -> int:
        return held(lambda: asyncio.run(filled({PLANS: texts[:number]})))

    each = (kept(more) - kept(few)) // (more - few)

    def unpacked() -> list[object]:
        objects = [orjson.loads(text) for text in texts[:2]]
        return [*objects, *map(plans.parse, objects)]

    before = held(unpacked) // 2
    print(
        f"\na Plan of 2,000 Tasks that ended: {each:,} bytes in the caches, as dict and model "
        f"{before:,}"
    )
    assert each < before / 10


def put(store: Store, lists: Lists) -> None:
    limits = {"limits": {"maxAgents": 5}}
    store.create(PROJECTS, valid("Project", NAMESPACE, "default", **limits))
    for kind, texts in lists.items():
        for each in texts:
            store._put(kind, orjson.loads(each))


async def a_life(lists: Lists, unpacked: list[str]) -> tuple[int, int, float]:
    """The engine starts beside them, and goes on with a new Task; how many of them were unpacked at
    the start, and since, and how many were looked at as a whole."""
    store = Store()
    await asyncio.sleep(WAIT)
    put(store, {**lists, PLANS: ended(SOME_PLANS, steps=1)})
    operator = Replica(0, store, Troubles(store), 0)
    replica = asyncio.create_task(operator.run())
    await asyncio.sleep(60)
    at_start, looks = len(unpacked), _looks(operator.metrics)
    store.create(TASKS, valid("Task", NAMESPACE, "new"))
    await asyncio.sleep(60)
    (new,) = (each for each in store.all(TASKS) if each["metadata"]["name"] == "new")
    assert new["status"]["state"] == "Claimed"
    replica.cancel()
    await asyncio.gather(replica, return_exceptions=True)
    return at_start, len(unpacked) - at_start, looks


def _looks(metrics: Metrics) -> float:
    """At Tasks and sessions as a whole."""
    (reconciles,) = (f for f in metrics.registry.collect() if f.name == RECONCILES)
    found = [s for s in reconciles.samples if s.name.endswith("_total")]
    of_both = [s for s in found if s.labels["controller"] in ("task", "agentsession")]
    return sum(s.value for s in of_both if s.labels["result"] != SETTLED)


def test_a_start_looks_at_none_of_those_that_ended_as_a_whole_and_a_new_task_unpacks_none(
    closed: Lists, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked: list[str] = []
    original = Packed.unpacked

    def counted(self: Packed) -> Object:
        unpacked.append(self.uid)
        return original(self)

    monkeypatch.setattr(Packed, "unpacked", counted)

    at_start, since, looks = run(a_life(closed, unpacked))

    print(
        f"\n{at_start} times unpacked at the start beside {MANY} Closed Tasks and {SOME_PLANS} "
        f"Plans, {since} since; {looks:.0f} Tasks and sessions looked at as a whole"
    )
    assert looks == 0
    # Each of both is listed; that nothing is to be done about it was told by few fields then.
    assert at_start < 2.5 * (MANY + SOME_PLANS)
    assert since == 0
