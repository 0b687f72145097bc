"""A live read beside a stream: whichever comes later, no object goes back in time."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.kube.clock import Clock
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object, key_of
from tests.unit.kube.apiserver import WIDGETS
from tests.unit.kube.scripted import ScriptedServer, following, settled, state_of

W = Key("a", "w")


@pytest.fixture
def server() -> ScriptedServer:
    return ScriptedServer()


@pytest.fixture
def informer(server: ScriptedServer) -> Informer:
    return Informer(server.client, WIDGETS)


async def asked(informer: Informer, key: Key = W) -> "asyncio.Task[None]":
    """A refresh that has read, and whose answer is on its way."""
    refresh = asyncio.create_task(informer.refresh(key))
    await settled()
    return refresh


async def test_an_answer_from_before_a_deletion_brings_nothing_back(
    server: ScriptedServer, informer: Informer
) -> None:
    server.put("w")
    async with following(server, informer):
        refresh = await asked(informer)
        server.remove("w")
        await server.deliver()
        assert informer.get(W) is None
        await server.answer()
        await refresh
        assert informer.get(W) is None


async def test_an_answer_from_before_a_creation_deletes_nothing(
    server: ScriptedServer, informer: Informer
) -> None:
    async with following(server, informer):
        refresh = await asked(informer)
        server.put("w")
        await server.deliver()
        await server.answer()
        await refresh
        assert informer.get(W) is not None


async def test_an_answer_from_before_a_recreation_does_not_bring_the_former_object(
    server: ScriptedServer, informer: Informer
) -> None:
    server.put("w")
    async with following(server, informer):
        refresh = await asked(informer)
        server.remove("w")
        server.put("w")
        await server.deliver(all_of_it=True)
        successor = informer.get(W)
        await server.answer()
        await refresh
        assert informer.get(W) is successor


async def test_late_events_do_not_bring_back_what_was_read_as_gone(
    server: ScriptedServer, informer: Informer
) -> None:
    server.put("w")
    seen: list[tuple[Object | None, Object | None]] = []
    async with following(server, informer):
        server.put("w")
        server.remove("w")
        refresh = await asked(informer)
        await server.answer()
        await refresh
        assert informer.get(W) is None
        informer.add_handler(lambda old, new: seen.append((old, new)))
        await server.deliver(all_of_it=True)
        assert seen == []


async def test_late_events_of_a_former_object_do_not_touch_its_successor(
    server: ScriptedServer, informer: Informer
) -> None:
    seen: list[tuple[Object | None, Object | None]] = []
    async with following(server, informer):
        server.put("w")
        server.remove("w")
        server.put("w")
        refresh = await asked(informer)
        await server.answer()
        await refresh
        successor = informer.get(W)
        informer.add_handler(lambda old, new: seen.append((old, new)))
        seen.clear()
        await server.deliver(all_of_it=True)
        assert informer.get(W) is successor
        assert seen == []


async def test_a_list_that_was_on_its_way_takes_nothing_back(
    server: ScriptedServer, informer: Informer
) -> None:
    server.put("goes")
    server.put("changes")
    async with following(server, informer, first=False):
        for change in ("goes", "comes", "changes"):
            (server.remove if change == "goes" else server.put)(change)
            refresh = await asked(informer, Key("a", change))
            await server.answer(1)
            await refresh
        read = {key.name: state_of(informer.get(key)) for key in KEYS}
        await server.answer()
        assert informer.has_synced
        assert {key.name: state_of(informer.get(key)) for key in KEYS} == read
        await server.deliver(all_of_it=True)
        assert {key.name: state_of(informer.get(key)) for key in KEYS} == read


KEYS = [Key("a", name) for name in ("goes", "comes", "changes")]


@pytest.mark.parametrize("change", ["modified", "deleted"])
async def test_the_later_of_two_answers_counts_in_whatever_order_they_come(
    server: ScriptedServer, informer: Informer, change: str
) -> None:
    async with following(server, informer):
        server.put("w")
        first = await asked(informer)
        (server.remove if change == "deleted" else server.put)("w")
        second = await asked(informer)
        await server.answer(1)
        await second
        later = informer.get(W)
        await server.answer()
        await first
        assert informer.get(W) is later


async def test_what_was_read_live_counts_as_seen(
    server: ScriptedServer, informer: Informer
) -> None:
    async with following(server, informer):
        server.put("w")
        made = server.revision
        server.remove("w")
        assert not informer.has_seen(W, made)
        refresh = await asked(informer)
        await server.answer()
        await refresh
        assert informer.has_seen(W, made)
        assert not informer.has_seen(W, server.revision + 1)
        assert not informer.has_seen(Key("a", "other"), made)


async def test_one_namespace_s_progress_says_nothing_about_another_s(
    server: ScriptedServer,
) -> None:
    informer = Informer(server.client, WIDGETS, namespaces=["a", "b"])
    async with following(server, informer):
        server.put("w", "b")
        refresh = await asked(informer, Key("b", "w"))
        server.put("later", "a")
        await server.deliver("a")
        await server.answer()
        await refresh
        assert informer.get(Key("b", "w")) is not None


async def test_what_it_does_not_follow_is_not_read(server: ScriptedServer) -> None:
    """Nobody would ever tell that it was deleted."""
    informer = Informer(server.client, WIDGETS, namespaces=["b"])
    server.put("w", "a")
    async with following(server, informer):
        await informer.refresh(W)
        read = asyncio.create_task(server.client.list(WIDGETS))
        await settled()
        await server.answer()
        informer.take(await read)
        assert informer.get(W) is None


async def test_a_list_that_somebody_else_has_read_is_shown_and_later_events_count(
    server: ScriptedServer, informer: Informer
) -> None:
    server.put("goes")
    async with following(server, informer):
        server.put("w")
        server.remove("goes")
        read = asyncio.create_task(server.client.list(WIDGETS))
        await settled()
        server.put("w")
        await server.answer()
        informer.take(await read)
        assert state_of(informer.get(W)) == server.states(W)[-2][1]
        assert informer.get(Key("a", "goes")) is not None, "its stream tells how it went"
        await server.deliver(all_of_it=True)
        assert state_of(informer.get(W)) == server.states(W)[-1][1]


class Turns:
    """A clock on which the informer's pauses end when a test says so."""

    def __init__(self) -> None:
        self._due: asyncio.Event | None = None

    @property
    def clock(self) -> Clock:
        return Clock(sleep=self._sleep)

    async def _sleep(self, _: float) -> None:
        self._due = asyncio.Event()
        await self._due.wait()

    async def give(self) -> bool:
        """Lets it go on to its next pause; whether it was in one."""
        due, self._due = self._due, None
        if due is not None:
            due.set()
            await settled()
        return due is not None

    async def give_all(self) -> None:
        while await self.give():
            pass


