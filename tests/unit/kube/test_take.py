"""What somebody reads beside an informer is shown by it, and never takes an object back in time."""

import asyncio

import pytest

from bernstein.kube.client import ObjectList
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key
from tests.unit.kube.apiserver import WIDGETS
from tests.unit.kube.scripted import ScriptedServer, State, following, settled, state_of

W = Key("a", "w")


@pytest.fixture
def server() -> ScriptedServer:
    return ScriptedServer()


@pytest.fixture
def informer(server: ScriptedServer) -> Informer:
    return Informer(server.client, WIDGETS)


async def listed(server: ScriptedServer) -> ObjectList:
    """What somebody reads beside the informer, at once."""
    reads = asyncio.create_task(server.client.list(WIDGETS))
    await settled()
    await server.answer(-1)
    return await reads


async def test_what_somebody_else_has_read_is_shown_and_late_events_are_passed_over(
    server: ScriptedServer, informer: Informer
) -> None:
    seen: list[tuple[State, State]] = []
    server.put("stays")
    async with following(server, informer):
        stays = Key("a", "stays")
        server.put("w")
        server.put("w")
        server.remove("stays")
        informer.take(await listed(server))
        assert state_of(informer.get(W)) == server.states(W)[-1][1]
        assert informer.get(stays) is not None, "its stream tells how it went"
        informer.add_handler(lambda old, new: seen.append((state_of(old), state_of(new))))
        seen.clear()
        await server.deliver(all_of_it=True)
        assert [new for _, new in seen] == [None]
        assert informer.get(stays) is None


async def test_what_somebody_else_has_read_before_is_not_shown(
    server: ScriptedServer, informer: Informer
) -> None:
    server.put("w")
    async with following(server, informer):
        old = await listed(server)
        server.remove("w")
        await server.deliver(all_of_it=True)
        informer.take(old)
        assert informer.get(W) is None


async def test_what_it_does_not_follow_is_not_taken(server: ScriptedServer) -> None:
    """Nobody would ever tell that it was deleted."""
    informer = Informer(server.client, WIDGETS, namespaces=["b"])
    server.put("w", "a")
    async with following(server, informer):
        informer.take(await listed(server))
        assert informer.get(W) is None
