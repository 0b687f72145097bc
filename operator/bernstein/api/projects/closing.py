"""What is known of pull requests of deleted Plans and Tasks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import Model, Name

MOST_TO_CLOSE = 50
"""Pull requests that are written down for one Project, shared by its repositories."""
SHOWN = 5

_Ref = Annotated[str, Field(max_length=300)]
_Count = Annotated[int, Field(ge=0)]


class RequestToClose(Model):
    """A pull request that was open when its Plan or Task was deleted."""

    kind: Literal["Plan", "Task"]
    """Of what was deleted."""
    name: Annotated[str, Field(max_length=253)]
    """Of what was deleted."""
    number: _Count = 0
    """By which the forge knows it; 0: if it was opened, it is found by its branches."""
    branch: _Ref
    """Ref of the branch that it is of: one of another branch is never closed."""
    onto: _Ref
    """Ref that it was to be merged into."""
    repository: Annotated[str, Field(max_length=64)]
    """Digest of the address of the repository that it is in."""
    due: datetime
    """From when on it is closed."""
    tries: _Count = 0
    """Jobs that could not close it."""


class RequestClosing(Model):
    """The Job that closes pull requests in one repository, and what is left for it."""

    repository: Name
    """By its name in the Project."""
    number: _Count = 0
    """Of the Job; its name has it."""
    at_work: RequestToClose | None = Field(
        default=None,
        description="What it closes: written down before there is a Job. Absent: none is at work.",
    )
    waiting: Annotated[
        tuple[RequestToClose, ...],
        Field(max_length=MOST_TO_CLOSE, json_schema_extra={"x-kubernetes-list-type": "atomic"}),
    ] = ()
    """The others, the first due first."""
    unwritten: _Count = Field(
        default=0,
        description="More, for which there is no room yet: the operator has them in memory alone.",
    )
    closed: _Count = Field(default=0, description="Pull requests that were closed so far.")
    left: _Count = Field(
        default=0, description="Those that nobody closes any more: they could not be closed."
    )
    last_left: Annotated[
        tuple[Annotated[str, Field(max_length=320)], ...], Field(max_length=SHOWN)
    ] = ()
    """The last of those, by branch and number."""
    failures: _Count = 0
    """Jobs in a row that could close none."""
    reason: Annotated[str, Field(max_length=64)] | None = None
    """Why the last one could not, in one word."""
    message: Annotated[str, Field(max_length=512)] | None = None
    """The same for people."""
    until: datetime | None = Field(
        default=None, description="When the next Job may be made, at the earliest."
    )