def happens(server: ScriptedServer, change: str) -> None:
    """The change of w."""
    if change in ("deleted", "made anew", "passing"):
        server.remove("w")
    if change not in ("deleted", "passing"):
        server.put("w")


def differing(informer: Informer, server: ScriptedServer) -> dict[str, tuple[object, object]]:
    """What the cache shows otherwise than the server has it."""
    keys = [Key("a", name) for name in ("w", "first", "last", "goes")]
    both = {k.name: (state_of(informer.get(k)), server.states(k)[-1][1]) for k in keys}
    return {name: (ours, theirs) for name, (ours, theirs) in both.items() if ours != theirs}


@pytest.mark.parametrize("turns_before", range(4))
@pytest.mark.parametrize("change", ["made", "deleted", "changed", "made anew", "passing"])
@pytest.mark.parametrize("is_later", [False, True], ids=["asked before it", "asked after it"])
async def test_an_answer_while_a_list_is_being_shown_counts_by_its_revision(
    server: ScriptedServer, turns_before: int, change: str, is_later: bool
) -> None:
    """A list is shown one object after another."""
    turns = Turns()
    informer = Informer(server.client, WIDGETS, clock=turns.clock)

    if change not in ("made", "passing"):
        server.put("w")
    server.put("goes")
    async with following(server, informer, first=False):
        await server.answer()
        await turns.give_all()
        assert informer.has_synced
        server.put("first")
        server.remove("goes")
        if change == "passing":
            server.put("w")
        early = await asked(informer)
        if not is_later:
            happens(server, change)
        server.put("last")
        catching_up = asyncio.create_task(informer.catch_up())
        await settled()
        listed = server.revision
        refreshes = [early]
        if is_later:
            happens(server, change)
            refreshes.append(await asked(informer))
        await server.answer(1)
        for _ in range(turns_before):
            await turns.give()
        for refresh in refreshes:
            await server.answer()
            await refresh
        read = state_of(informer.get(W))
        assert informer.has_seen(W, server.revision) == (is_later or server.revision == listed)
        await turns.give_all()
        await catching_up
        assert state_of(informer.get(W)) == read == server.states(W)[-1][1]
        await server.deliver(all_of_it=True)
        assert differing(informer, server) == {}


async def test_of_two_that_catch_up_at_once_none_waits_for_ever(
    server: ScriptedServer, informer: Informer
) -> None:
    async with following(server, informer):
        catching_up = [asyncio.create_task(informer.catch_up())]
        await settled()
        server.put("w")
        catching_up.append(asyncio.create_task(informer.catch_up()))
        await settled()
        await server.answer(-1)
        await asyncio.wait_for(asyncio.gather(*catching_up), 60)
        assert informer.get(W) is not None


