import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import ApiError
from bernstein.kube.guard import Guard
from bernstein.kube.informer import Informer
from bernstein.kube.resource import JOBS, Key
from tests.background import Background, eventually
from tests.unit.kube.apiserver import WIDGETS, ApiServer

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
    guard = Guard([informer], bound=5.0, clock=lambda: now)
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
