import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.config import ConnectionInfo, StaticToken
from bernstein.kube.errors import LostLeadership
from bernstein.kube.lease import Elector, Fence
from bernstein.kube.observer import NullObserver
from bernstein.kube.resource import LEASES
from tests.background import Background, eventually
from tests.unit.kube.apiserver import ApiServer

Lead = Callable[[Fence], Awaitable[None]]


class Leads(NullObserver):
    def __init__(self) -> None:
        self.changes: list[tuple[str, bool]] = []

    def leading(self, lease: str, leading: bool) -> None:
        self.changes.append((lease, leading))


class Leading:
    """Work that runs until it is cancelled and checks that nobody else works."""

    working = 0

    def __init__(self) -> None:
        self.fence: Fence | None = None
        self.ended = asyncio.Event()

    async def __call__(self, fence: Fence) -> None:
        self.fence = fence
        Leading.working += 1
        try:
            assert Leading.working == 1
            while True:
                await asyncio.sleep(0.01)
                fence.check()
        finally:
            Leading.working -= 1
            self.ended.set()


@dataclass
class Seconds:
    """Time that passes only when the test says so."""

    seconds: float = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(autouse=True)
def nobody_works() -> None:
    Leading.working = 0


def elector(client: Client, **options: object) -> Elector:
    """No Lease expires unless the test brings a clock and moves it, however busy the machine."""
    settings = {
        "duration": 1.0,
        "renew_deadline": 0.6,
        "retry_period": 0.05,
        "clock": Clock(monotonic=Seconds()),
    }
    settings |= options
    return Elector(client, namespace="default", name="operator", **settings)  # type: ignore[arg-type]


def holder(api: ApiServer) -> str | None:
    spec = api.get(LEASES, "operator")["spec"]
    found: str | None = spec.get("holderIdentity")
    return found


async def test_one_leads_and_the_other_takes_over_at_once_after_a_release(
    api: ApiServer, client: Client, background: Background
) -> None:
    first, second = elector(client), elector(client)
    one, two = Leading(), Leading()
    stop = asyncio.Event()
    run = background.start(first.run(one, stop=stop))
    await eventually(lambda: one.fence)
    background.start(second.run(two))
    await eventually(lambda: len(api.calls) > 20)
    assert first.leading
    assert not second.leading
    assert holder(api) == first.identity
    stop.set()
    await run
    assert one.ended.is_set()
    await eventually(lambda: two.fence)
    assert holder(api) == second.identity
    assert api.get(LEASES, "operator")["spec"]["leaseTransitions"] == 1


@pytest.mark.parametrize("duration", [0.7, 1.0, 1.4, 15.0])
async def test_others_wait_at_least_as_long_as_the_leader_counts_on(
    api: ApiServer, client: Client, background: Background, duration: float
) -> None:
    """The Lease has whole seconds only."""
    one = Leading()
    background.start(elector(client, duration=duration).run(one))
    await eventually(lambda: one.fence)
    assert one.fence is not None
    assert api.get(LEASES, "operator")["spec"]["leaseDurationSeconds"] >= one.fence.check()


async def test_the_lease_is_kept_until_the_work_has_ended(
    api: ApiServer, client: Client, background: Background
) -> None:
    clock = Seconds()
    leader, other = (
        elector(client, clock=Clock(monotonic=clock)),
        elector(client, clock=Clock(monotonic=clock)),
    )
    stop, started, next_one = asyncio.Event(), asyncio.Event(), Leading()

    async def renewed_twice() -> None:
        before = len(api.writes())
        await eventually(lambda: len(api.writes()) > before + 1)

    async def slow_to_end(fence: Fence) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            # Longer than the lease: only renewal keeps it.
            for _ in range(5):
                clock.seconds += 0.3
                await renewed_twice()
            fence.check()
            assert holder(api) == leader.identity
            assert next_one.fence is None

    run = background.start(leader.run(slow_to_end, stop=stop))
    await started.wait()
    background.start(other.run(next_one))
    stop.set()
    await run
    assert not leader.leading
    await eventually(lambda: next_one.fence)


async def test_a_leader_that_cannot_renew_stops_before_another_may_start(
    api: ApiServer, client: Client, background: Background
) -> None:
    observer, clock = Leads(), Seconds()
    connection = ConnectionInfo(server=api.url, token=StaticToken("first"))
    async with Client(connection, timeout=5.0) as cut_off:
        first = elector(cut_off, observer=observer, clock=Clock(monotonic=clock))
        one, two = Leading(), Leading()
        run = background.start(first.run(one))
        await eventually(lambda: one.fence)
        background.start(elector(client, clock=Clock(monotonic=clock)).run(two))
        api.fault = lambda call: "hang" if call.authorization == "Bearer first" else None
        looked = len(api.calls)
        await eventually(lambda: len(api.calls) > looked + 3)
        assert first.leading
        clock.seconds += 0.6
        with pytest.raises(LostLeadership):
            await run
        assert one.ended.is_set()
        assert one.fence is not None
        with pytest.raises(LostLeadership):
            one.fence.check()
        looked = len(api.calls)
        await eventually(lambda: len(api.calls) > looked + 2)
        assert two.fence is None
        clock.seconds += 0.4
        await eventually(lambda: two.fence)
    assert observer.changes == [("operator", led) for led in (False, True, False)]


