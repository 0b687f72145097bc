"""A store that was restored from a backup counts revisions anew from there: what was read of it
before is worth nothing any more."""

from __future__ import annotations

import asyncio

import pytest

from bernstein.kube.clock import Clock
from bernstein.kube.informer import OLD_LISTS, Informer
from bernstein.kube.resource import Key, key_of
from tests.unit.kube.apiserver import WIDGETS
from tests.unit.kube.scripted import ScriptedServer, following, settled, state_of

KEPT, MADE, GONE = (Key("a", name) for name in ("kept", "made", "gone"))
QUICK = Clock(sleep=lambda _: asyncio.sleep(0))


async def read_live(server: ScriptedServer, informer: Informer, *keys: Key) -> None:
    for key in keys:
        refresh = asyncio.create_task(informer.refresh(key))
        await settled()
        await server.answer()
        await refresh


async def changed(server: ScriptedServer, informer: Informer) -> None:
    """Each of three objects is another since the backup, and was read live."""
    server.put("kept")
    server.put("made")
    server.remove("gone")
    await read_live(server, informer, KEPT, MADE, GONE)
    assert informer.get(MADE) is not None
    assert informer.get(GONE) is None


async def answered(server: ScriptedServer, catching_up: asyncio.Task[None]) -> int:
    """How many lists it takes until it has caught up."""
    lists = 0
    while not catching_up.done():
        lists += 1
        await server.answer()
    return lists


@pytest.mark.parametrize("seen", ["by the stream, too", "live alone"])
async def test_what_was_read_live_before_it_was_set_back_is_not_shown_any_more(seen: str) -> None:
    server = ScriptedServer()
    informer = Informer(server.client, WIDGETS, clock=QUICK)
    server.put("kept")
    server.put("gone")
    async with following(server, informer):
        backup = server.revision
        if seen == "by the stream, too":
            server.put("other")
            await server.deliver()
        await changed(server, informer)
        server.set_back(backup)

        catching_up = asyncio.create_task(informer.catch_up())
        await settled()
        assert await answered(server, catching_up) == OLD_LISTS + 1, "no cache that lags"

        shown = {key_of(obj).name: state_of(obj) for obj in informer.objects()}
        there = {key.name: server.states(key)[-1][1] for key in (KEPT, GONE)}
        assert shown == there
        assert not informer.has_seen(KEPT, backup + 1)
        server.put("kept")
        server.remove("gone")
        await server.deliver(all_of_it=True)
        assert state_of(informer.get(KEPT)) == server.states(KEPT)[-1][1]
        assert informer.get(GONE) is None


async def test_each_namespace_finds_it_out_by_its_own_lists() -> None:
    server = ScriptedServer()
    informer = Informer(server.client, WIDGETS, namespaces=["a", "b"], clock=QUICK)
    async with following(server, informer):
        backup, beside = server.revision, Key("b", "beside")
        server.put("made")
        server.put("beside", "b")
        await read_live(server, informer, MADE, beside)
        server.set_back(backup)

        catching_up = asyncio.create_task(informer.catch_up())
        await settled()
        await server.answer()
        for _ in range(OLD_LISTS):  # of `a`, too: whoever asks again comes last
            await server.answer(-1)
        assert informer.get(MADE) is None
        assert informer.get(beside) is not None
        assert await answered(server, catching_up) == OLD_LISTS + 1
        assert informer.get(beside) is None
