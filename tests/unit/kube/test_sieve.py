"""A controller under the faults that break controllers: crashes between writes, missed events and
stale reads.

The controller makes the Jobs of a Widget one after another, waits for each to be done, counts
them in the Widget's status, and removes them when the Widget is deleted.
"""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

import pytest

from bernstein.kube.cache import by_controller_uid
from bernstein.kube.guard import Guard
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Controller, Result, controller_key
from bernstein.kube.resource import (
    JOBS,
    Key,
    Object,
    is_deleting,
    key_of,
    resource_version_of,
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
from tests.background import eventually
from tests.fence import Unfenced
from tests.unit.kube.apiserver import WIDGETS, ApiServer, Call, Fault

OWNERSHIP = Ownership(("app", "engine"), "example.com/spec-hash")
FINALIZER = "example.com/cleanup"
JOBS_WANTED = 3
# A Job and the status that counts it for each, and the last status.
WRITES = 1 + 2 * JOBS_WANTED


class Process:
    """One life of the operator: own connection, caches, queue and guard."""

    def __init__(self, api: ApiServer, *, guarded: bool = True) -> None:
        self._api = api
        self._guarded = guarded
        self.written: dict[Key, int] = {}
        self.stale_reads = 0
        self.reconciles: Counter[Key] = Counter()

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(self._api.client(timeout=30.0))
            self.widgets = Informer(client, WIDGETS)
            self.jobs = Informer(client, JOBS, indexes={"owner": by_controller_uid})
            guard = Guard([self.widgets, self.jobs] if self._guarded else [])
            self.executor = Executor(client, fence=Unfenced(), guard=guard, ownership=OWNERSHIP)
            self.controller = controller = Controller(
                "widgets", self.reconcile, primary=self.widgets, guard=guard, resync=0.2
            )
            controller.watch(self.jobs, controller_key(WIDGETS))
            async with asyncio.TaskGroup() as tasks:
                for runner in (self.widgets, self.jobs, controller):
                    tasks.create_task(runner.run())

    async def reconcile(self, key: Key) -> Result:
        self.reconciles[key] += 1
        widget = self.widgets.get(key)
        if widget is None:
            return Result()
        self.stale_reads += resource_version_of(widget) < self.written.get(key, 0)
        jobs = self.jobs.by_index("owner", uid_of(widget))
        if is_deleting(widget):
            return await self.clean_up(key, widget, jobs)
        done = [job for job in jobs if job.get("status", {}).get("done")]
        # A Job that was made before a crash counts although the status does not know it.
        started = max(widget.get("status", {}).get("started", 0), len(jobs))
        if len(done) == started and started < JOBS_WANTED:
            name = f"{key.name}-{started + 1}"
            await self.executor.execute(key, Create(JOBS, job_of(widget, name)))
            started += 1
        status = {"started": started, "finished": len(done) == JOBS_WANTED}
        new = await self.executor.execute(key, StatusPatch(WIDGETS, widget, status))
        assert new is not None
        self.written[key] = resource_version_of(new)
        return Result()

    async def clean_up(self, key: Key, widget: Object, jobs: list[Object]) -> Result:
        for job in jobs:
            await self.executor.execute(key, Delete(JOBS, key_of(job), uid_of(job)))
        if not jobs:
            await self.executor.execute(key, RemoveFinalizer(WIDGETS, widget, FINALIZER))
        return Result()


def job_of(widget: Object, name: str) -> Object:
    owner = {
        "apiVersion": widget["apiVersion"],
        "kind": widget["kind"],
        "name": widget["metadata"]["name"],
        "uid": uid_of(widget),
        "controller": True,
    }
    metadata = {"name": name, "namespace": "default", "ownerReferences": [owner]}
    return {"metadata": metadata, "spec": {"command": "true"}}


async def job_controller(api: ApiServer) -> None:
    """Finishes Jobs as somebody else's controller does."""
    while True:
        for name in api.names(JOBS):
            if not api.get(JOBS, name).get("status"):
                api.put(JOBS, name, status={"done": True})
        await asyncio.sleep(0.003)


def finished(api: ApiServer) -> bool:
    return bool(api.get(WIDGETS, "w").get("status", {}).get("finished"))


def expect_the_whole_story(api: ApiServer) -> None:
    assert api.names(JOBS) == ["w-1", "w-2", "w-3"]
    assert api.get(WIDGETS, "w")["status"] == {"started": 3, "finished": True}


class DeadlyWrite:
    """Drops the n-th write before or after it takes effect; then the process is killed."""

    def __init__(self, number: int, fault: Fault) -> None:
        self.number = number
        self.fault = fault
        self.seen = 0
        self.fatal = asyncio.Event()

    def __call__(self, call: Call) -> Fault | None:
        if call.verb == "GET":
            return None
        self.seen += 1
        if self.seen < self.number:
            return None
        self.fatal.set()
        return self.fault if self.seen == self.number else "drop-before"


async def kill(process: asyncio.Task[None]) -> None:
    process.cancel()
    await asyncio.gather(process, return_exceptions=True)


@pytest.mark.parametrize("fault", ["drop-before", "drop-after"])
@pytest.mark.parametrize("number", range(1, WRITES + 1))
async def test_a_crash_at_any_write_leaves_a_story_that_the_next_process_ends(
    api: ApiServer, number: int, fault: Fault
) -> None:
    api.put(WIDGETS, "w", metadata={"finalizers": [FINALIZER]})
    deadly = DeadlyWrite(number, fault)
    api.fault = deadly
    others = asyncio.create_task(job_controller(api))
    first = asyncio.create_task(Process(api).run())
    try:
        async with asyncio.timeout(60):
            await deadly.fatal.wait()
        await kill(first)
        api.fault = lambda _: None
        second = asyncio.create_task(Process(api).run())
        try:
            await eventually(lambda: finished(api))
        finally:
            await kill(second)
    finally:
        await kill(others)
    expect_the_whole_story(api)


async def test_without_faults_every_write_is_made_once_and_a_settled_state_writes_nothing(
    api: ApiServer,
) -> None:
    api.put(WIDGETS, "w", metadata={"finalizers": [FINALIZER]})
    others = asyncio.create_task(job_controller(api))
    process = Process(api)
    running = asyncio.create_task(process.run())
    try:
        await eventually(lambda: finished(api))
        await eventually(lambda: process.reconciles[Key("default", "w")] > WRITES)
        settled = process.reconciles[Key("default", "w")]
        assert len(api.writes()) == WRITES
        await eventually(lambda: process.reconciles[Key("default", "w")] >= settled + 3)
        assert len(api.writes()) == WRITES
    finally:
        await kill(running)
        await kill(others)
    expect_the_whole_story(api)


async def test_missed_events_are_made_up_for(api: ApiServer) -> None:
    api.put(WIDGETS, "w", metadata={"finalizers": [FINALIZER]})
    running = asyncio.create_task(Process(api).run())
    try:
        for number in range(1, JOBS_WANTED + 1):
            await eventually(lambda n=number: f"w-{n}" in api.names(JOBS))  # type: ignore[misc]
            api.stall()
            api.put(JOBS, f"w-{number}", status={"done": True})
            api.compact()
            api.break_watches()
            api.flow()
        await eventually(lambda: finished(api))
    finally:
        await kill(running)
    expect_the_whole_story(api)


async def test_a_deletion_in_a_gap_is_made_up_for(api: ApiServer) -> None:
    api.put(WIDGETS, "w", metadata={"finalizers": [FINALIZER]})
    others = asyncio.create_task(job_controller(api))
    running = asyncio.create_task(Process(api).run())
    try:
        await eventually(lambda: finished(api))
        async with api.client() as user:
            api.stall()
            await user.delete(WIDGETS, "w", "default")
        api.compact()
        api.break_watches()
        api.flow()
        await eventually(lambda: not api.names(WIDGETS))
        assert api.names(JOBS) == []
    finally:
        await kill(running)
        await kill(others)


async def test_a_key_is_never_reconciled_on_a_cache_without_its_own_writes(
    api: ApiServer,
) -> None:
    api.put(WIDGETS, "w", metadata={"finalizers": [FINALIZER]})
    others = asyncio.create_task(job_controller(api))
    process = Process(api)
    running = asyncio.create_task(process.run())
    try:
        await eventually(lambda: "w-1" in api.names(JOBS))
        async with asyncio.timeout(60):
            while not finished(api):
                api.stall()
                for _ in range(10):
                    await asyncio.sleep(0.003)
                    process.controller.queue.add(Key("default", "w"))
                api.flow()
                await asyncio.sleep(0.003)
    finally:
        await kill(running)
        await kill(others)
    expect_the_whole_story(api)
    assert process.stale_reads == 0


async def test_without_the_guard_such_reads_do_happen(api: ApiServer) -> None:
    def hold_back_events_of_the_status(call: Call) -> None:
        if call.body and "status" in call.body:
            api.stall()

    def outdated() -> int:
        process.controller.queue.add(Key("default", "w"))
        return process.stale_reads

    api.put(WIDGETS, "w", metadata={"finalizers": [FINALIZER]})
    api.fault = hold_back_events_of_the_status
    process = Process(api, guarded=False)
    running = asyncio.create_task(process.run())
    try:
        await eventually(lambda: "w-1" in api.names(JOBS))
        await eventually(outdated)
    finally:
        await kill(running)
