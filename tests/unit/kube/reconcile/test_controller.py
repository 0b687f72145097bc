import asyncio
import time
from collections import Counter
from typing import Any

import pytest

from bernstein.kube import reconcile as reconcile_module
from bernstein.kube.client import Client
from bernstein.kube.errors import Conflict, Overloaded, Requeue, TooManyRequests, Unavailable
from bernstein.kube.guard import Guard
from bernstein.kube.informer import Informer
from bernstein.kube.observer import NullObserver, ReconcileResult
from bernstein.kube.queue import Priority
from bernstein.kube.reconcile import (
    Controller,
    Result,
    controller_key,
    deletion_first,
    label_key,
    own_key,
)
from bernstein.kube.resource import JOBS, Key, Object
from tests.background import Background, eventually
from tests.unit.kube.apiserver import WIDGETS, ApiServer


class Results(NullObserver):
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def reconciled(self, controller: str, result: ReconcileResult, seconds: float) -> None:  # noqa: ARG002
        self.counts[result] += 1


def key(name: str) -> Key:
    return Key("default", name)


@pytest.fixture
async def widgets(api: ApiServer, client: Client, background: Background) -> Informer:
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    return informer


async def test_nothing_is_reconciled_before_all_caches_are_filled(
    api: ApiServer, client: Client, widgets: Informer, background: Background
) -> None:
    api.put(WIDGETS, "w")
    runs: list[Key] = []

    async def reconcile(key: Key) -> Result:
        assert jobs.has_synced
        runs.append(key)
        return Result()

    jobs = Informer(client, JOBS)
    controller = Controller("widgets", reconcile, primary=widgets)
    controller.watch(jobs, label_key("widget"))
    background.start(controller.run())
    await widgets.synced()
    for _ in range(5):
        await asyncio.sleep(0)
    assert runs == []
    background.start(jobs.run())
    await eventually(lambda: runs == [key("w")])


async def test_events_of_dependants_wake_their_owner(
    api: ApiServer, client: Client, widgets: Informer, background: Background
) -> None:
    runs: Counter[Key] = Counter()

    async def reconcile(key: Key) -> Result:
        runs[key] += 1
        return Result()

    jobs = Informer(client, JOBS)
    controller = Controller("widgets", reconcile, primary=widgets)
    controller.watch(jobs, controller_key(WIDGETS))
    controller.watch(jobs, label_key("widget"))
    background.start(jobs.run())
    background.start(controller.run())
    await jobs.synced()
    owner = {
        "apiVersion": "example.com/v2",
        "kind": "Widget",
        "name": "by-owner",
        "controller": True,
        "uid": "u",
    }
    api.put(JOBS, "j", metadata={"ownerReferences": [owner], "labels": {"widget": "by-label"}})
    await eventually(lambda: runs == {key("by-owner"): 1, key("by-label"): 1})
    api.put(JOBS, "j", metadata={"labels": {"widget": "moved"}})
    await eventually(lambda: runs[key("moved")] == 1 and runs[key("by-label")] == 2)


@pytest.mark.parametrize(
    "owner",
    [
        {"kind": "Widget", "apiVersion": "example.com/v1", "name": "w"},
        {"kind": "Gadget", "apiVersion": "example.com/v1", "name": "w", "controller": True},
        {"kind": "Widget", "apiVersion": "other.com/v1", "name": "w", "controller": True},
    ],
)
def test_only_a_controlling_owner_of_that_kind_is_mapped(owner: Object) -> None:
    mapper = controller_key(WIDGETS)
    assert list(mapper({"metadata": {"name": "j", "ownerReferences": [owner]}})) == []


def test_what_is_deleted_comes_first() -> None:
    obj = {"metadata": {"name": "w"}}
    deleting = {"metadata": {"name": "w", "deletionTimestamp": "2025-01-01T00:00:00Z"}}
    assert deletion_first(None, obj) == Priority.NORMAL
    assert deletion_first(obj, deleting) == Priority.HIGH
    assert deletion_first(obj, None) == Priority.HIGH


async def test_errors_are_retried_and_counted_by_kind(
    api: ApiServer, widgets: Informer, background: Background
) -> None:
    api.put(WIDGETS, "w")
    limited = TooManyRequests(429, "TooManyRequests", "slow down")
    limited.retry_after = 0.01
    failures = [
        RuntimeError("defect"),
        Conflict(409, "Conflict", "stale"),
        limited,
        Requeue(0.01, "being deleted"),
    ]
    results = Results()

    async def reconcile(key: Key) -> Result:
        if failures:
            raise failures.pop(0)
        return Result()

    controller = Controller("widgets", reconcile, primary=widgets, observer=results)
    background.start(controller.run())
    await eventually(lambda: results.counts["success"] == 1)
    assert results.counts == {"error": 2, "requeue": 2, "success": 1}
    # Success ended the back-off: the next failure starts with the shortest delay again.
    assert controller.queue.retry(key("w")) == 0.005


