"""How far verified work is on its way to where it belongs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import (
    Model,
    Sha,
)
from bernstein.api.waiting import Abandoned

AttestationState = Literal["Signed", "Unsigned", "OtherKey", "Missing"]
CiState = Literal["None", "Pending", "Passed", "Failed"]
"""What the CI of a forge says of a commit; None: nothing reports there."""


class PullRequest(Model):
    """The pull request by which work is delivered, as the forge told of it last."""

    number: Annotated[int, Field(ge=1)]
    """By which the forge knows it."""
    url: Annotated[str, Field(max_length=2048)]
    """For people."""
    state: Literal["Open", "Merged", "Closed"]
    """Closed: without having been merged."""
    sha: Sha
    """Where its head is, or was when it ended."""
    ci: CiState | None = Field(
        default=None,
        description="What the forge's CI says of that commit; None: nothing. Absent: nobody knows.",
    )


class Delivery(Model):
    """How far verified work is on its way to where it belongs."""

    state: Literal[
        "None",
        "Pending",
        "Merged",
        "PullRequestOpen",
        "NoChange",
        "Conflict",
        "Rejected",
        "CredentialRefused",
        "Unknown",
    ] = "None"
    """How far it has come; Merged and NoChange are good ends."""
    step: Literal["Queued", "Next", "Preparing", "Landing", "Proposing"] | None = Field(
        default=None,
        description="What is done for that at the moment. Next: it has the turn to land. "
        "Preparing: a candidate is made. Landing: it is pushed. Proposing: its pull request is "
        "opened. Queued: of older releases.",
    )
    onto: Annotated[str, Field(max_length=300)] | None = None
    """Ref that the work goes to."""
    branch: Annotated[str, Field(max_length=300)] | None = Field(
        default=None, description="Ref of the branch that the pull request is of."
    )
    pull_request: PullRequest | None = None
    tip: Sha | None = Field(default=None, description="Where `onto` was seen last.")
    sha: Sha | None = Field(
        default=None, description="Commit that landed, or that the pull request is to merge."
    )
    verified_sha: Sha | None = Field(
        default=None,
        description="Commit that was verified, where `sha` is a signed copy of it: the same tree, "
        "parents, author and message.",
    )
    tree: Annotated[str, Field(max_length=64)] | None = None
    """Tree of the commit that landed."""
    round: int = 0
    """Number of the step that began last; the names of its Jobs have it. Neither a round of checks
    nor one of attempts."""
    failures: Annotated[int, Field(ge=1)] | None = None
    """Jobs that have failed in a row on this way; absent: none, or nobody counted."""
    reason: Annotated[str, Field(max_length=64)] | None = None
    """Why it stands still, or has landed without its attestation, in one word."""
    message: Annotated[str, Field(max_length=2048)] | None = None
    """The same for people."""
    may_have_landed: bool | None = Field(
        default=None,
        description="The last land Job may have pushed: the next one only reads the remote.",
    )
    abandoned: Abandoned | None = Field(
        default=None, description="Why the pod of its Job is being ended."
    )
    attestation: AttestationState | None = Field(
        default=None,
        description="What `refs/bernstein/attestations/` has of the commit that landed. Unsigned: "
        "the Project named no key. OtherKey: another one signed it. Missing: it has not ours.",
    )
    landed_at: datetime | None = None
    """When the remote was seen to have it."""
