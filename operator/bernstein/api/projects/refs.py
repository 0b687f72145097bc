"""What is known of refs below `refs/bernstein/` that nobody needs any more."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from bernstein.api.meta import Model, Name, Sha

MOST_WAITING = 200
"""Refs of what was deleted that are written down for one Project, shared by its repositories."""
MOST_AT_ONCE = 50
"""Refs that one Job deletes."""
SHOWN = 5

_Ref = Annotated[str, Field(max_length=300)]
_Count = Annotated[int, Field(ge=0)]


class RefToDelete(Model):
    """A ref, and the only commit at which it is deleted."""

    ref: _Ref
    """Its full name."""
    sha: Sha
    """Where it was when it was written down."""
    due: datetime
    """From when on it may go."""


class PrunedThrough(Model):
    """How far the refs of what has ended are looked through, in the order of the ends."""

    at: datetime
    """When the Plan or Task ended."""
    uid: Annotated[str, Field(max_length=64)]
    """Its uid."""
    ref: _Ref
    """The last of its refs, in the order of their names."""


class RefPruning(Model):
    """The Job that deletes refs in one repository, and what is left for it."""

    repository: Name
    """By its name in the Project."""
    number: _Count = 0
    """Of the Job; its name has it."""
    batch: Annotated[tuple[RefToDelete, ...], Field(max_length=MOST_AT_ONCE)] = ()
    """What it deletes: written down before there is a Job. Empty: none is at work."""
    next: PrunedThrough | None = Field(
        default=None, description="What `through` will be once that has gone well."
    )
    through: PrunedThrough | None = Field(
        default=None,
        description="Refs of what had ended by then are gone, or were left. Absent: none is yet.",
    )
    waiting: Annotated[
        tuple[RefToDelete, ...],
        Field(max_length=MOST_WAITING, json_schema_extra={"x-kubernetes-list-type": "atomic"}),
    ] = Field(
        default=(), description="Those of deleted Plans, Tasks and sessions, the first due first."
    )
    unwritten: _Count = Field(
        default=0,
        description="Others of these, for which there is no room yet: the operator has them in "
        "memory alone.",
    )
    lost: _Count = Field(
        default=0, description="Others that there was no room for at all: they stay."
    )
    deleted: _Count = Field(default=0, description="Refs that were deleted so far.")
    left: _Count = Field(
        default=0,
        description="Refs that stay, as they were not where they had been, or as the git server "
        "refused to delete them while it deleted others.",
    )
    last_left: Annotated[tuple[_Ref, ...], Field(max_length=SHOWN)] = ()
    """Some of those, of the last Job that left any."""
    failures: _Count = 0
    """Jobs in a row that deleted nothing of what is there."""
    reason: Annotated[str, Field(max_length=64)] | None = None
    """Why the last one did not, in one word."""
    message: Annotated[str, Field(max_length=512)] | None = None
    """The same for people."""
    until: datetime | None = Field(
        default=None, description="When the next Job may be made, at the earliest."
    )
