"""The rows of a Plan's status: what is known of each of its Tasks, and of what these have cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bernstein.api.meta import CopiedLine, Model, Money, Name, ObjectName, Sha, UsageCounts

MAX_ROWS = 2000
MAX_SETTLED = 100
"""Sessions that a Plan settles itself at a time; more wait until these are gone."""


class LedgerEntry(Model):
    """One landing in the integration ref: the Task is that of the row, and the session its last.

    It stands on the landing of the number before; the first one on `integration.targetSha`. Its
    tree is what the commit says.
    """

    number: int = Field(ge=1, description="Its place in the order of landings.")
    sha: Sha
    """Commit that landed."""


class Resolves(Model):
    """The conflict that a Task is made for."""

    ref: Annotated[str, Field(max_length=300)]
    """Where the files are as git could merge them, with both sides between marks."""
    sha: Sha
    """Commit of it, on `base`."""
    onto: Sha
    """Tip of the branch that the work of the Plan did not merge with."""
    base: Sha
    """That work: the last landing before."""
    files: Annotated[tuple[CopiedLine, ...], Field(max_length=20)]
    """Paths in conflict; none where one of them is not called as it is shown."""


class PlanTask(Model):
    """Last known facts of a step's Task; kept when the Task is deleted, so that nothing is lost."""

    name: Annotated[str, Field(max_length=63)]
    """Name of the Task."""
    stage: CopiedLine
    """Stage that it belongs to; of a run of a node its phase."""
    step: int | None = Field(default=None, description="Index of the step in its stage, from 0.")
    node: Name | None = Field(default=None, description="Node of the workflow that it is a run of.")
    run: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Which run of that node, from 1."
    )
    repository: Name | None = Field(
        default=None,
        description="That its Task works in, by its name in the Project, where the Plan works in "
        "several.",
    )
    uid: Annotated[str, Field(max_length=64)] | None = None
    """Uid of the Task, once it was seen."""
    state: Annotated[str, Field(max_length=32)] = "Open"
    """Its state when it was seen last."""
    attempts: int = 0
    """Counted attempts: `status.attempt` of the Task."""
    sessions: int = Field(
        default=0, description="Number of the last session whose cost is in spendUsd."
    )
    spend_usd: Money = "0"
    """US dollars that it has cost."""
    usage: UsageCounts = Field(default_factory=UsageCounts)
    rounds: int | None = Field(
        default=None, description="Rounds of attempts that requests have granted; absent: none."
    )
    landed: LedgerEntry | None = Field(
        default=None, description="Written once; from then on the row is of this Task for good."
    )
    resolves: Resolves | None = Field(
        default=None,
        description="The Task is of no step: it is made to resolve this conflict of the Plan's "
        "work with the branch.",
    )
    answers: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="The Task is of no step: it is made because of what was said of the Plan's "
        "pull request, for the so many'th time.",
    )
    parent: ObjectName | None = Field(default=None, description="Task that it is a subtask of.")


class Settled(Model):
    """Cost that no Task's row counts.

    It is that of sessions whose Task was deleted before it had counted them, and of deleted Tasks
    whose name another one has now.
    """

    spend_usd: Money = "0"
    """US dollars."""
    usage: UsageCounts = Field(default_factory=UsageCounts)
    sessions: Annotated[
        tuple[Annotated[str, Field(max_length=64)], ...], Field(max_length=MAX_SETTLED)
    ] = Field(default=(), description="Those that are counted here and still exist, by uid.")
