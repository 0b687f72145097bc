import asyncio
from collections.abc import Callable

import orjson
import pytest

from bernstein.kube.cache import by_label
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.informer import OLD_LISTS, Informer
from bernstein.kube.observer import NullObserver
from bernstein.kube.resource import Key, Object
from tests.background import Background, eventually
from tests.unit.kube.apiserver import WIDGETS, ApiServer, Call


class Seen:
    """What a handler was told, as (change, name)."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str]] = []

    def __call__(self, old: Object | None, new: Object | None) -> None:
        change = "added" if old is None else "deleted" if new is None else "modified"
        obj = new or old
        assert obj is not None
        self.changes.append((change, obj["metadata"]["name"]))


class Relists(NullObserver):
    def __init__(self) -> None:
        self.reasons: list[str] = []

    def relisted(self, resource: str, reason: str) -> None:  # noqa: ARG002
        self.reasons.append(reason)


def key(name: str, namespace: str = "default") -> Key:
    return Key(namespace, name)


async def test_it_lists_and_follows(api: ApiServer, client: Client, background: Background) -> None:
    for number in range(5):
        api.put(WIDGETS, f"w{number}")
    informer, seen = Informer(client, WIDGETS, page_size=2), Seen()
    informer.add_handler(seen)
    background.start(informer.run())
    await informer.synced()
    assert len(informer) == 5
    api.put(WIDGETS, "w0", spec={"a": 1})
    api.remove(WIDGETS, "w1")
    api.put(WIDGETS, "new")
    await eventually(lambda: len(seen.changes) == 8)
    assert seen.changes[5:] == [("modified", "w0"), ("deleted", "w1"), ("added", "new")]
    assert "managedFields" not in informer.objects()[0]["metadata"]


async def test_a_list_of_many_objects_is_many_steps_of_the_loop(
    api: ApiServer, client: Client, background: Background
) -> None:
    """Handlers parse what they are told of: all of it at once would hold everything up."""
    for number in range(50):
        api.put(WIDGETS, f"w{number}")
    informer, turns, told = Informer(client, WIDGETS), 0, set[int]()
    informer.add_handler(lambda *_: told.add(turns))

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    background.start(count())
    background.start(informer.run())
    await informer.synced()

    assert len(told) == 50


async def test_it_catches_up_with_what_its_watch_has_not_told_yet(
    api: ApiServer, client: Client, background: Background
) -> None:
    for name in ("changed", "deleted", "same"):
        api.put(WIDGETS, name)
    relists = Relists()
    informer, seen = Informer(client, WIDGETS, observer=relists), Seen()
    background.start(informer.run())
    await informer.synced()
    informer.add_handler(seen)
    await eventually(lambda: api.watches("widgets") == 1)
    api.stall()
    api.put(WIDGETS, "changed", spec={"a": 1})
    api.remove(WIDGETS, "deleted")
    api.put(WIDGETS, "new")

    await informer.catch_up()

    assert {obj["metadata"]["name"] for obj in informer.objects()} == {"changed", "new", "same"}
    assert (informer.get(key("changed")) or {})["spec"] == {"a": 1}
    assert relists.reasons == ["Started", "CaughtUp"]
    told = list(seen.changes)
    api.flow()
    api.put(WIDGETS, "later")
    await eventually(lambda: len(seen.changes) > len(told))
    assert seen.changes[len(told) :] == [("added", "later")], "it goes on from where it listed"


async def test_a_late_handler_is_told_what_is_there(
    api: ApiServer, client: Client, background: Background
) -> None:
    api.put(WIDGETS, "w")
    informer, seen = Informer(client, WIDGETS), Seen()
    background.start(informer.run())
    await informer.synced()
    informer.add_handler(seen)
    assert seen.changes == [("added", "w")]


async def test_a_broken_watch_goes_on_where_it_was_without_a_list(
    api: ApiServer, client: Client, background: Background
) -> None:
    relists = Relists()
    informer, seen = Informer(client, WIDGETS, observer=relists), Seen()
    informer.add_handler(seen)
    background.start(informer.run())
    await informer.synced()
    for number in range(3):
        api.put(WIDGETS, f"w{number}")
        await eventually(lambda: len(informer) == 1)
        api.break_watches()
        api.remove(WIDGETS, f"w{number}")
        await eventually(lambda: len(informer) == 0)
    assert seen.changes.count(("deleted", "w1")) == 1
    assert relists.reasons == ["Started"]


async def test_a_silent_connection_is_replaced(
    api: ApiServer, client: Client, background: Background
) -> None:
    api.silent_watches = True
    informer = Informer(client, WIDGETS, inactivity=0.05)
    background.start(informer.run())
    await eventually(lambda: api.watches("widgets") >= 2)
    assert api.count("GET", "widgets") == 1


async def test_deletions_and_replacements_in_a_gap_are_seen(
    api: ApiServer, client: Client, background: Background
) -> None:
    for name in ("stays", "goes", "changes", "again"):
        api.put(WIDGETS, name)
    relists, seen = Relists(), Seen()
    informer = Informer(client, WIDGETS, observer=relists)
    background.start(informer.run())
    await informer.synced()
    api.stall()
    api.remove(WIDGETS, "goes")
    api.put(WIDGETS, "changes", spec={"a": 1})
    api.remove(WIDGETS, "again")
    api.put(WIDGETS, "again")
    api.put(WIDGETS, "comes")
    api.compact()
    informer.add_handler(seen)
    seen.changes.clear()
    api.break_watches()
    await eventually(lambda: relists.reasons == ["Started", "Expired"])
    assert sorted(seen.changes) == [
        ("added", "again"),
        ("added", "comes"),
        ("deleted", "again"),
        ("deleted", "goes"),
        ("modified", "changes"),
    ]


async def test_a_list_from_before_what_was_seen_is_asked_for_again_and_not_for_ever(
    api: ApiServer, client: Client, background: Background
) -> None:
    """A server whose cache lags shows one or two such; one whose store was set back no other."""
    api.put(WIDGETS, "gone")
    quick = Clock(sleep=lambda _: asyncio.sleep(0))
    informer, seen = Informer(client, WIDGETS, clock=quick), Seen()
    background.start(informer.run())
    await informer.synced()
    was = await client.list(WIDGETS)
    metadata = {"resourceVersion": was.resource_version}
    old = orjson.dumps({"kind": "List", "metadata": metadata, "items": was.items})
    api.put(WIDGETS, "new")
    api.remove(WIDGETS, "gone")
    await eventually(lambda: informer.get(key("new")) is not None and len(informer) == 1)
    informer.add_handler(seen)
    lists = api.count("GET", "widgets")

    def stale(until: int) -> Callable[[Call], bytes | None]:
        return lambda call: (
            None if "watch" in call.query or api.count("GET", "widgets") > until else old
        )

    api.instead = stale(lists + OLD_LISTS)
    await informer.catch_up()
    assert seen.changes == [("added", "new")], "nothing was back, and nothing gone"
    assert api.count("GET", "widgets") == lists + OLD_LISTS + 1

    api.instead = stale(lists + 100)
    await informer.catch_up()
    assert seen.changes[1:] == [("deleted", "new"), ("added", "gone")]
    assert api.count("GET", "widgets") == lists + 2 * OLD_LISTS + 2


async def test_it_keeps_trying_while_the_server_refuses_and_says_why(
    api: ApiServer, client: Client, background: Background
) -> None:
    api.put(WIDGETS, "w")
    api.fault = lambda _: 403
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await eventually(lambda: informer.last_error)
    assert informer.last_error is not None
    assert informer.last_error.reason == "Forbidden"
    assert not informer.has_synced
    api.fault = lambda _: None
    await eventually(lambda: informer.has_synced)
    assert informer.last_error is None


@pytest.mark.parametrize("refused", ["list", "watch"])
async def test_it_waits_as_long_as_the_server_asks(
    api: ApiServer,
    client: Client,
    background: Background,
    refused: str,
) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        api.fault = lambda _: None
        await asyncio.sleep(0)

    api.fault = lambda call: 503 if ("watch" in call.query) == (refused == "watch") else None
    relists = Relists()
    informer = Informer(client, WIDGETS, observer=relists, clock=Clock(sleep=pause))
    background.start(informer.run())
    await eventually(lambda: pauses)
    await informer.synced()
    assert pauses[0] == 3.0
    assert len(relists.reasons) == 1, "a watch that is put off needs no new list"


async def test_the_longer_lists_fail_the_longer_it_waits_and_never_in_step_with_others(
    api: ApiServer, client: Client, background: Background
) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    api.fault = lambda _: 500
    background.start(Informer(client, WIDGETS, clock=Clock(sleep=pause)).run())
    await eventually(lambda: len(pauses) > 30)
    assert all(0.1 * 2**n <= pauses[n] <= 0.2 * 2**n for n in range(7))
    assert all(15 <= seconds <= 30 for seconds in pauses[8:30])
    assert len(set(pauses[8:30])) > 15


async def test_a_watch_that_goes_on_is_no_trouble_any_more(
    api: ApiServer, client: Client, background: Background
) -> None:
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await eventually(lambda: api.watches("widgets") == 1)
    api.break_watches()
    await eventually(lambda: informer.last_error)
    await eventually(lambda: informer.last_error is None)
    assert api.count("GET", "widgets") == 1


async def test_a_namespace_that_is_named_twice_is_followed_once(
    api: ApiServer, client: Client, background: Background
) -> None:
    informer = Informer(client, WIDGETS, namespaces=["a", "b", "a"])
    background.start(informer.run())
    async with asyncio.timeout(60):
        await informer.synced()
    await eventually(lambda: api.watches("widgets") == 2)
    assert api.count("GET", "widgets") == 2


@pytest.mark.parametrize("answer", [b"{}", b"[]", b"null", b'{"metadata": {}}', b"<html>"])
async def test_an_answer_that_is_no_list_is_tried_again(
    api: ApiServer, client: Client, background: Background, answer: bytes
) -> None:
    """As a proxy in front of the API server may give it, with status 200."""
    api.put(WIDGETS, "w")
    api.instead = lambda call: answer if "watch" not in call.query else None
    informer = Informer(client, WIDGETS)
    running = background.start(informer.run())
    await eventually(lambda: informer.last_error)
    api.instead = lambda _: None
    await eventually(lambda: informer.has_synced)
    assert not running.done()


@pytest.mark.parametrize(
    "line", [b"{}", b"[]", b'{"type": "ADDED"}', b'{"type": "ADDED", "object": {}}', b"<html>"]
)
async def test_a_line_that_is_no_event_breaks_only_its_watch(
    api: ApiServer, client: Client, background: Background, line: bytes
) -> None:
    api.put(WIDGETS, "w")
    api.instead = lambda call: line + b"\n" if "watch" in call.query else None
    informer = Informer(client, WIDGETS)
    running = background.start(informer.run())
    await eventually(lambda: informer.last_error)
    api.instead = lambda _: None
    api.put(WIDGETS, "new")
    await eventually(lambda: len(informer) == 2)
    assert not running.done()


async def test_selectors_and_namespaces_limit_what_is_kept(
    api: ApiServer, client: Client, background: Background
) -> None:
    for namespace in ("a", "b", "c"):
        api.put(WIDGETS, "ours", namespace, metadata={"labels": {"app": "x"}})
        api.put(WIDGETS, "theirs", namespace)
    informer, seen = (
        Informer(client, WIDGETS, namespaces=["a", "b"], label_selector="app=x"),
        Seen(),
    )
    background.start(informer.run())
    await informer.synced()
    assert [o["metadata"]["namespace"] for o in informer.objects()] == ["a", "b"]
    informer.add_handler(seen)
    api.put(WIDGETS, "ours", "b", metadata={"labels": {"app": "y"}})
    await eventually(lambda: ("deleted", "ours") in seen.changes)
    assert informer.objects("b") == []
    assert len(informer.objects("a")) == 1


async def test_indexes_find_by_label(
    api: ApiServer, client: Client, background: Background
) -> None:
    informer = Informer(client, WIDGETS, indexes={"task": by_label("task")})
    background.start(informer.run())
    await informer.synced()
    api.put(WIDGETS, "w1", metadata={"labels": {"task": "t"}})
    api.put(WIDGETS, "w2", metadata={"labels": {"task": "u"}})
    await eventually(lambda: len(informer) == 2)
    assert [o["metadata"]["name"] for o in informer.by_index("task", "t")] == ["w1"]
    api.put(WIDGETS, "w1", metadata={"labels": {"task": "u"}})
    await eventually(lambda: len(informer.by_index("task", "u")) == 2)
    assert informer.by_index("task", "t") == []


async def test_a_failing_handler_hides_nothing_from_the_others(
    api: ApiServer, client: Client, background: Background
) -> None:
    def failing(old: Object | None, new: Object | None) -> None:
        raise RuntimeError("defect")

    informer, seen = Informer(client, WIDGETS), Seen()
    informer.add_handler(failing)
    informer.add_handler(seen)
    background.start(informer.run())
    await informer.synced()
    api.put(WIDGETS, "w1")
    api.put(WIDGETS, "w2")
    await eventually(lambda: seen.changes == [("added", "w1"), ("added", "w2")])


async def test_a_late_handler_that_fails_for_one_object_hears_of_the_others(
    api: ApiServer, client: Client, background: Background
) -> None:
    for name in ("a", "broken", "c"):
        api.put(WIDGETS, name)
    informer, heard = Informer(client, WIDGETS), []
    background.start(informer.run())
    await informer.synced()

    def handler(old: Object | None, new: Object | None) -> None:
        assert new is not None
        if new["metadata"]["name"] == "broken":
            raise RuntimeError("defect")
        heard.append(new["metadata"]["name"])

    informer.add_handler(handler)
    api.put(WIDGETS, "later")
    await eventually(lambda: heard == ["a", "c", "later"])


async def test_an_object_that_an_index_cannot_read_is_in_no_entry_of_it(
    api: ApiServer, client: Client, background: Background
) -> None:
    informer = Informer(client, WIDGETS, indexes={"size": lambda obj: [obj["spec"]["size"]]})
    background.start(informer.run())
    await informer.synced()
    api.put(WIDGETS, "broken")
    api.put(WIDGETS, "good", spec={"size": "xl"})
    await eventually(lambda: len(informer) == 2)
    assert [o["metadata"]["name"] for o in informer.by_index("size", "xl")] == ["good"]
    api.put(WIDGETS, "broken", spec={"size": "xl"})
    await eventually(lambda: len(informer.by_index("size", "xl")) == 2)
    api.put(WIDGETS, "good", spec={})
    await eventually(lambda: len(informer.by_index("size", "xl")) == 1)


async def test_refresh_reads_past_a_stalled_watch(
    api: ApiServer, client: Client, background: Background
) -> None:
    api.put(WIDGETS, "w")
    api.put(WIDGETS, "gone")
    quick = Clock(sleep=lambda _: asyncio.sleep(0))
    informer, seen = Informer(client, WIDGETS, clock=quick), Seen()
    background.start(informer.run())
    await informer.synced()
    informer.add_handler(seen)
    seen.changes.clear()
    api.stall()
    api.put(WIDGETS, "w", spec={"a": 1})
    api.remove(WIDGETS, "gone")
    for name in ("w", "gone", "never"):
        await informer.refresh(key(name))
    assert seen.changes == [("modified", "w"), ("deleted", "gone")]
    api.flow()
    api.put(WIDGETS, "last")
    await eventually(lambda: informer.get(key("last")))
    assert seen.changes == [("modified", "w"), ("deleted", "gone"), ("added", "last")]


@pytest.mark.parametrize("change", ["create", "delete"])
async def test_it_knows_which_revisions_it_has_seen(
    api: ApiServer, client: Client, background: Background, change: str
) -> None:
    api.put(WIDGETS, "w")
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await informer.synced()
    api.stall()
    revision = int(api.put(WIDGETS, "other")["metadata"]["resourceVersion"])
    if change == "delete":
        # Created and deleted again before any event arrives: seen, although never cached.
        api.remove(WIDGETS, "other")
    assert not informer.has_seen(key("other"), revision)
    api.flow()
    await eventually(lambda: informer.has_seen(key("other"), revision))
