"""What is seen of the pull requests that a Project's Plans wait for."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.delivery import CiState
from bernstein.api.meta import Model, Name, Sha

MOST_PULL_REQUESTS = 200
"""That are watched for one Project."""


class WatchedPullRequest(Model):
    """A pull request that a Plan waits for, as it was seen last."""

    repository: Name
    """By its name in the Project."""
    number: Annotated[int, Field(ge=1)]
    """By which the forge knows it."""
    state: Literal["Open", "Merged", "Closed", "Missing"]
    """Closed: without having been merged. Missing: the forge shows the token no such one."""
    sha: Sha
    """Where its head is, or was when it ended."""
    base: Annotated[str, Field(max_length=300)] = Field(
        default="", description="The branch that it is to be merged into, or was."
    )
    ci: CiState | None = Field(
        default=None,
        description="What the forge's CI says of that commit; None: nothing. Absent: nobody knows.",
    )
    said: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Digest of the comments there of people who may write to the repository. "
        "Absent: none, or nobody has looked.",
    )
    behind: bool | None = Field(
        default=None,
        description="Whether its branch has moved, so that it cannot be merged as it was verified. "
        "Absent: it has not, or the forge has yet to say.",
    )
    unread: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Why it alone could not be read the last time, in one word; all else is as it "
        "was before. Absent: it could be.",
    )


class PullRequestWatch(Model):
    """The Job that looks at the forge, and what it has seen."""

    repository: Name | None = Field(
        default=None, description="By its name in the Project. Absent: the first."
    )
    at: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Digest of the address of the repository that was looked at. Absent: under an "
        "older release.",
    )
    number: Annotated[int, Field(ge=0)] = 0
    """Of the Job; its name has it."""
    pull_requests: Annotated[
        tuple[WatchedPullRequest, ...], Field(max_length=MOST_PULL_REQUESTS)
    ] = ()
    """Those that Plans wait for."""
    failures: Annotated[int, Field(ge=0)] = 0
    """Jobs in a row that could not tell."""
    reason: Annotated[str, Field(max_length=64)] | None = None
    """Why the last one could not tell, in one word."""
    message: Annotated[str, Field(max_length=512)] | None = None
    """The same for people."""
    until: datetime | None = Field(default=None, description="When it is tried again.")
    requests: Annotated[int, Field(ge=0)] = Field(
        default=0, description="That were made of the forge by Jobs that have ended."
    )
    unchanged: Annotated[int, Field(ge=0)] = Field(
        default=0, description="Of these, those that the forge answered with no change."
    )
    remaining: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="Requests that the forge let us make when the last Job ended, until it raises "
        "its limit again. Absent: it does not say.",
    )
