"""One object with large or deep metadata keeps nobody from seeing the others."""

import asyncio

import pytest

from bernstein.kube.answers import documents, pages
from bernstein.kube.client import Client
from bernstein.kube.errors import TransportError
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key
from tests.background import Background, eventually
from tests.unit.kube.answers.test_documents import deep
from tests.unit.kube.apiserver import WIDGETS, ApiServer, Call


def limits(api: ApiServer) -> list[int]:
    return [int(call.query["limit"]) for call in api.calls if "limit" in call.query]


def put_large(api: ApiServer, number: int, size: int) -> None:
    managed = [{"manager": "m", "fieldsV1": {"f:spec": {"f:x": {}}}, "subresource": "x" * size}]
    for n in range(number):
        api.put(WIDGETS, f"w{n}", metadata={"managedFields": managed})


async def test_a_page_of_many_bytes_is_broken_off_and_fewer_items_are_asked_for(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LARGEST", 100_000)
    put_large(api, 20, 30_000)
    listed = await client.list(WIDGETS, limit=50)
    assert [item["metadata"]["name"] for item in listed.items] == [f"w{n}" for n in range(20)]
    assert limits(api) == [50, 12] + [3] * 7


async def test_pages_grow_again_behind_what_was_large(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LARGEST", 100_000)
    put_large(api, 4, 40_000)
    for n in range(60):
        api.put(WIDGETS, f"small{n}")
    listed = await client.list(WIDGETS, limit=16)
    assert len(listed.items) == 64
    assert limits(api) == [16, 4, 1, 2, 2, 4, 8, 16, 16, 16]


async def test_a_single_object_is_read_however_large_it_is(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LARGEST", 1_000)
    put_large(api, 2, 30_000)
    assert len((await client.list(WIDGETS, limit=2)).items) == 2
    assert limits(api) == [2, 1, 1]


async def test_a_list_in_one_answer_that_is_too_large_is_read_in_pages_again(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LARGEST", 100_000)
    put_large(api, 8, 30_000)

    def expired_once(call: Call) -> None:
        if len(api.calls) == 2:
            api.compact()

    api.fault = expired_once
    listed = await client.list(WIDGETS, limit=3)
    assert [item["metadata"]["name"] for item in listed.items] == [f"w{n}" for n in range(8)]


@pytest.mark.parametrize("at_once", [0, documents.AT_ONCE])
async def test_a_list_with_a_deep_object_is_read(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(documents, "AT_ONCE", at_once)
    items = b",".join([deep(1), deep(1_100), deep(2)])
    frame = b'{"kind":"List","items":[%s],"metadata":{"resourceVersion":"9"}}'
    api.instead = lambda _: frame % items
    listed = await client.list(WIDGETS)
    assert [item["metadata"]["name"] for item in listed.items] == ["w"] * 3
    assert listed.resource_version == "9"
    assert {item["kind"] for item in listed.items} == {"Widget"}


async def test_an_item_that_cannot_be_read_is_told_as_such(api: ApiServer, client: Client) -> None:
    spec = b"[" * 2_000 + b"]" * 2_000
    frame = b'{"items":[{"metadata":{"name":"w"},"spec":%s}],"metadata":{"resourceVersion":"9"}}'
    api.instead = lambda _: frame % spec
    with pytest.raises(TransportError) as raised:
        await client.list(WIDGETS)
    assert raised.value.reason == "AnswerUnreadable"
    assert "widgets" in str(raised.value)


async def test_a_deep_object_stops_no_watch(
    api: ApiServer, client: Client, background: Background
) -> None:
    api.put(WIDGETS, "w")
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await informer.synced()
    line = b'{"type":"ADDED","object":%s}\n' % deep(1_100).replace(
        b'"name":"w"', b'"name":"deep","namespace":"default","uid":"u","resourceVersion":"500"'
    )
    api.instead = lambda call: line if "watch" in call.query else None
    api.break_watches()
    await eventually(lambda: informer.get(Key("default", "deep")))
    assert informer.last_error is None


async def test_after_a_line_that_cannot_be_read_the_kind_is_listed_anew(
    api: ApiServer, client: Client, background: Background
) -> None:
    api.put(WIDGETS, "w")
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await informer.synced()
    line = b'{"type":"ADDED","object":%s}\n' % (b"[" * 2_000)
    lists = api.count("GET", "widgets")
    api.instead = lambda call: line if "watch" in call.query else None
    api.break_watches()
    await eventually(lambda: informer.last_error)
    await eventually(lambda: api.count("GET", "widgets") > lists)
    api.instead = lambda _: None
    api.put(WIDGETS, "new")
    await eventually(lambda: informer.get(Key("default", "new")))
    await asyncio.sleep(0)
