"""Program `propose`: has one pull request of a branch, which reads as it should.

The Job may be run again after any crash: what an earlier one has made is found by its branches.
"""

from __future__ import annotations

import asyncio

import httpx

from bernstein.api.programs.forge import ProposeConfig, ProposeResult
from bernstein.forges import operations
from bernstein.forges.client import Traffic
from bernstein.forges.forge import Branches, Description, PullRequest
from bernstein.pods import asked_forge, log

CONFIG = ProposeConfig


def run(config: ProposeConfig, transport: httpx.AsyncBaseTransport | None = None) -> ProposeResult:
    """The pull request as it is now. Raises PodError with a reason of ForgeReason.

    `transport` None: over the network.
    """
    pull, traffic = asyncio.run(_ensure(config, transport))
    seen = asked_forge.seen(pull)
    log.event("pull-request", number=seen.number, state=seen.state, sha=seen.sha)
    return ProposeResult(seen, pull.url, traffic.requests, traffic.unchanged)


async def _ensure(
    config: ProposeConfig, transport: httpx.AsyncBaseTransport | None
) -> tuple[PullRequest, Traffic]:
    branches = Branches(config.head, config.base)
    wanted = Description(config.title, config.body, config.draft, config.labels)
    with asked_forge.understood():
        async with asked_forge.client(config.forge, transport) as client:
            steps = operations.ensure(client.forge, client.repository, branches, wanted)
            return await client.run(steps), client.traffic
