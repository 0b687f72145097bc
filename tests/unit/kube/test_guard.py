import pytest

from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.errors import ApiError
from bernstein.kube.guard import LATE_SECONDS, Guard
from bernstein.kube.informer import Informer
from bernstein.kube.resource import JOBS, Key
from tests.background import Background, eventually
from tests.unit.kube.apiserver import WIDGETS, ApiServer, Call

OWNER = Key("default", "owner")


@pytest.fixture
async def informer(api: ApiServer, client: Client, background: Background) -> Informer:
    api.put(WIDGETS, "w")
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await informer.synced()
    return informer


async def test_a_key_waits_until_its_own_write_is_in_the_cache(
    api: ApiServer, informer: Informer
) -> None:
    guard = Guard([informer])
    assert guard.caught_up(OWNER)
    api.stall()
    guard.wrote(OWNER, WIDGETS, api.put(WIDGETS, "w", spec={"a": 1}))
    guard.wrote(OWNER, WIDGETS, api.put(WIDGETS, "new"))
    assert not guard.caught_up(OWNER)
    assert await guard.settle(OWNER) > 0
    assert guard.caught_up(Key("default", "other"))
    api.flow()
    await eventually(lambda: guard.caught_up(OWNER))
    assert informer.get(Key("default", "new")) is not None
    assert await guard.settle(OWNER) == 0


@pytest.mark.parametrize("finalizers", [[], ["example.com/kept"]])
async def test_a_deletion_counts_as_seen_when_it_shows(
    api: ApiServer, client: Client, informer: Informer, finalizers: list[str]
) -> None:
    obj = api.put(WIDGETS, "w", metadata={"finalizers": finalizers})
    uid = obj["metadata"]["uid"]
    await eventually(lambda: informer.has_seen(Key("default", "w"), 102))
    guard = Guard([informer])
    api.stall()
    await client.delete(WIDGETS, "w", "default", uid=uid)
    guard.deleted(OWNER, WIDGETS, Key("default", "w"), uid)
    assert not guard.caught_up(OWNER)
    api.flow()
    await eventually(lambda: guard.caught_up(OWNER))


async def test_a_successor_of_the_deleted_object_counts_as_seen(
    api: ApiServer, informer: Informer
) -> None:
    guard = Guard([informer])
    guard.deleted(OWNER, WIDGETS, Key("default", "w"), "the uid of the one before")
    assert guard.caught_up(OWNER)


async def test_after_the_bound_it_reads_live(api: ApiServer, informer: Informer) -> None:
    now = 0.0
    guard = Guard([informer], bound=5.0, clock=Clock(monotonic=lambda: now))
    api.stall()
    guard.wrote(OWNER, WIDGETS, api.put(WIDGETS, "w", spec={"a": 1}))
    now = 4.9
    assert await guard.settle(OWNER) > 0
    now = 5.1
    api.fault = lambda _: 500
    with pytest.raises(ApiError):
        await guard.settle(OWNER)
    assert not guard.caught_up(OWNER)
    api.fault = lambda _: None
    assert await guard.settle(OWNER) == 0
    cached = informer.get(Key("default", "w"))
    assert cached is not None
    assert cached["spec"] == {"a": 1}


async def test_writes_to_what_nobody_caches_are_not_waited_for(
    api: ApiServer, informer: Informer
) -> None:
    guard = Guard([informer])
    guard.wrote(OWNER, JOBS, api.put(JOBS, "j"))
    assert guard.caught_up(OWNER)


async def test_what_may_have_been_written_is_read_live_at_once(
    api: ApiServer, informer: Informer
) -> None:
    guard = Guard([informer])
    api.stall()
    api.put(WIDGETS, "w", spec={"a": 1})
    guard.uncertain(OWNER, WIDGETS, Key("default", "w"))
    assert not guard.caught_up(OWNER)
    assert await guard.settle(OWNER) == 0
    cached = informer.get(Key("default", "w"))
    assert cached is not None
    assert cached["spec"] == {"a": 1}
    assert guard.caught_up(OWNER)


async def test_an_event_is_no_proof_of_what_became_of_an_uncertain_write(
    api: ApiServer, informer: Informer
) -> None:
    guard = Guard([informer])
    guard.uncertain(OWNER, WIDGETS, Key("default", "w"))
    revision = int(api.put(WIDGETS, "w", spec={"a": 1})["metadata"]["resourceVersion"])
    await eventually(lambda: informer.has_seen(Key("default", "w"), revision))
    assert not guard.caught_up(OWNER)


async def test_an_uncertain_write_stays_so_until_the_read_succeeds(
    api: ApiServer, informer: Informer
) -> None:
    guard = Guard([informer])
    guard.uncertain(OWNER, WIDGETS, Key("default", "w"))
    guard.uncertain(OWNER, WIDGETS, Key("default", "new"))
    api.fault = lambda _: 503
    for _ in range(2):
        with pytest.raises(ApiError):
            await guard.settle(OWNER)
    api.fault = lambda _: None
    assert await guard.settle(OWNER) == 0


async def test_reading_an_uncertain_write_does_not_excuse_the_others(
    api: ApiServer, informer: Informer
) -> None:
    guard = Guard([informer])
    api.stall()
    guard.wrote(OWNER, WIDGETS, api.put(WIDGETS, "w", spec={"a": 1}))
    guard.uncertain(OWNER, WIDGETS, Key("default", "new"))
    assert await guard.settle(OWNER) > 0
    api.flow()
    await eventually(lambda: guard.caught_up(OWNER))


async def test_what_is_written_while_another_is_read_is_not_forgotten(
    api: ApiServer, informer: Informer
) -> None:
    guard = Guard([informer])
    api.stall()
    guard.uncertain(OWNER, WIDGETS, Key("default", "w"))

    def write_once(call: Call) -> None:
        api.fault = lambda _: None
        guard.wrote(OWNER, WIDGETS, api.put(WIDGETS, "new"))
        guard.uncertain(OWNER, WIDGETS, Key("default", "w"))

    api.fault = write_once
    await guard.settle(OWNER)
    assert not guard.caught_up(OWNER)


async def test_a_request_without_an_answer_may_be_on_its_way_for_a_while(
    informer: Informer,
) -> None:
    now = 0.0
    guard = Guard([informer], clock=Clock(monotonic=lambda: now))
    guard.uncertain(OWNER, WIDGETS, Key("default", "w"))

    assert guard.may_come_late(WIDGETS, Key("default", "w"))
    assert not guard.may_come_late(WIDGETS, Key("default", "other"))
    assert guard.may_come_late_in(WIDGETS, "default") == {"w"}
    assert guard.may_come_late_in(JOBS, "default") == set()
    assert guard.may_come_late_in(WIDGETS, "other") == set()
    now = LATE_SECONDS
    assert not guard.may_come_late(WIDGETS, Key("default", "w"))
    assert guard.may_come_late_in(WIDGETS, "default") == set()


async def test_what_another_process_asked_for_before_may_come_late_too(
    informer: Informer,
) -> None:
    now = 0.0
    guard = Guard([informer], clock=Clock(monotonic=lambda: now))
    assert guard.is_new, "who led before may have asked for it"

    now = LATE_SECONDS
    assert not guard.is_new
