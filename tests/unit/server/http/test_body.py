"""Bodies that are too long, too deep, too slow, or no JSON."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from bernstein.server.http import body
from tests.unit.server.conftest import HEARTBEAT, Callback, beat, problem
from tests.unit.server.session_api import token


async def send(recorder: Callback, content: bytes) -> httpx.Response:
    return await recorder.http.post(HEARTBEAT, content=content, headers=recorder.headers)


async def test_a_body_over_the_limit_is_refused_by_its_declared_length(recorder: Callback) -> None:
    assert problem(await send(recorder, b" " * (body.MAX_BYTES + 1))) == (413, "BodyTooLarge")


async def test_a_body_over_the_limit_is_refused_while_it_is_read(recorder: Callback) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(1000):
            sent += 16 * 1024
            yield b" " * (16 * 1024)

    response = await recorder.http.post(HEARTBEAT, content=endless(), headers=recorder.headers)
    assert problem(response) == (413, "BodyTooLarge")
    assert sent <= body.MAX_BYTES + 32 * 1024


async def test_a_lying_or_odd_length_is_refused(recorder: Callback) -> None:
    for length in ("-1", "1e3", "٣", "9" * 5000):
        headers = [*recorder.headers.items(), ("Content-Length", length)]
        encoded = [(name.encode(), value.encode()) for name, value in headers]
        response = await recorder.http.post(HEARTBEAT, content=b"{}", headers=encoded)
        assert problem(response) == (413, "BodyTooLarge")


async def test_a_body_of_exactly_the_limit_is_read(recorder: Callback) -> None:
    padded = httpx.Request("POST", "http://x", json=beat()).content.ljust(body.MAX_BYTES)
    assert (await send(recorder, padded)).status_code == 200


async def test_a_body_that_never_ends_is_given_up(
    recorder: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stuck() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    monkeypatch.setattr(body, "MAX_SECONDS", 0.05)
    response = await recorder.http.post(HEARTBEAT, content=stuck(), headers=recorder.headers)
    assert problem(response) == (408, "BodyTimeout")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"1", b'{"seq": NaN}', b"\xff\xfe", b'{"a": "\xed\xa0\x80"}'],
)
async def test_what_is_no_json_object_is_refused(recorder: Callback, content: bytes) -> None:
    assert problem(await send(recorder, content)) == (422, "InvalidJson")


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
async def test_deep_json_is_refused(recorder: Callback, opening: bytes) -> None:
    closing = b"]" if opening == b"[" else b"}"
    for depth in (16, 500, 20_000 // len(opening)):
        nested = b'{"x":' + opening * depth + b"1" + closing * depth + b"}"
        response = await send(recorder, nested)
        assert response.status_code == 422
        assert response.json()["reason"] in {"TooDeep", "InvalidJson"}


async def test_a_stranger_is_refused_before_the_body_is_looked_at(recorder: Callback) -> None:
    recorder.token = token("bad")
    response = await send(recorder, b"{")
    assert problem(response) == (401, "Unauthenticated")
    assert response.headers["connection"] == "close"
