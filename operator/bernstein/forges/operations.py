"""What is done with any forge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import (
    Branches,
    Comment,
    Description,
    Forge,
    PullRequest,
    RepositoryPath,
    Steps,
)

MOST_AUTHORS = 30
"""Of comments on one pull request, of whom it is asked whether they may write to the repository."""


def said(
    forge: Forge, repository: RepositoryPath, pull: PullRequest, may_write: dict[str, bool]
) -> Steps[tuple[Comment, ...]]:
    """The comments of people who may write to the repository, but for the account that has opened
    the pull request: that is ours. Who may not be asked about counts only where the forge vouches
    for him. `may_write` has those who were asked about, and gets the others."""
    found: list[Comment] = []
    for comment in (yield from forge.comments(repository, pull)):
        author = comment.author
        if not pull.author or author in ("", pull.author) or not comment.text.strip():
            continue
        if not comment.official and author not in may_write:
            if len(may_write) >= MOST_AUTHORS:
                continue
            may_write[author] = (yield from forge.may_write(repository, author)) is True
        if comment.official or may_write[author]:
            found.append(comment)
    return tuple(found)


def digest(comments: Iterable[Comment]) -> str:
    """The same for the same ones; "" for none."""
    ids = sorted(comment.id for comment in comments)
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16] if ids else ""


def ensure(
    forge: Forge, repository: RepositoryPath, branches: Branches, wanted: Description
) -> Steps[PullRequest]:
    """The one pull request of these branches, as it is to read.

    It is made where there is none: one that was merged or closed stays as it is, and is the answer.
    Whoever has begun this before, and was ended at any point, has made the one that is found now.
    """
    pull = yield from forge.find(repository, branches)
    if pull is None:
        try:
            return (yield from forge.create(repository, branches, wanted))
        except ForgeError as error:
            if error.reason != ForgeReason.EXISTS:
                raise
            # Somebody else was faster, or the answer to our own request was lost.
            pull = yield from forge.find(repository, branches)
            if pull is None:
                raise
    if pull.state == "Open" and not reads(pull, wanted):
        return (yield from forge.update(repository, pull, wanted))
    return pull


def reads(pull: PullRequest, wanted: Description) -> bool:
    """Whether it reads as wanted; forges end texts, and break their lines, as they like."""
    now = pull.description
    return (
        (now.title, now.draft) == (wanted.title, wanted.draft)
        and now.body.replace("\r\n", "\n").strip() == wanted.body.strip()
        and set(wanted.labels) <= set(now.labels)
    )
