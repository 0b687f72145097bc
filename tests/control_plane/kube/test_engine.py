"""The engine on a real API server, which is killed now and then."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

import pytest

from bernstein.kube.cache import by_controller_uid
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import Conflict, Gone, LostLeadership, NameConflict, Requeue
from bernstein.kube.events import EventRecorder
from bernstein.kube.guard import Guard
from bernstein.kube.informer import Informer
from bernstein.kube.lease import Elector, Fence
from bernstein.kube.reconcile import Controller, Result, controller_key
from bernstein.kube.resource import (
    CONFIG_MAPS,
    EVENTS,
    JOBS,
    Key,
    Object,
    is_deleting,
    uid_of,
)
from bernstein.kube.writes import (
    Create,
    Delete,
    Executor,
    Ownership,
    RemoveFinalizer,
    StatusPatch,
)
from tests.background import Background, eventually
from tests.cluster.control_plane import audit
from tests.cluster.interface import Cluster
from tests.control_plane.kube.conftest import WIDGETS, named
from tests.control_plane.kube.test_client import job
from tests.fence import Unfenced

OWNERSHIP = Ownership(("engine.example.com/managed", "true"), "engine.example.com/spec-hash")


@pytest.fixture
def executor(client: Client) -> Executor:
    return Executor(client, fence=Unfenced(), guard=Guard(()), ownership=OWNERSHIP)


def owned(obj: Object, owner: Object) -> Object:
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": [reference]}}


async def kill_and_restart(cluster: Cluster, component: str) -> None:
    await asyncio.to_thread(cluster.kill, component)
    await asyncio.to_thread(cluster.start, component)


async def test_an_informer_stays_true_when_the_api_server_is_killed(
    client: Client, namespace: str, background: Background, cluster: Cluster
) -> None:
    for name in ("stays", "goes"):
        await client.create(WIDGETS, named(WIDGETS, name, namespace))
    before = (await client.list(WIDGETS)).resource_version
    await client.create(WIDGETS, named(WIDGETS, "later", namespace))
    informer = Informer(client, WIDGETS, namespaces=[namespace])
    background.start(informer.run())
    await informer.synced()
    await kill_and_restart(cluster, "kube-apiserver")
    # In the background: the garbage collector needs long to find the new server.
    await client.delete(WIDGETS, "goes", namespace, propagation="Background")
    await client.create(WIDGETS, named(WIDGETS, "comes", namespace))
    await eventually(
        lambda: {o["metadata"]["name"] for o in informer.objects()} == {"stays", "later", "comes"}
    )
    # A restarted server has no history, which is what informers must live with.
    with pytest.raises(Gone):
        await anext(client.watch(WIDGETS, namespace, resource_version=before))


async def test_a_selector_shows_only_what_matches_and_refresh_respects_it(
    client: Client, namespace: str, background: Background
) -> None:
    widget = named(WIDGETS, "w", namespace)
    widget["metadata"]["labels"] = {"ours": "yes"}
    await client.create(WIDGETS, widget)
    informer = Informer(client, WIDGETS, label_selector="ours=yes")
    background.start(informer.run())
    await informer.synced()
    key = Key(namespace, "w")
    assert informer.get(key) is not None
    await client.patch(WIDGETS, "w", namespace, {"metadata": {"labels": {"ours": "no"}}})
    await eventually(lambda: informer.get(key) is None)
    await informer.refresh(key)
    assert informer.get(key) is None


async def test_the_guard_sees_writes_and_deletions_arrive(
    client: Client, namespace: str, background: Background
) -> None:
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await informer.synced()
    guard, owner = Guard([informer]), Key(namespace, "w")
    executor = Executor(client, fence=Unfenced(), guard=guard, ownership=OWNERSHIP)
    first = await executor.execute(owner, Create(WIDGETS, named(WIDGETS, "w", namespace)))
    assert first is not None
    await eventually(lambda: guard.caught_up(owner))
    assert informer.get(owner) is not None
    await executor.execute(owner, Delete(WIDGETS, owner, uid_of(first)))
    await eventually(lambda: guard.caught_up(owner))
    cached = informer.get(owner)
    assert cached is None or is_deleting(cached)


async def test_the_guard_sees_that_the_last_finalizer_was_removed(
    client: Client, namespace: str, background: Background
) -> None:
    finalizer = "engine.example.com/kept"
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await informer.synced()
    guard, owner = Guard([informer]), Key(namespace, "w")
    executor = Executor(client, fence=Unfenced(), guard=guard, ownership=OWNERSHIP)
    held = named(WIDGETS, "w", namespace)
    held["metadata"]["finalizers"] = [finalizer]
    obj = await client.create(WIDGETS, held)
    await client.delete(WIDGETS, "w", namespace, propagation="Background")
    # As it was before the deletion: neither the revision nor anything but the finalizer counts.
    await executor.execute(owner, RemoveFinalizer(WIDGETS, obj, finalizer))
    await eventually(lambda: guard.caught_up(owner))
    assert informer.get(owner) is None
    assert await executor.execute(owner, RemoveFinalizer(WIDGETS, obj, finalizer)) is None


async def test_a_job_made_twice_is_one_and_a_changed_one_is_a_conflict(
    client: Client, namespace: str, executor: Executor
) -> None:
    owner = Key(namespace, "w")
    first = await executor.execute(owner, Create(JOBS, job("j", namespace)))
    again = await executor.execute(owner, Create(JOBS, job("j", namespace)))
    assert first is not None
    assert again is not None
    assert uid_of(first) == uid_of(again)
    changed = job("j", namespace)
    changed["spec"]["backoffLimit"] = 1
    with pytest.raises(NameConflict):
        await executor.execute(owner, Create(JOBS, changed))

    # Held, so that the deletion cannot be over before the next line looks.
    add = [{"op": "add", "path": "/metadata/finalizers", "value": [HOLD]}]
    await client.patch(JOBS, "j", namespace, add)
    await executor.execute(owner, Delete(JOBS, Key(namespace, "j"), uid_of(first)))
    with pytest.raises(Requeue):
        await executor.execute(owner, Create(JOBS, changed))
    await executor.execute(owner, RemoveFinalizer(JOBS, await _job(client, namespace), HOLD))


HOLD = "engine.test/hold"


async def _job(client: Client, namespace: str) -> Object:
    return await client.get(JOBS, "j", namespace)


async def test_a_status_is_patched_once_and_another_writers_part_is_left_alone(
    client: Client, namespace: str, executor: Executor
) -> None:
    widget = await client.create(WIDGETS, named(WIDGETS, "w", namespace, spec={"a": 1}))
    owner = Key(namespace, "w")
    desired = {"state": "Open", "gone": {"a": 1}, "none": None, "empty": {}}
    opened = await executor.execute(owner, StatusPatch(WIDGETS, widget, desired))
    assert opened is not None
    assert opened["status"] == {"state": "Open", "gone": {"a": 1}, "empty": {}}
    await client.apply(
        WIDGETS,
        named(WIDGETS, "w", namespace, status={"report": {"tokens": 5}}),
        field_manager="reporter",
        subresource="status",
    )
    with pytest.raises(Conflict):
        await executor.execute(owner, StatusPatch(WIDGETS, opened, {"state": "Stale"}))
    live = await client.get(WIDGETS, "w", namespace)
    action = StatusPatch(WIDGETS, live, {"state": "Done"}, preserve=("report",))
    done = await executor.execute(owner, action)
    assert done is not None
    assert done["status"] == {"state": "Done", "report": {"tokens": 5}}
    assert done["spec"] == {"a": 1}
    unchanged = StatusPatch(WIDGETS, done, {"state": "Done"}, preserve=("report",))
    assert await executor.execute(owner, unchanged) is done


class WidgetController:
    """Makes ``spec.wanted`` ConfigMaps of a Widget one after another and counts them."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.widgets = Informer(client, WIDGETS, namespaces=[namespace])
        self.configs = Informer(
            client, CONFIG_MAPS, namespaces=[namespace], indexes={"owner": by_controller_uid}
        )
        guard = Guard([self.widgets, self.configs])
        self.executor = Executor(client, fence=Unfenced(), guard=guard, ownership=OWNERSHIP)
        self.controller = Controller(
            "widgets", self.reconcile, primary=self.widgets, guard=guard, resync=0.3
        )
        self.controller.watch(self.configs, controller_key(WIDGETS))
        self.runs: Counter[Key] = Counter()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for runner in (self.widgets, self.configs, self.controller):
                tasks.create_task(runner.run())

    async def reconcile(self, key: Key) -> Result:
        self.runs[key] += 1
        widget = self.widgets.get(key)
        if widget is None:
            return Result()
        made = len(self.configs.by_index("owner", uid_of(widget)))
        if made < widget["spec"]["wanted"]:
            config = named(CONFIG_MAPS, f"{key.name}-{made + 1}", key.namespace)
            await self.executor.execute(key, Create(CONFIG_MAPS, owned(config, widget)))
            made += 1
        await self.executor.execute(key, StatusPatch(WIDGETS, widget, {"made": made}))
        return Result()


