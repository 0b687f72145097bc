"""What is done with any forge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import (
    MOST_PAGES,
    PAGE,
    Branches,
    Comment,
    Description,
    Forge,
    PullRequest,
    RepositoryPath,
    Steps,
)

MOST_AUTHORS = 30
"""Of comments on one pull request, of whom one look asks whether they may write to the repository;
and of strangers, all looks of a Job."""
MOST_KNOWN = 300
"""Of whom all looks of a Job ask, where nobody says who is no stranger."""


def said(
    forge: Forge, repository: RepositoryPath, pull: PullRequest, may_write: dict[str, bool]
) -> Steps[tuple[Comment, ...]]:
    """The comments of people who may write to the repository, but for the account that has opened
    the pull request: that is ours. Who may not be asked about counts only where the forge vouches
    for him.

    `may_write` has those who were asked about, and gets the others. Where these are many, the
    repository's own people come first, so that no crowd hides one of them; where the token may not
    ask who they are, all come in turn, as far as `may_write` is kept.
    """
    comments = [
        comment
        for comment in (yield from forge.comments(repository, pull))
        if pull.author and comment.author not in ("", pull.author) and comment.text.strip()
    ]
    authors = dict.fromkeys(each.author for each in comments if not each.official)
    unknown = [author for author in authors if author not in may_write]
    room = MOST_AUTHORS - len(may_write)
    if len(unknown) > room:
        likely = yield from forge.likely_writers(repository)
        ours = [author for author in unknown if author in likely]
        others = [author for author in unknown if author not in likely]
        is_whole = 0 < len(likely) < MOST_PAGES * PAGE
        room = max(room, 0) if is_whole else MOST_KNOWN - len(may_write)
        unknown = [*ours, *others[: max(room, 0)]]
    for author in unknown[:MOST_AUTHORS]:
        may_write[author] = (yield from forge.may_write(repository, author)) is True
    return tuple(each for each in comments if each.official or may_write.get(each.author))


def digest(comments: Iterable[Comment]) -> str:
    """The same for the same ones; "" for none."""
    ids = sorted(comment.id for comment in comments)
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16] if ids else ""


def ensure(
    forge: Forge,
    repository: RepositoryPath,
    branches: Branches,
    wanted: Description,
    number: int = 0,
) -> Steps[PullRequest]:
    """The one pull request of these branches, as it is to read; the title of one that is there, and
    that it is ready, are people's. `number`: that of the one that is known; 0: none is.

    It is made where there is none: one that was merged or closed stays as it is, and is the answer.
    Whoever has begun this before, and was ended at any point, has made the one that is found now.
    """
    known = (yield from _known(forge, repository, branches, number)) if number else None
    pull = known
    if known is None or known.state != "Open":
        pull = (yield from _found(forge, repository, branches, known)) or known
    if pull is None:
        try:
            return (yield from forge.create(repository, branches, wanted))
        except ForgeError as error:
            if error.reason != ForgeReason.EXISTS:
                raise
            # Somebody else was faster, or the answer to our own request was lost.
            pull = yield from _found(forge, repository, branches, None)
            if pull is None:
                raise
    ours = _with_what_people_say(pull, wanted)
    if pull.state == "Open" and not reads(pull, ours):
        return (yield from forge.update(repository, pull, ours))
    return pull


def _found(
    forge: Forge, repository: RepositoryPath, branches: Branches, known: PullRequest | None
) -> Steps[PullRequest | None]:
    """The pull request of these branches that our account has opened, or that was merged, which
    takes the right to: whoever may only read may open one, and rename and close what he has opened.
    Raises ForgeError(ForgeOpenedByOther) where such a one is in the way of ours.
    """
    pull = yield from forge.find(repository, branches)
    if pull is None or pull.state == "Merged" or (known and known.number == pull.number):
        return pull
    if (yield from forge.is_ours(repository, pull)):
        return pull
    if pull.state == "Open" and known is None:
        who = pull.author or "an account that is gone"
        text = f"{who} has opened pull request {pull.number} of {branches.head}, and not we"
        raise ForgeError(ForgeReason.OPENED_BY_OTHER, text)
    return None


def _known(
    forge: Forge, repository: RepositoryPath, branches: Branches, number: int
) -> Steps[PullRequest | None]:
    """The pull request of this number, into whichever branch people have it merged; None: it is of
    another branch, or gone. However many others there are, none is in the way of this one."""
    try:
        pull = yield from forge.get(repository, number)
    except ForgeError as error:
        if error.reason != ForgeReason.NOT_FOUND:
            raise
        return None
    return pull if pull.own_branch and pull.branches.head == branches.head else None


def _with_what_people_say(pull: PullRequest, wanted: Description) -> Description:
    """What one that is there is to read: people may have given it another title, and what they have
    made ready is no draft again."""
    now = pull.description
    return replace(wanted, title=now.title, draft=wanted.draft and now.draft)


def close(
    forge: Forge, repository: RepositoryPath, branches: Branches, number: int, text: str
) -> Steps[PullRequest | None]:
    """The pull request of this number, or without one that of these branches, closed where it was
    open; None: there is none that we have opened. One that was merged is the answer as it is.

    What is said there is said once, however often this is begun. That it cannot be said keeps
    nothing from being closed. Raises ForgeError(ForgeNotFound) where the number is that of another
    branch's.
    """
    if number:
        pull = yield from forge.get(repository, number)
        if pull.branches.head != branches.head or not pull.own_branch:
            told = f"pull request {number} is none of the branch that was proposed"
            raise ForgeError(ForgeReason.NOT_FOUND, told)
    else:
        found = yield from forge.find(repository, branches)
        if found is None:
            return None
        if found.state == "Open" and not (yield from forge.is_ours(repository, found)):
            return None
        pull = found
    if pull.state == "Open":
        try:
            pull = yield from forge.close(repository, pull)
        except ForgeError:
            # Somebody else may have been faster; or the answer to our own request was lost.
            pull = yield from forge.get(repository, pull.number)
            if pull.state == "Open":
                raise
    if pull.state == "Closed":
        yield from _say(forge, repository, pull, text)
    return pull


def _say(forge: Forge, repository: RepositoryPath, pull: PullRequest, text: str) -> Steps[None]:
    """Where that was not said before by the account that has opened it, which is ours."""
    try:
        said = yield from forge.comments(repository, pull)
        ours = (each for each in said if each.author == pull.author)
        if not any(_same(each.text, text) for each in ours):
            yield from forge.comment(repository, pull, text)
    except ForgeError:
        return


def _same(one: str, other: str) -> bool:
    """Forges end texts, and break their lines, as they like."""
    return one.replace("\r\n", "\n").strip() == other.strip()


def reads(pull: PullRequest, wanted: Description) -> bool:
    """Whether it reads as wanted."""
    now = pull.description
    return (
        (now.title, now.draft) == (wanted.title, wanted.draft)
        and _same(now.body, wanted.body)
        and set(wanted.labels) <= set(now.labels)
    )