async def test_a_leader_whose_lease_was_given_to_another_stops(
    api: ApiServer, client: Client, background: Background
) -> None:
    leader, work = elector(client), Leading()
    run = background.start(leader.run(work))
    await eventually(lambda: work.fence)
    api.put(LEASES, "operator", spec={"holderIdentity": "another", "leaseDurationSeconds": 1})
    # Its renew deadline would never come.
    async with asyncio.timeout(60):
        with pytest.raises(LostLeadership):
            await run
    assert work.ended.is_set()
    assert holder(api) == "another"


async def test_a_foreign_lease_is_taken_over_only_when_it_has_not_changed_for_its_duration(
    api: ApiServer, client: Client, background: Background
) -> None:
    # Its clock is years behind: only the time since it was seen to change may count.
    api.put(
        LEASES,
        "operator",
        spec={
            "holderIdentity": "dead",
            "leaseDurationSeconds": 1,
            "renewTime": "2001-01-01T00:00:00.000000Z",
        },
    )
    work, clock = Leading(), Seconds()
    background.start(elector(client, clock=Clock(monotonic=clock)).run(work))
    await eventually(lambda: len(api.calls) > 2)
    clock.seconds += 0.9
    looked = len(api.calls)
    await eventually(lambda: len(api.calls) > looked + 2)
    assert work.fence is None
    clock.seconds += 0.1
    await eventually(lambda: work.fence)


async def test_short_failures_of_the_server_do_not_end_leadership(
    api: ApiServer, client: Client, background: Background
) -> None:
    leader, work = elector(client), Leading()
    background.start(leader.run(work))
    await eventually(lambda: work.fence)
    for fault in (500, 409, "drop-before", "drop-after"):
        api.fault = lambda _, fault=fault: fault  # type: ignore[misc]
        await asyncio.sleep(0.08)
        api.fault = lambda _: None
        calls = len(api.writes())
        await eventually(lambda calls=calls: len(api.writes()) > calls + 1)  # type: ignore[misc]
    assert leader.leading
    assert not work.ended.is_set()


async def test_an_error_of_the_work_is_raised_and_the_lease_released(
    api: ApiServer, client: Client
) -> None:
    async def failing(fence: Fence) -> None:
        raise RuntimeError("defect")

    with pytest.raises(RuntimeError, match="defect"):
        await elector(client).run(failing)
    assert holder(api) is None


async def test_work_that_ends_gives_the_lease_back(api: ApiServer, client: Client) -> None:
    async def short(fence: Fence) -> None:
        fence.check()

    await elector(client).run(short)
    assert holder(api) is None


async def test_stopping_while_waiting_ends_without_leading(
    api: ApiServer, client: Client, background: Background
) -> None:
    api.put(LEASES, "operator", spec={"holderIdentity": "alive", "leaseDurationSeconds": 60})
    stop, work, observer = asyncio.Event(), Leading(), Leads()
    run = background.start(elector(client, observer=observer).run(work, stop=stop))
    await eventually(lambda: api.calls)
    assert observer.changes == [("operator", False)], "one that never led is counted, too"
    stop.set()
    async with asyncio.timeout(60):
        await run
    assert work.fence is None
    assert holder(api) == "alive"


async def test_cancelling_the_election_ends_the_work_first(
    api: ApiServer, client: Client, background: Background
) -> None:
    work = Leading()
    run = background.start(elector(client).run(work))
    await eventually(lambda: work.fence)
    run.cancel()
    await asyncio.wait([run])
    assert work.ended.is_set()
    assert holder(api) is None


async def test_there_is_never_more_than_one_leader(
    api: ApiServer, client: Client, background: Background
) -> None:
    electors = [elector(client) for _ in range(4)]
    stop = asyncio.Event()
    turns = 0

    async def short(fence: Fence) -> None:
        nonlocal turns
        await asyncio.sleep(0.03)
        assert [e.leading for e in electors].count(True) == 1
        fence.check()
        turns += 1

    async def again(elector: Elector) -> None:
        while not stop.is_set():
            await elector.run(short, stop=stop)

    runs = [background.start(again(e)) for e in electors]
    await eventually(lambda: turns >= 8)
    stop.set()
    await asyncio.gather(*runs)


def test_the_times_must_leave_room_to_stop(client: Client) -> None:
    with pytest.raises(ValueError, match="must hold"):
        elector(client, renew_deadline=1.0)