async def test_a_controller_finishes_its_story_over_kills_and_then_writes_nothing(
    connection: ConnectionInfo,
    client: Client,
    namespace: str,
    background: Background,
    cluster: Cluster,
) -> None:
    wanted, key = 20, Key(namespace, "w")

    async def life() -> None:
        async with AsyncExitStack() as stack:
            own = await stack.enter_async_context(Client(connection, timeout=5.0))
            lives.append(WidgetController(own, namespace))
            await lives[-1].run()

    def made() -> int:
        widget = lives[-1].widgets.get(key)
        count: int = (widget or {}).get("status", {}).get("made", 0)
        return count

    lives: list[WidgetController] = []
    first = background.start(life())
    await eventually(lambda: lives)
    await client.create(WIDGETS, named(WIDGETS, "w", namespace, spec={"wanted": wanted}))
    await eventually(lambda: made() >= 3)
    first.cancel()
    await asyncio.wait([first])
    background.start(life())
    await eventually(lambda: len(lives) == 2 and made() >= 8)
    await kill_and_restart(cluster, "kube-apiserver")
    await eventually(lambda: made() == wanted)

    def writes() -> Counter[str]:
        return Counter(
            write.verb
            for write in audit.writes(cluster.audit_log)
            if write.namespace == namespace and write.name.startswith("w") and write.code < 300
        )

    settled = lives[-1].runs[key]
    await eventually(lambda: lives[-1].runs[key] >= settled + 3)
    before = writes()
    # The last write before the kill may be missing in the audit log, and none is there twice.
    assert before["create"] in (wanted, wanted + 1)
    settled = lives[-1].runs[key]
    await eventually(lambda: lives[-1].runs[key] >= settled + 5)
    assert writes() == before


