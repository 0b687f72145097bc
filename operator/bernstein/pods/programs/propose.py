"""Program `propose`: has one pull request of a branch, which reads as it should, or none open.

The Job may be run again after any crash: what an earlier one has made is found by its branches.
"""

from __future__ import annotations

import asyncio

import httpx

from bernstein.api.programs.forge import ProposeConfig, ProposeResult, SeenPullRequest
from bernstein.forges import operations
from bernstein.forges.client import Traffic
from bernstein.forges.forge import Branches, Description, PullRequest
from bernstein.pods import asked_forge, log

CONFIG = ProposeConfig


def run(config: ProposeConfig, transport: httpx.AsyncBaseTransport | None = None) -> ProposeResult:
    """The pull request as it is now. Raises PodError with a reason of ForgeReason.

    `transport` None: over the network.
    """
    pull, traffic = asyncio.run(_ask(config, transport))
    asked = (traffic.requests, traffic.unchanged)
    if pull is None:
        log.event("no-pull-request")
        return ProposeResult(SeenPullRequest(0, "Missing", ""), "", *asked)
    seen = asked_forge.seen(pull)
    log.event("pull-request", number=seen.number, state=seen.state, sha=seen.sha)
    return ProposeResult(seen, pull.url, *asked)


async def _ask(
    config: ProposeConfig, transport: httpx.AsyncBaseTransport | None
) -> tuple[PullRequest | None, Traffic]:
    branches = Branches(config.head, config.base)
    wanted = Description(config.title, config.body, config.draft, config.labels)
    async with asked_forge.asked(config.forge, transport) as client:
        forge, at = client.forge, client.repository
        if config.close:
            closing = operations.close(forge, at, branches, config.number, config.body)
            return await client.run(closing), client.traffic
        steps = operations.ensure(forge, at, branches, wanted, config.number)
        return await client.run(steps), client.traffic