async def test_whoever_gives_up_catching_up_does_not_stop_the_stream(
    server: ScriptedServer, informer: Informer
) -> None:
    async with following(server, informer):
        catching_up = asyncio.create_task(informer.catch_up())
        await asyncio.sleep(0)
        catching_up.cancel()
        await settled()
        server.put("w")
        await server.answer()
        await server.deliver()
        assert informer.get(W) is not None


async def test_reads_are_forgotten_when_the_stream_has_passed_them(
    server: ScriptedServer, informer: Informer
) -> None:
    async with following(server, informer):
        for number in range(50):
            server.put(f"w{number}")
            refresh = await asked(informer, Key("a", f"w{number}"))
            await server.answer()
            await refresh
        await server.deliver(all_of_it=True)
        assert informer._ahead == {}


class Follower:
    """Checks that what an informer shows of each key never goes back in time."""

    def __init__(self, server: ScriptedServer, informer: Informer, keys: Sequence[Key]) -> None:
        self._server = server
        self._informer = informer
        self._at = dict.fromkeys(keys, 0)

    def look(self) -> None:
        for key, at in self._at.items():
            shown = state_of(self._informer.get(key))
            states = self._server.states(key)
            ends = [begin for begin, _ in states[1:]] + [self._server.revision + 1]
            possible = [
                max(at, begin)
                for (begin, state), end in zip(states, ends, strict=True)
                if state == shown and end > at
            ]
            assert possible, f"{key} was shown as of {at} or later, and now as {shown}: {states}"
            self._at[key] = possible[0]

    def is_at_least(self, key: Key, revision: int) -> None:
        """The key is shown as it was at this revision, or later."""
        self._at[key] = max(self._at[key], revision)
        self.look()


KEYS_OF_SCRIPTS = [Key("a", "p"), Key("b", "p")]
changes = ["put", "remove", "refresh", "refresh at once"]
steps = st.one_of(
    st.tuples(st.sampled_from(changes), st.sampled_from(KEYS_OF_SCRIPTS)),
    st.tuples(st.just("answer"), st.integers(0, 2)),
    st.tuples(st.just("deliver"), st.sampled_from("ab")),
    st.tuples(st.just("catch up"), st.none()),
    st.tuples(st.just("take"), st.sampled_from("ab")),
)


@pytest.mark.parametrize("scopes", [None, ["a", "b"]])
@settings(max_examples=200)
@given(st.lists(steps, min_size=10, max_size=60))
def test_no_key_ever_goes_back_in_time(
    scopes: list[str] | None, script: list[tuple[str, Any]]
) -> None:
    asyncio.run(Play(scopes).of(script))


class Play:
    """One script, played to its end: then the cache shows what there is."""

    def __init__(self, scopes: list[str] | None) -> None:
        self.scopes = scopes
        self.server = ScriptedServer()
        self.informer = Informer(self.server.client, WIDGETS, namespaces=scopes)
        self.follower = Follower(self.server, self.informer, KEYS_OF_SCRIPTS)
        self.asked: list[asyncio.Task[None]] = []

    async def of(self, script: list[tuple[str, Any]]) -> None:
        async with following(self.server, self.informer):
            for step, argument in script:
                await self.step(step, argument)
                self.follower.look()
            while self.server.pending:
                await self.server.answer()
                self.follower.look()
            await asyncio.gather(*self.asked)
            await self.server.deliver("a" if self.scopes else None, all_of_it=True)
            await self.server.deliver("b", all_of_it=True)
            self.follower.look()
            for key in KEYS_OF_SCRIPTS:
                assert state_of(self.informer.get(key)) == self.server.states(key)[-1][1]

    async def step(self, step: str, argument: Any) -> None:
        match step:
            case "put":
                self.server.put(argument.name, argument.namespace)
            case "remove":
                self.server.remove(argument.name, argument.namespace)
            case "answer":
                await self.server.answer(argument)
            case "deliver":
                await self.server.deliver(argument if self.scopes else None)
            case "catch up":
                await self.ask(self.informer.catch_up())
            case "refresh" | "refresh at once":
                await self.ask(self.refresh(argument))
                if step == "refresh at once":
                    await self.server.answer(-1)
            case "take":
                await self.ask(self.take(argument))

    async def ask(self, work: Coroutine[Any, Any, None]) -> None:
        self.asked.append(asyncio.create_task(work))
        await settled()

    async def refresh(self, key: Key) -> None:
        asked_at = self.server.revision
        await self.informer.refresh(key)
        self.follower.is_at_least(key, asked_at)

    async def take(self, namespace: str) -> None:
        """A list that somebody else has read."""
        asked_at = self.server.revision
        listed = await self.server.client.list(WIDGETS, namespace)
        self.informer.take(listed)
        for obj in listed.items:
            self.follower.is_at_least(key_of(obj), asked_at)
