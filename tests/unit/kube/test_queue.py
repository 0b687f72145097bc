import asyncio

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bernstein.kube.clock import Clock
from bernstein.kube.observer import NullObserver
from bernstein.kube.queue import Priority, QueueClosed, WorkQueue

KEYS = st.sampled_from("abcd")
PRIORITIES = st.sampled_from(Priority)


class QueueMachine(RuleBasedStateMachine):
    """Compares the queue with the obvious model of it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.queue: WorkQueue[str] = WorkQueue("q", clock=Clock(monotonic=lambda: self.now))
        self.ready: dict[str, Priority] = {}
        self.delayed: dict[str, tuple[float, Priority]] = {}
        self.running: set[str] = set()
        self.again: dict[str, Priority] = {}
        self.failures: dict[str, int] = {}

    def model_add(self, key: str, priority: Priority) -> None:
        place = self.again if key in self.running else self.ready
        place[key] = min(priority, place.get(key, priority))

    def model_add_after(self, key: str, delay: float, priority: Priority) -> None:
        due, rank = self.delayed.get(key, (float("inf"), priority))
        self.delayed[key] = (min(due, self.now + delay), min(rank, priority))

    def model_promote(self) -> None:
        for key, (due, priority) in list(self.delayed.items()):
            if due <= self.now:
                del self.delayed[key]
                self.model_add(key, priority)

    @rule(key=KEYS, priority=PRIORITIES)
    def add(self, key: str, priority: Priority) -> None:
        self.queue.add(key, priority)
        self.model_add(key, priority)

    @rule(key=KEYS, delay=st.sampled_from([0.5, 1.0, 3.0]), priority=PRIORITIES)
    def add_after(self, key: str, delay: float, priority: Priority) -> None:
        self.queue.add_after(key, delay, priority)
        self.model_add_after(key, delay, priority)

    @rule(key=KEYS)
    def retry(self, key: str) -> None:
        expected = min(0.005 * 2 ** self.failures.get(key, 0), 1000.0)
        self.failures[key] = self.failures.get(key, 0) + 1
        assert self.queue.retry(key) == expected
        self.model_add_after(key, expected, Priority.NORMAL)

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        self.queue.forget(key)
        self.failures.pop(key, None)

    @rule(seconds=st.sampled_from([0.1, 1.0, 2000.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def take(self) -> None:
        self.model_promote()
        key = self.queue.poll()
        if key is None:
            assert not self.ready
            return
        assert self.ready[key] == min(self.ready.values())
        assert key not in self.running
        del self.ready[key]
        self.delayed.pop(key, None)
        self.running.add(key)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.running)))
        self.queue.done(key)
        self.running.remove(key)
        if key in self.again:
            self.model_add(key, self.again.pop(key))

    @invariant()
    def as_many_are_ready(self) -> None:
        assert len(self.queue) == len(self.ready)

    @invariant()
    def heaps_hold_little_more_than_what_counts(self) -> None:
        assert len(self.queue._ready_heap) <= 2 * len(self.ready)
        assert len(self.queue._delayed_heap) <= 2 * len(self.queue._delayed)

    def teardown(self) -> None:
        """Everything that was added runs in the end."""
        for key in sorted(self.running):
            self.queue.done(key)
        expected = set(self.ready) | set(self.again) | set(self.delayed)
        self.now += 10_000
        seen = set()
        while (polled := self.queue.poll()) is not None:
            seen.add(polled)
        assert seen == expected


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(stateful_step_count=40)


def test_keys_of_one_priority_come_in_the_order_in_which_they_were_added() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for key in "cab":
        queue.add(key)
    queue.add("c")
    assert [queue.poll() for _ in range(4)] == ["c", "a", "b", None]


def test_however_often_a_key_is_put_off_it_is_held_once() -> None:
    now = 0.0
    queue: WorkQueue[str] = WorkQueue(clock=Clock(monotonic=lambda: now))
    for _ in range(1000):
        now += 0.001
        queue.add_after("k", 300.0)
    assert len(queue._delayed_heap) == 1
    now = 300.0
    assert queue.poll() is None, "of several the earliest counts"
    now = 300.001
    assert queue.poll() == "k"


def test_keys_that_events_bring_before_their_time_leave_nothing_behind() -> None:
    queue: WorkQueue[int] = WorkQueue(clock=Clock(monotonic=lambda: 0.0))
    for key in range(1000):
        queue.add_after(key, 300.0)
        queue.add(key, Priority.LOW)
        queue.add(key, Priority.HIGH)
        assert queue.poll() == key
        queue.done(key)
    assert queue._delayed_heap == []
    assert queue._ready_heap == []


def test_back_off_doubles_up_to_the_cap_and_starts_anew_when_forgotten() -> None:
    queue: WorkQueue[str] = WorkQueue()
    delays = [queue.retry("k") for _ in range(2000)]
    assert delays[:4] == [0.005, 0.01, 0.02, 0.04]
    assert delays[-1] == 1000.0
    queue.forget("k")
    assert queue.retry("k") == 0.005


def test_a_server_s_wish_lengthens_back_off() -> None:
    queue: WorkQueue[str] = WorkQueue()
    assert queue.retry("k", at_least=7.0) == 7.0


@pytest.mark.parametrize("delays", [[0.0, 0.02], [0.02, 0.01], [5.0, 0.01, 0.02]])
async def test_waiting_workers_get_what_is_added_and_what_becomes_due(
    delays: list[float],
) -> None:
    queue: WorkQueue[float] = WorkQueue()
    waiting = [asyncio.create_task(queue.get()) for _ in range(2)]
    for delay in delays:
        await asyncio.sleep(0)
        queue.add_after(delay, delay)
    async with asyncio.timeout(60):
        assert sorted(await asyncio.gather(*waiting)) == sorted(delays)[:2]
    queue.close()


async def test_a_cancelled_worker_takes_no_key_with_it() -> None:
    queue: WorkQueue[str] = WorkQueue()
    first, second = (asyncio.create_task(queue.get()) for _ in range(2))
    await asyncio.sleep(0)
    queue.add("k")
    first.cancel()
    async with asyncio.timeout(60):
        assert await second == "k"
    await asyncio.gather(first, return_exceptions=True)


async def test_closing_ends_waiting_and_accepts_nothing() -> None:
    queue: WorkQueue[str] = WorkQueue()
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.close()
    with pytest.raises(QueueClosed):
        await waiting
    queue.add("k")
    queue.add_after("k", 5)
    assert queue.poll() is None


def test_the_observer_can_tell_depth_waiting_and_working_times() -> None:
    now = 0.0
    told: list[tuple[object, ...]] = []

    class Telling(NullObserver):
        def queue_added(self, queue: str) -> None:
            told.append(("added", queue))

        def queue_depth(self, queue: str, depth: int) -> None:  # noqa: ARG002
            told.append(("depth", depth))

        def queue_started(self, queue: str, waited: float) -> None:  # noqa: ARG002
            told.append(("waited", waited))

        def queue_finished(self, queue: str, worked: float) -> None:  # noqa: ARG002
            told.append(("worked", worked))

    queue: WorkQueue[str] = WorkQueue(
        "tasks", clock=Clock(monotonic=lambda: now), observer=Telling()
    )
    queue.add("k", Priority.LOW)
    now = 2.0
    queue.add("k", Priority.HIGH)
    assert queue.poll() == "k"
    now = 5.0
    queue.done("k")
    assert told == [
        ("added", "tasks"),
        ("depth", 1),
        ("depth", 0),
        ("waited", 2.0),
        ("worked", 3.0),
    ]
