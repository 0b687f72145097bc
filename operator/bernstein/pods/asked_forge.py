"""What the programs that ask a forge have in common."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from bernstein.api.programs.forge import ForgeAddress, SeenPullRequest
from bernstein.api.programs.forge_jobs import AskedForge
from bernstein.core import sanitise
from bernstein.forges.client import Client, Traffic
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import PullRequest
from bernstein.forges.registry import BY_NAME
from bernstein.pods.errors import PodError

_SAID = 300
"""Characters of a forge's own words."""
_LONGEST_BRANCH = 255


def _client(address: ForgeAddress, transport: httpx.AsyncBaseTransport | None) -> Client:
    return Client(
        BY_NAME[address.type],
        address.url,
        address.token_file,
        api=address.api,
        ca_file=address.ca_file,
        transport=transport,
    )


def seen(pull: PullRequest) -> SeenPullRequest:
    """Of a branch's name no more than a branch can have, so that a result has room for it."""
    return SeenPullRequest(pull.number, pull.state, pull.sha, pull.branches.base[:_LONGEST_BRANCH])


@asynccontextmanager
async def asked(
    address: ForgeAddress, transport: httpx.AsyncBaseTransport | None
) -> AsyncIterator[Client]:
    """A client of that repository. Raises PodError for what the forge does not do, and for an
    address that can be no forge's."""
    traffic = Traffic()
    try:
        async with _client(address, transport) as client:
            traffic = client.traffic
            yield client
    except ForgeError as error:
        message = sanitise.quoting(error.message, error.said, _SAID)
        after = whole(error.retry_after)
        told = AskedForge(after, traffic.requests, traffic.unchanged)
        raise PodError(error.reason, message, told) from error


def whole(seconds: float | None) -> int | None:
    """Such a time in whole seconds, of which none is too few."""
    return None if seconds is None else math.ceil(seconds)
