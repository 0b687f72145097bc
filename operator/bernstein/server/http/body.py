"""Reads a JSON body, whose sender may send too much, too deep, too slowly, or no JSON."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request

from bernstein.server.http.refusal import Refusal

MAX_BYTES = 64 * 1024
MAX_DEPTH = 16
MAX_SECONDS = 10.0


async def read_object(request: Request) -> dict[str, Any]:
    """The JSON object that the caller sent. Raises Refusal 408, 413 or 422."""
    payload = await _read(request)
    try:
        value = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        raise Refusal(
            422,
            "InvalidJson",
            f"The body is not JSON: {error.msg} at character {error.pos}.",
            "Send one JSON object in UTF-8; NaN and Infinity are no JSON.",
        ) from error
    if not isinstance(value, dict):
        raise Refusal(422, "InvalidJson", "The body is no JSON object.", "Send one JSON object.")
    if _deeper_than(value, MAX_DEPTH):
        raise Refusal(
            422,
            "TooDeep",
            f"The body is nested more than {MAX_DEPTH} levels deep.",
            "Send the fields of the contract only.",
        )
    return value


async def _read(request: Request) -> bytes:
    if not _fits(request.headers.get("content-length", "0")):
        raise _too_large()
    received = bytearray()
    try:
        async with asyncio.timeout(MAX_SECONDS):
            async for chunk in request.stream():
                received += chunk
                if len(received) > MAX_BYTES:
                    raise _too_large()
    except TimeoutError as error:
        raise Refusal(
            408,
            "BodyTimeout",
            f"The body did not arrive within {MAX_SECONDS:.0f} s.",
            "Send it again.",
        ) from error
    except ClientDisconnect as error:
        raise Refusal(
            400, "Disconnected", "The caller went away while it sent the body.", "Send it again."
        ) from error
    return bytes(received)


def _fits(length: str) -> bool:
    return length.isascii() and length.isdigit() and len(length) < 10 and int(length) <= MAX_BYTES


def _too_large() -> Refusal:
    return Refusal(
        413,
        "BodyTooLarge",
        f"The body is larger than {MAX_BYTES} bytes.",
        "Shorten the texts in it.",
    )


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return False
        level = [
            child
            for container in containers
            for child in (container.values() if isinstance(container, dict) else container)
        ]
    return any(isinstance(item, dict | list) for item in level)