async def test_a_key_that_keeps_failing_is_told_of_and_one_that_recovers_is_not(
    api: ApiServer, widgets: Informer, background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile_module, "TELL_SECONDS", 0.03)
    api.put(WIDGETS, "passing")
    api.put(WIDGETS, "lasting")
    failures = {"passing": 2, "lasting": 5}
    told: list[tuple[str, str]] = []
    done: set[str] = set()

    async def reconcile(key: Key) -> Result:
        if failures[key.name]:
            failures[key.name] -= 1
            raise RuntimeError("defect")
        done.add(key.name)
        return Result()

    controller = Controller(
        "widgets",
        reconcile,
        primary=widgets,
        tell=lambda key, error: told.append((key.name, str(error))),
    )
    background.start(controller.run())
    await eventually(lambda: done == {"passing", "lasting"})
    assert set(told) == {("lasting", "defect")}


@pytest.mark.parametrize("broken", ["when", "priority", "mapper"])
async def test_an_event_counts_even_where_it_cannot_be_judged(
    api: ApiServer, client: Client, widgets: Informer, background: Background, broken: str
) -> None:
    """Whatever cannot say that an event is of no concern, or of little."""

    def fail(*_: Object | None) -> Any:
        raise RuntimeError("defect")

    def unless_new(obj: Object) -> list[Key]:
        return fail() if obj.get("spec") else [key("owner")]

    runs: Counter[Key] = Counter()

    async def reconcile(key: Key) -> Result:
        runs[key] += 1
        return Result()

    jobs = Informer(client, JOBS)
    controller = Controller("widgets", reconcile, primary=widgets)
    mapper = unless_new if broken == "mapper" else lambda _: [key("owner")]
    controller.watch(
        jobs,
        mapper,
        when=fail if broken == "when" else None,
        priority=fail if broken == "priority" else deletion_first,
    )
    background.start(jobs.run())
    background.start(controller.run())
    await jobs.synced()
    api.put(JOBS, "j")
    await eventually(lambda: runs[key("owner")] == 1)
    api.put(JOBS, "j", spec={"a": 1})
    await eventually(lambda: runs[key("owner")] == 2)


async def test_events_that_may_wait_are_looked_at_together_and_others_do_not_wait(
    api: ApiServer, client: Client, widgets: Informer, background: Background
) -> None:
    runs: Counter[Key] = Counter()

    async def reconcile(key: Key) -> Result:
        runs[key] += 1
        return Result()

    paused: list[float] = [1e6]
    jobs = Informer(client, JOBS)
    controller = Controller("widgets", reconcile, primary=widgets)
    controller.watch(jobs, lambda _: [key("owner")], pause=lambda _, new: paused[0] if new else 0)
    background.start(jobs.run())
    background.start(controller.run())
    await jobs.synced()
    for number in range(5):
        paused[0] = 1e6 if number < 4 else 0.05
        api.put(JOBS, "j", spec={"a": number})
        await eventually(lambda n=number: _spec(jobs) == {"a": n})  # type: ignore[misc]
    await eventually(lambda: runs[key("owner")] == 1)

    paused[0] = 1e6
    api.remove(JOBS, "j")
    await eventually(lambda: runs[key("owner")] == 2)


def _spec(jobs: Informer) -> Any:
    return (jobs.get(key("j")) or {}).get("spec")


async def test_a_reconcile_that_was_cancelled_by_nobody_is_a_failure_and_ends_no_worker(
    api: ApiServer, widgets: Informer, background: Background
) -> None:
    """As when it waits for a task of its own that has been cancelled."""
    api.put(WIDGETS, "w")
    runs: Counter[Key] = Counter()

    async def reconcile(key: Key) -> Result:
        runs[key] += 1
        if runs[key] < 4:
            raise asyncio.CancelledError
        return Result()

    results = Results()
    controller = Controller("widgets", reconcile, primary=widgets, observer=results)
    running = background.start(controller.run())
    await eventually(lambda: results.counts["success"] == 1)
    assert results.counts["error"] == 3
    assert not running.done()


@pytest.mark.parametrize("why", ["its own write", "a failure", "another's deletion"])
async def test_a_deletion_that_has_to_wait_still_comes_first(
    api: ApiServer, widgets: Informer, why: str
) -> None:
    await widgets.synced()
    failures: dict[str, list[Exception]] = {
        "a failure": [RuntimeError("defect")],
        "another's deletion": [Requeue(0.01, "being deleted")],
    }
    coming = failures.get(why, [])

    async def reconcile(key: Key) -> Result:
        if coming:
            raise coming.pop()
        return Result()

    guard = Guard([widgets], recheck=0.01)
    controller = Controller("widgets", reconcile, primary=widgets, guard=guard)
    if why == "its own write":
        api.stall()
        guard.wrote(key("w"), WIDGETS, api.put(WIDGETS, "w"))
    controller.queue.add(key("w"), Priority.HIGH)
    assert controller.queue.poll() == key("w")
    await controller._process(key("w"))
    controller.queue.done(key("w"))
    controller.queue.add(key("other"))
    await asyncio.sleep(0.05)
    assert controller.queue.poll() == key("w")


