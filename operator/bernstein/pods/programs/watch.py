"""Program `watch`: looks at pull requests until one of them is not as it was.

It asks with the tags of the last answers, so that what has not changed costs the forge little, and
waits for as long as the forge asks. It tells what has changed by its end: nobody has to be reached
for that, and nothing is lost by a crash.
"""

from __future__ import annotations

import asyncio
import time

import httpx

from bernstein.api.programs.forge import SeenPullRequest, WatchConfig, WatchResult
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.forges.client import Client
from bernstein.forges.errors import ForgeError
from bernstein.pods import asked_forge, log

CONFIG = WatchConfig

MOST_CHANGES = 20
"""That are told at once, so that the result fits its message; the others are told next."""
_LONGEST_PAUSE = 600.0
"""Seconds that a forge may keep it waiting; then it ends, and its end says so."""


def run(config: WatchConfig, transport: httpx.AsyncBaseTransport | None = None) -> WatchResult:
    """What has changed; nothing, where nothing did in the time. Raises PodError with a reason of
    ForgeReason. `transport` None: over the network."""
    return asyncio.run(_watch(config, transport))


async def _watch(config: WatchConfig, transport: httpx.AsyncBaseTransport | None) -> WatchResult:
    ends = time.monotonic() + config.seconds
    with asked_forge.understood():
        async with asked_forge.client(config.forge, transport) as client:
            while True:
                changed = await _look(client, config.pull_requests)
                left = ends - time.monotonic()
                if changed or left <= config.look_seconds:
                    break
                await asyncio.sleep(config.look_seconds)
    for each in changed:
        log.event("changed", number=each.number, state=each.state, sha=each.sha)
    traffic = client.traffic
    return WatchResult(changed[:MOST_CHANGES], traffic.requests, traffic.unchanged)


async def _look(client: Client, known: tuple[SeenPullRequest, ...]) -> tuple[SeenPullRequest, ...]:
    """Those that are not as they are known."""
    found = [await _one(client, each) for each in known]
    return tuple(now for now, before in zip(found, known, strict=True) if now != before)


async def _one(client: Client, known: SeenPullRequest) -> SeenPullRequest:
    while True:
        try:
            pull = await client.run(client.forge.get(client.repository, known.number))
        except ForgeError as error:
            if error.reason == ForgeReason.NOT_FOUND:
                return SeenPullRequest(known.number, "Missing", known.sha)
            pause = error.retry_after
            if error.reason != ForgeReason.RATE_LIMITED or not pause or pause > _LONGEST_PAUSE:
                raise
            log.event("rate-limited", seconds=pause)
            await asyncio.sleep(pause)
        else:
            return asked_forge.seen(pull)
