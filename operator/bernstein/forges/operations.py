"""What is done with any forge."""

from __future__ import annotations

from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import (
    Branches,
    Description,
    Forge,
    PullRequest,
    RepositoryPath,
    Steps,
)


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