@pytest.mark.parametrize("kind", [TooManyRequests, Unavailable])
async def test_a_key_that_the_server_asks_to_wait_waits_and_is_not_told_of(
    api: ApiServer, widgets: Informer, background: Background, kind: type[Overloaded]
) -> None:
    api.put(WIDGETS, "w")
    told: list[Key] = []
    overloaded = kind(503, "Overloaded", "come back later")
    overloaded.retry_after = 300.0

    async def reconcile(key: Key) -> Result:
        raise overloaded

    results = Results()
    controller = Controller(
        "widgets",
        reconcile,
        primary=widgets,
        observer=results,
        tell=lambda key, error: told.append(key),  # noqa: ARG005
    )
    background.start(controller.run())
    await eventually(lambda: results.counts["error"])
    assert controller.queue._delayed[key("w")][0] > time.monotonic() + 250
    assert told == []


async def test_a_result_brings_the_key_back_after_its_time(
    api: ApiServer, widgets: Informer, background: Background
) -> None:
    api.put(WIDGETS, "w")
    results = Results()

    async def reconcile(key: Key) -> Result:
        return Result(0.01 if results.counts["requeue_after"] < 3 else None)

    controller = Controller("widgets", reconcile, primary=widgets, observer=results)
    background.start(controller.run())
    await eventually(lambda: results.counts == {"requeue_after": 3, "success": 1})


async def test_a_key_never_runs_twice_at_once_and_no_event_is_lost(
    api: ApiServer, widgets: Informer, background: Background
) -> None:
    running: Counter[Key] = Counter()
    last_seen: dict[Key, int] = {}

    async def reconcile(key: Key) -> Result:
        running[key] += 1
        assert running[key] == 1
        cached = widgets.get(key)
        assert cached is not None
        await asyncio.sleep(0.002)
        running[key] -= 1
        last_seen[key] = cached["spec"]["n"]
        return Result()

    results = Results()
    controller = Controller("widgets", reconcile, primary=widgets, workers=4, observer=results)
    background.start(controller.run())
    for number in range(30):
        for name in ("a", "b", "c"):
            api.put(WIDGETS, name, spec={"n": number})
        await asyncio.sleep(0.001)
    await eventually(lambda: set(last_seen.values()) == {29} and len(last_seen) == 3)
    assert results.counts["error"] == 0


async def test_a_resync_adds_every_key(
    api: ApiServer, widgets: Informer, background: Background
) -> None:
    for name in ("a", "b"):
        api.put(WIDGETS, name)
    runs: Counter[Key] = Counter()

    async def reconcile(key: Key) -> Result:
        runs[key] += 1
        return Result()

    background.start(Controller("widgets", reconcile, primary=widgets, resync=0.02).run())
    await eventually(lambda: runs[key("a")] >= 3 and runs[key("b")] >= 3)
    assert api.writes() == []


async def test_others_have_their_turn_after_every_key(
    api: ApiServer, client: Client, widgets: Informer, background: Background
) -> None:
    """A reconcile that has nothing to write waits for nothing."""
    for number in range(50):
        api.put(WIDGETS, f"w{number}")
    await widgets.synced()
    turns = 0
    ran: list[int] = []

    async def reconcile(_: Key) -> Result:
        ran.append(turns)
        return Result()

    background.start(Controller("widgets", reconcile, primary=widgets, workers=1).run())
    while len(ran) < 50:
        turns += 1
        await asyncio.sleep(0)
    assert len(set(ran)) == 50


async def test_a_running_reconcile_may_finish_when_the_controller_stops(
    api: ApiServer, widgets: Informer, background: Background
) -> None:
    api.put(WIDGETS, "w")
    started, finished = asyncio.Event(), asyncio.Event()

    async def reconcile(key: Key) -> Result:
        started.set()
        await asyncio.sleep(0.02)
        finished.set()
        return Result()

    running = background.start(Controller("widgets", reconcile, primary=widgets).run())
    await started.wait()
    running.cancel()
    await asyncio.wait([running])
    assert finished.is_set()


async def test_a_reconcile_that_does_not_finish_is_cancelled(
    api: ApiServer, widgets: Informer, background: Background
) -> None:
    api.put(WIDGETS, "w")
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def reconcile(key: Key) -> Result:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return Result()

    running = background.start(Controller("widgets", reconcile, primary=widgets, drain=0.02).run())
    await started.wait()
    running.cancel()
    await asyncio.wait([running])
    assert cancelled.is_set()


def test_own_key_is_namespace_and_name() -> None:
    assert list(own_key({"metadata": {"namespace": "default", "name": "w"}})) == [key("w")]
