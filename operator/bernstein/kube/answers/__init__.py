"""What the API server answers, read: refusals, streams of events, ends of long texts."""

from collections.abc import AsyncIterator
from typing import NamedTuple

import aiohttp
import orjson

from bernstein.kube.answers import documents
from bernstein.kube.clock import REAL
from bernstein.kube.errors import KubeError, TooLarge, Unreadable, api_error
from bernstein.kube.resource import Object, resource_version_of

_MALFORMED = (ValueError, LookupError, TypeError, AttributeError)
"""What comes of JSON that is not of the API, as a proxy may send it."""
STEP_SECONDS = 0.01
"""After so long with lines of one read the loop gets its turn: what is done with each is up to who
reads them. A turn after each would cost a tenth of what that takes."""


class WatchEvent(NamedTuple):
    """``type`` is ADDED, MODIFIED, DELETED or BOOKMARK (whose object has only its revision)."""

    type: str
    object: Object


async def refusal(response: aiohttp.ClientResponse) -> KubeError:
    """The error of an answer whose status is none of success."""
    payload = await response.read()
    try:
        body = orjson.loads(payload)
    except orjson.JSONDecodeError:
        body = {"message": payload[:500].decode(errors="replace")}
    return api_error(response.status, body, retry_after=response.headers.get("Retry-After"))


async def body(response: aiohttp.ClientResponse, most: int | None) -> bytes:
    """Raises TooLarge as soon as more than ``most`` bytes have come; the rest is not read."""
    if most is None:
        return await response.read()
    kept = bytearray()
    async for chunk in response.content.iter_any():
        kept += chunk
        if len(kept) > most:
            abort(response)
            raise TooLarge(f"the answer has more than {most} bytes")
    return bytes(kept)


def abort(response: aiohttp.ClientResponse) -> None:
    """Drops the connection of an answer that has not ended.

    A regular TLS shutdown could outlast the client, and would hang when the server is dead.
    """
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


async def last_bytes(response: aiohttp.ClientResponse, size: int) -> bytes:
    """The last ``size`` bytes of an answer of any length."""
    kept = bytearray()
    async for chunk in response.content.iter_any():
        kept += chunk
        del kept[:-size]
    return bytes(kept)


async def lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Complete lines of any length; aiohttp's own reader takes only short ones. However many come
    in one read, the loop gets its turn between them."""
    rest = bytearray()
    async for chunk in response.content.iter_any():
        began = REAL.monotonic()
        if b"\n" not in chunk:
            rest += chunk
            continue
        complete = chunk.split(b"\n")
        complete[0] = bytes(rest) + complete[0]
        rest = bytearray(complete.pop())
        for line in complete:
            if REAL.monotonic() - began >= STEP_SECONDS:
                await REAL.sleep(0)
                began = REAL.monotonic()
            if line:
                yield line


def watch_event(line: bytes) -> WatchEvent:
    """One line of a watch. Raises the ApiError that the server reports in it."""
    try:
        event = documents.loads(line)
        kind, obj = event["type"], event["object"]
        if kind != "ERROR":
            resource_version_of(obj)
            return WatchEvent(kind, obj)
        code = int(obj.get("code") or 500)
    except _MALFORMED as error:
        raise Unreadable("watch: the server sent a line that is no event") from error
    raise api_error(code, obj)


def page_of_list(payload: Object) -> tuple[list[Object], str, str]:
    """Items, revision and the token of the next page ("" on the last)."""
    try:
        metadata = payload["metadata"]
        int(metadata["resourceVersion"])
        return payload.get("items") or [], metadata["resourceVersion"], metadata.get("continue", "")
    except _MALFORMED as error:
        raise Unreadable("the server sent something that is no list") from error