class Working:
    """Leads until cancelled."""

    def __init__(self) -> None:
        self.fence: Fence | None = None
        self.ended = False

    async def __call__(self, fence: Fence) -> None:
        self.fence = fence
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


async def test_leadership_passes_on_release_and_ends_when_the_api_server_is_gone(
    client: Client, namespace: str, background: Background, cluster: Cluster
) -> None:
    def elector(duration: float) -> Elector:
        return Elector(
            client,
            namespace=namespace,
            name="operator",
            duration=duration,
            renew_deadline=duration * 2 / 3,
            retry_period=0.2,
        )

    # The second could not have the first's Lease for long if it were not given back.
    first, second = elector(600), elector(3)
    one, two, stop = Working(), Working(), asyncio.Event()
    run = background.start(first.run(one, stop=stop))
    await eventually(lambda: one.fence)
    successor = background.start(second.run(two))
    stop.set()
    await run
    assert one.ended
    await eventually(lambda: two.fence)
    await asyncio.to_thread(cluster.kill, "kube-apiserver")
    try:
        with pytest.raises(LostLeadership):
            await successor
        assert two.ended
    finally:
        await asyncio.to_thread(cluster.start, "kube-apiserver")


async def test_an_event_is_accepted_and_its_series_counts(
    client: Client, namespace: str, background: Background
) -> None:
    now = 0.0
    recorder = EventRecorder(
        client,
        component="engine.example.com/operator",
        instance="operator-0",
        sanitise=str,
        clock=Clock(monotonic=lambda: now),
    )
    background.start(recorder.run())
    widget = await client.create(WIDGETS, named(WIDGETS, "w", namespace))

    async def posted(count: int) -> Object:
        async with asyncio.timeout(60):
            while True:
                events = (await client.list(EVENTS, namespace)).items
                if events and events[0].get("count") == count:
                    return events[0]
                await asyncio.sleep(0.05)

    def record() -> None:
        recorder.record(widget, reason="Moved", message="x" * 3000, action="Reconcile")

    record()
    first = await posted(1)
    assert first["involvedObject"]["name"] == "w"
    assert first["firstTimestamp"] == first["lastTimestamp"]
    now = 61.0
    record()
    await posted(2)
