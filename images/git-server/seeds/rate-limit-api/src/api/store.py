"""Links in Redis: one string per code."""

from __future__ import annotations

import secrets

from redis.asyncio import Redis

CODE_BYTES = 5
TIMEOUT_SECONDS = 2.0


def connect(url: str) -> Redis:
    """A client whose every call gives up after two seconds."""
    return Redis.from_url(
        url,
        decode_responses=True,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
    )


class Links:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def add(self, url: str) -> str:
        """Keep a link; returns its new code."""
        while True:
            code = secrets.token_urlsafe(CODE_BYTES)
            if await self._redis.set(_key(code), url, nx=True):
                return code

    async def get(self, code: str) -> str | None:
        return await self._redis.get(_key(code))

    async def remove(self, code: str) -> bool:
        """Forget a link; False if there was none."""
        return bool(await self._redis.delete(_key(code)))


def _key(code: str) -> str:
    return f"link:{code}"
