"""Program `listen`: reads what is new to be said of a pull request, by people and by CI.

It asks the forge whose words count, and leaves as many of them as its last message holds: what has
no room is read by the next Job. All of it is data that others have written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import httpx

from bernstein.api.programs.forge import (
    LISTEN,
    LISTENED,
    LONGEST_SAID,
    ListenConfig,
    ListenResult,
)
from bernstein.core import sanitise
from bernstein.forges import operations
from bernstein.forges.client import Client
from bernstein.forges.forge import Comment, CommitChecks, FailedCheck, PullRequest
from bernstein.pods import asked_forge, log, termination

CONFIG = ListenConfig

_CHECKS = 10
_NAME, _PATH = 60, 200
_SIZES = (
    *((LISTENED, 2000), (LISTENED, 1000), (LISTENED, 400), (LISTENED, 150), (10, 150)),
    *((5, 150), (2, 100), (1, 40)),
)
"""How many comments, and characters of each: the later ones are for what does not fit at first."""


def run(config: ListenConfig, transport: httpx.AsyncBaseTransport | None = None) -> ListenResult:
    """What is new. Raises PodError with a reason of ForgeReason. `transport` None: over the
    network."""
    result = asyncio.run(_listen(config, transport))
    log.event("said", comments=len(result.comments), failed=result.failed, sha=result.sha)
    return result


async def _listen(config: ListenConfig, transport: httpx.AsyncBaseTransport | None) -> ListenResult:
    async with asked_forge.asked(config.forge, transport) as client:
        forge, at = client.forge, client.repository
        pull = await client.run(forge.get(at, config.number))
        said: tuple[Comment, ...] = ()
        checks = CommitChecks("None")
        if config.comments and pull.state == "Open":
            said = await _said(client, pull)
        if config.ci and pull.state == "Open":
            checks = await client.run(forge.checks(at, pull))
    traffic = client.traffic
    new = [comment for comment in said if comment.id not in config.known]
    every = (_told(pull.sha, said, new[:most], checks, size) for most, size in _SIZES)
    counted = (
        replace(told, requests=traffic.requests, unchanged=traffic.unchanged) for told in every
    )
    return next(each for each in counted if _fits(each))


async def _said(client: Client, pull: PullRequest) -> tuple[Comment, ...]:
    """Of as many authors as a watch gets to know in turn: what it has seen is found."""
    asked: dict[str, bool] = {}
    while True:
        before = len(asked)
        steps = operations.said(client.forge, client.repository, pull, asked)
        said = await client.run(steps)
        if len(asked) - before < operations.MOST_AUTHORS:
            return said


def _fits(result: ListenResult) -> bool:
    return len(result.text) <= LONGEST_SAID and termination.fits(result, LISTEN)


def _told(
    sha: str,
    said: Sequence[Comment],
    new: Sequence[Comment],
    checks: CommitChecks,
    size: int,
) -> ListenResult:
    """The result with so many characters of each comment; of a check as many as of a short one."""
    failed = checks.state == "Failed"
    texts = [_of_comment(each, size) for each in new]
    if failed:
        texts += [_of_check(each, min(size, 200)) for each in checks.failed[:_CHECKS]]
        texts += [] if checks.failed else ["CI has failed."]
    return ListenResult(
        sha=sha,
        said=operations.digest(said),
        comments=tuple(each.id for each in new),
        failed=failed,
        text="\n".join(texts),
    )


def _of_comment(comment: Comment, size: int) -> str:
    where = f", of {sanitise.line(comment.path, _PATH)}" if comment.path else ""
    where += f", line {comment.line}" if where and comment.line else ""
    rows = sanitise.text(comment.text, size).splitlines()
    who = f"{sanitise.line(comment.author, _NAME)} says{where}:"
    return "\n".join((who, *(f"> {row}" for row in rows)))


def _of_check(check: FailedCheck, size: int) -> str:
    told = ": ".join(filter(None, (sanitise.line(check.name, _NAME), check.text)))
    return f"CI has failed:\n> {sanitise.line(told, size)}"
