"""Program `watch`: looks at pull requests until one of them is not as it was.

It asks with the tags of the last answers, so that what has not changed costs the forge little, and
waits for as long as the forge asks. It tells what has changed by its end: nobody has to be reached
for that, and nothing is lost by a crash.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace

import httpx

from bernstein.api.programs.forge import UNREAD, SeenPullRequest, WatchConfig, WatchResult
from bernstein.api.programs.forge_jobs import WATCH
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.forges import operations
from bernstein.forges.client import Client
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import PullRequest, invalid
from bernstein.pods import asked_forge, log, termination

CONFIG = WatchConfig

MOST_CHANGES = 20
"""That are told at once, or as many of them as the message holds; the others are told next."""
_LONGEST_PAUSE = 600.0
"""Seconds that a forge may keep it waiting; then it ends, and its end says so."""


_OF_ALL = (
    *(ForgeReason.TOKEN_REFUSED, ForgeReason.TOKEN_UNREADABLE, ForgeReason.ADDRESS_INVALID),
    *(ForgeReason.UNREACHABLE, ForgeReason.UNTRUSTED),
)
"""Why none can be read: no other one is asked about."""
_UNREADABLE = (
    *(ForgeReason.RIGHTS_MISSING, ForgeReason.NOT_FOUND, ForgeReason.ANSWER_INVALID),
    ForgeReason.TIMEOUT,
)
"""Why what is said on one pull request is not known, and all else is."""


@dataclass(slots=True)
class _Eyes:
    """What looks, and what it has found out on the way."""

    client: Client
    comments: bool
    """It looks for them, too."""
    retry_after: float | None = None
    """That the forge has asked to wait in the last look, in seconds."""
    may_write: dict[str, bool] = field(default_factory=dict)
    """Authors of comments, while this Job is at work; the one that reads asks anew."""
    behind: set[int] = field(default_factory=set)
    """Numbers of those that were behind their branch in the look before: a forge may move the
    branch a moment before it says that it has merged."""

    def is_news(self, now: SeenPullRequest, known: SeenPullRequest, *, looks_again: bool) -> bool:
        if not _is_news(now, known):
            return False
        seems = now.behind and not _is_news(replace(now, behind=known.behind), known)
        if not seems or not looks_again or now.number in self.behind:
            return True
        self.behind.add(now.number)
        return False


def run(config: WatchConfig, transport: httpx.AsyncBaseTransport | None = None) -> WatchResult:
    """What has changed; nothing, where nothing did in the time. Raises PodError with a reason of
    ForgeReason. `transport` None: over the network."""
    return asyncio.run(_watch(config, transport))


async def _watch(config: WatchConfig, transport: httpx.AsyncBaseTransport | None) -> WatchResult:
    ends = time.monotonic() + config.seconds
    async with asked_forge.asked(config.forge, transport) as client:
        eyes = _Eyes(client, config.comments)
        while True:
            looks_again = ends - time.monotonic() > config.look_seconds
            changed = await _look(eyes, config.pull_requests, ends, looks_again=looks_again)
            left = ends - time.monotonic()
            if changed or left <= config.look_seconds:
                break
            await asyncio.sleep(config.look_seconds)
    for each in changed:
        log.event("changed", number=each.number, state=each.state, sha=each.sha)
    every = (
        _told(config, changed[:most], eyes)
        for most in range(min(len(changed), MOST_CHANGES), 0, -1)
    )
    return next((each for each in every if termination.fits(each, WATCH)), _told(config, (), eyes))


def _told(config: WatchConfig, changed: tuple[SeenPullRequest, ...], eyes: _Eyes) -> WatchResult:
    traffic = eyes.client.traffic
    as_told = {each.number: each.digest for each in config.pull_requests}
    return WatchResult(
        changed,
        traffic.requests,
        traffic.unchanged,
        traffic.remaining,
        tuple(as_told[each.number] for each in changed),
        asked_forge.whole(eyes.retry_after),
    )


async def _look(
    eyes: _Eyes, known: tuple[SeenPullRequest, ...], ends: float, *, looks_again: bool
) -> tuple[SeenPullRequest, ...]:
    """Those that are not as they are known. One that alone cannot be read is told as such; raises
    ForgeError where none can be, or the forge limits it and there is nothing else to tell."""
    changed: list[SeenPullRequest] = []
    unread: list[SeenPullRequest] = []
    failed, is_read, of_all = None, False, False
    for each in known:
        try:
            now = await _one(eyes, each, ends)
        except ForgeError as error:
            failed = failed or error
            of_all = error.reason in (*_OF_ALL, ForgeReason.RATE_LIMITED)
            if of_all:
                failed, eyes.retry_after = error, error.retry_after
                break
            log.event("unread", number=each.number, reason=error.reason)
            unread += [replace(each, unread=error.reason)] if each.unread != error.reason else []
        else:
            is_read = True
            changed += [now] if eyes.is_news(now, each, looks_again=looks_again) else []
    # Where not one could be read it is nothing of theirs.
    changed += unread if is_read else []
    if failed is not None and not changed and (of_all or not is_read):
        raise failed
    return tuple(changed)


def _is_news(now: SeenPullRequest, known: SeenPullRequest) -> bool:
    """That there is no CI is worth no new Job: it is told along with something else."""
    is_nothing = (known.ci, now.ci) == ("", "None")
    return (replace(now, ci="") if is_nothing else now) != known


async def _one(eyes: _Eyes, known: SeenPullRequest, ends: float) -> SeenPullRequest:
    """As it is now. A pause that the forge asks for is made once, where there is time for it."""
    try:
        return await _asked(eyes, known)
    except ForgeError as error:
        pause = error.retry_after
        late = not pause or pause > min(_LONGEST_PAUSE, ends - time.monotonic())
        if error.reason != ForgeReason.RATE_LIMITED or late:
            raise
    log.event("rate-limited", seconds=pause)
    await asyncio.sleep(pause or 0)
    return await _asked(eyes, known)


async def _asked(eyes: _Eyes, known: SeenPullRequest) -> SeenPullRequest:
    client = eyes.client
    try:
        pull = await client.run(client.forge.get(client.repository, known.number))
    except ForgeError as error:
        if error.reason != ForgeReason.NOT_FOUND:
            raise
        return replace(known, state="Missing", unread="")
    if pull.number != known.number:
        raise invalid("it is another pull request's")
    same = known.sha == pull.sha
    seen = replace(asked_forge.seen(pull), ci=known.ci if same else "", said=known.said)
    if pull.state != "Open":
        return seen
    said = await _said(eyes, pull) if eyes.comments else ""
    behind = known.behind and same if pull.behind is None else pull.behind
    return replace(seen, ci=await _checks(client, pull) or seen.ci, said=said, behind=behind)


async def _said(eyes: _Eyes, pull: PullRequest) -> str:
    """The digest of what people have said there who may write to the repository. Where the token
    may not read that, or it is too much to be read, what becomes of the pull request is seen all
    the same."""
    client = eyes.client
    try:
        steps = operations.said(client.forge, client.repository, pull, eyes.may_write)
        return operations.digest(await client.run(steps))
    except ForgeError as error:
        if error.reason not in _UNREADABLE:
            raise
        return UNREAD


async def _checks(client: Client, pull: PullRequest) -> str:
    """What CI says of its commit. Empty: the token may not ask, or nothing is answered that can be
    read; what becomes of the pull request is seen all the same."""
    try:
        return (await client.run(client.forge.checks(client.repository, pull))).state
    except ForgeError as error:
        if error.reason == ForgeReason.RATE_LIMITED:
            raise
        return ""
