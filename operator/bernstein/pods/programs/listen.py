"""Program `listen`: reads what is new to be said of a pull request, by people and by CI.

It asks the forge whose words count, and leaves as many of them as its last message holds: what has
no room is read by the next Job. All of it is data that others have written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import httpx

from bernstein.api.programs.forge import LISTENED, LONGEST_SAID, ListenConfig, ListenResult
from bernstein.api.programs.forge_jobs import LISTEN
from bernstein.core import sanitise
from bernstein.forges import operations
from bernstein.forges.client import Client
from bernstein.forges.forge import Comment, CommitChecks, FailedCheck, PullRequest
from bernstein.pods import asked_forge, log, termination

CONFIG = ListenConfig

_MOST_COUNTED = 10**9


@dataclass(frozen=True, slots=True)
class _Size:
    """Of what is told."""

    comments: int
    text: int
    """Characters of each comment; of a check as many as of a short one."""
    checks: int = 10
    name: int = 60
    """Characters of an author's, or a check's."""
    path: int = 200


_SIZES = (
    *(_Size(LISTENED, text) for text in (2000, 1000, 400, 150)),
    *(_Size(10, 150), _Size(5, 150), _Size(2, 100), _Size(1, 40)),
    *(_Size(1, 40, checks=3, path=60), _Size(1, 40, checks=1, name=20, path=20)),
)
"""The later ones are for what does not fit at first, and the last one always fits: in JSON one
character may take 12 bytes."""


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
    result = told(pull.sha, said, new, checks)
    return replace(result, requests=traffic.requests, unchanged=traffic.unchanged)


def told(
    sha: str, said: Sequence[Comment], new: Sequence[Comment], checks: CommitChecks
) -> ListenResult:
    """As much of what is new as fits, and something of it always."""
    every = (_told(sha, said, new, checks, size) for size in _SIZES)
    least = _told(sha, said, new, checks, _SIZES[-1])
    return next((each for each in every if _fits(each)), least)


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
    """With what is counted once it is there."""
    counted = replace(result, requests=_MOST_COUNTED, unchanged=_MOST_COUNTED)
    return len(result.text) <= LONGEST_SAID and termination.fits(counted, LISTEN)


def _told(
    sha: str,
    said: Sequence[Comment],
    new: Sequence[Comment],
    checks: CommitChecks,
    size: _Size,
) -> ListenResult:
    failed = checks.state == "Failed"
    told = new[: size.comments]
    texts = [_of_comment(each, size) for each in told]
    if failed:
        texts += [_of_check(each, size) for each in checks.failed[: size.checks]]
        texts += [] if checks.failed else ["CI has failed."]
    return ListenResult(
        sha=sha,
        said=operations.digest(said),
        comments=tuple(each.id for each in told),
        failed=failed,
        text="\n".join(texts),
    )


def _of_comment(comment: Comment, size: _Size) -> str:
    where = f", of {sanitise.line(comment.path, size.path)}" if comment.path else ""
    where += f", line {comment.line}" if where and comment.line else ""
    rows = sanitise.text(comment.text, size.text).splitlines()
    who = f"{sanitise.line(comment.author, size.name)} says{where}:"
    return "\n".join((who, *(f"> {row}" for row in rows)))


def _of_check(check: FailedCheck, size: _Size) -> str:
    told = ": ".join(filter(None, (sanitise.line(check.name, size.name), check.text)))
    return f"CI has failed:\n> {sanitise.line(told, min(size.text, 200))}"
