"""Where a Plan's work gathers, and how far it is on its way, in one repository."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.delivery import Delivery
from bernstein.api.meta import Condition, Model, Name, Sha
from bernstein.api.verification import Verification
from bernstein.api.waiting import Abandoned, Waiting

MOST_PLAN_REPOSITORIES = 16


class Integration(Model):
    """Where the Plan's verified work gathers before it is delivered."""

    repository: Name | None = Field(
        default=None,
        description="By its name in the Project. Absent: the first, or the one that repos names.",
    )
    ref: Annotated[str, Field(max_length=300)]
    """Where the work of its Tasks lands."""
    target: Annotated[str, Field(max_length=300)]
    """Branch that the Plan is delivered to."""
    target_sha: Sha = Field(
        description="Tip of the target when the Plan began; judges come from it."
    )
    sha: Sha | None = Field(default=None, description="The last landing of the ledger.")
    tree: Annotated[str, Field(max_length=64)] | None = None
    """Tree of the last commit that a Task landed."""
    place: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Of a Plan that works in several repositories, which of them this is: names of "
        "its refs and Jobs have the number. Absent: the first one, or the only one.",
    )
    since: datetime | None = Field(
        default=None, description="When the Plan began. Absent: under an older release."
    )
    per: Literal["Task"] | None = Field(
        default=None,
        description="Task: each Task delivers its own work to `target`, and nothing lands at "
        "`ref`. Absent: the Plan delivers all of it.",
    )

    @property
    def tip(self) -> str:
        return self.sha or self.target_sha


class RepositoryStatus(Model):
    """What a Plan that works in several repositories does in one of them."""

    name: Name
    """By its name in the Project."""
    integration: Integration | None = Field(
        default=None, description="Absent: the Plan has not begun there."
    )
    verification: Verification | None = None
    delivery: Delivery | None = None
    waiting: Waiting | None = None
    verified: Condition | None = Field(
        default=None, description="What its last round of checks came to."
    )
    jobs: int = Field(default=0, description="Jobs there so far; numbers their names.")
    abandoned: Abandoned | None = Field(
        default=None,
        description="Why the pod of the Job that makes the integration ref is being ended.",
    )
    infrastructure_failures: int = 0
    """Jobs in a row that failed through nobody's fault."""
    gate_errors: int = 0
    """Rounds of checks in a row that could not run."""
    delivered_at: datetime | None = None
    """When it was delivered there."""
