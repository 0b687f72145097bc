"""How far verified work is on its way to where it belongs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import (
    Model,
    ObjectName,
    Sha,
)
from bernstein.api.programs.forge import LONGEST_SAID
from bernstein.api.waiting import Abandoned

AttestationState = Literal["Signed", "Unsigned", "OtherKey", "Missing"]
CiState = Literal["None", "Pending", "Passed", "Failed"]
"""What the CI of a forge says of a commit; None: nothing reports there."""


MOST_COMMENTS = 200
"""That a status remembers: each of ten rounds counts LISTENED of them at most."""


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
    onto: Annotated[str, Field(max_length=300)] | None = Field(
        default=None,
        description="The branch that it is to be merged into, or was. Absent: that which it was "
        "opened for, as far as anybody knows.",
    )
    repository: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Digest of the address of the repository that it is in. Absent: it was opened "
        "under an older release.",
    )
    ci: CiState | None = Field(
        default=None,
        description="What the forge's CI says of that commit; None: nothing. Absent: nobody knows.",
    )


class Feedback(Model):
    """What was said of the pull request, and how often that has gone back to an agent."""

    times: Annotated[int, Field(ge=0)] = 0
    """That it has gone back."""
    said: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="Digest of the comments that were there when they were read."
    )
    comments: Annotated[
        tuple[Annotated[str, Field(max_length=64)], ...], Field(max_length=MOST_COMMENTS)
    ] = Field(default=(), description="Those that have gone back, by the forge's ids.")
    ci: Sha | None = Field(
        default=None, description="Commit of which the CI was red, last time that this went back."
    )
    text: Annotated[str, Field(max_length=LONGEST_SAID)] | None = Field(
        default=None,
        description="What went back last, told to each attempt since: data, cut to a budget.",
    )
    task: ObjectName | None = Field(
        default=None, description="The Plan's own Task that is at work because of it."
    )
    jobs: Annotated[int, Field(ge=0)] = 0
    """Jobs that have read; numbers their names."""
    failures: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Jobs in a row that could not read. Absent: none."
    )
    reason: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="Why the last one could not read, in one word."
    )
    message: Annotated[str, Field(max_length=512)] | None = None
    """The same for people."""
    until: datetime | None = Field(default=None, description="When it is read again.")


class Pushed(Model):
    """What somebody else has pushed to the branch of the pull request, and what came of that."""

    times: Annotated[int, Field(ge=1)] = 1
    """How often something of that was taken, to be verified."""
    taken: Sha | None = Field(
        default=None, description="Commit there that is being verified. Absent: none is."
    )
    holds: bool | None = Field(
        default=None,
        description="What is proposed holds such commits: it is made anew of the branch, and no "
        "agent goes on from it. Absent: it does not.",
    )
    replaced: Sha | None = Field(
        default=None,
        description="Commit of theirs that `sha` merges with the branch. Absent once the newer one "
        "was seen there.",
    )
    refused: Sha | None = Field(
        default=None, description="Commit that was pushed last and did not pass."
    )
    message: Annotated[str, Field(max_length=1500)] | None = None
    """Why not."""


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
        "Withdrawn",
        "CredentialRefused",
        "Unknown",
    ] = "None"
    """How far it has come; Merged and NoChange are good ends. Withdrawn: its pull request was
    closed because the work was cancelled."""
    step: Literal["Queued", "Next", "Preparing", "Landing", "Proposing", "Closing"] | None = Field(
        default=None,
        description="What is done at the moment. Next: it has the turn to land. Preparing: a "
        "candidate is made. Landing: it is pushed. Proposing, Closing: its pull request is opened, "
        "or closed. Queued: of older releases.",
    )
    onto: Annotated[str, Field(max_length=300)] | None = None
    """Ref that the work goes to."""
    branch: Annotated[str, Field(max_length=300)] | None = Field(
        default=None, description="Ref of the branch that the pull request is of."
    )
    pull_request: PullRequest | None = None
    feedback: Feedback | None = Field(
        default=None, description="Absent: nothing that was said of it has gone back to an agent."
    )
    updates: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="How often its pull request was made anew, as the branch had moved. Absent: "
        "never.",
    )
    earlier: Sha | None = Field(
        default=None,
        description="Commit that the pull request was of before `sha`; it was verified, too. "
        "Absent once the newer one was seen there.",
    )
    work: Sha | None = Field(
        default=None,
        description="Work that `sha` was made of, where it goes by a pull request. Absent: under "
        "an older release.",
    )
    pushed: Pushed | None = Field(
        default=None,
        description="Absent: nothing that somebody else pushed to its branch was verified.",
    )
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
    until: datetime | None = Field(
        default=None,
        description="When its pull request is closed, or made anew, at the earliest. Where it was "
        "left open as the forge limits the rate of requests: when that takes some again.",
    )
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

    @property
    def is_proposed(self) -> bool:
        """Whether its pull request waits for people; not while other work for it is under way."""
        on_its_way = ("Pending", "Conflict", "CredentialRefused")
        return self.pull_request is not None and self.state not in on_its_way

    @property
    def is_watched(self) -> bool:
        """Whether anything follows from what becomes of its pull request."""
        pull = self.pull_request
        return pull is not None and (self.is_proposed or pull.state == "Open")

    @property
    def request(self) -> dict[str, object]:
        """What is kept of it where the work is done anew and goes to the same pull request; nothing
        where there is none."""
        if self.pull_request is None:
            return {}
        names = ("branch", "pull_request", "sha", "work", "feedback", "updates", "earlier", "until")
        kept = {name: getattr(self, name) for name in names}
        if self.pushed is not None:
            kept["pushed"] = self.pushed.model_copy(update={"taken": None})
        return kept
