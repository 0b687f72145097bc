"""Approval: what a person is asked, and what he decided."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from bernstein.api.meta import (
    Conditions,
    CopiedLine,
    Metadata,
    Model,
    Money,
    ObjectName,
    Reasoning,
    Sha,
    UserName,
    cel,
    immutable_except,
    list_map,
    named,
    rule,
)
from bernstein.api.verification import MostChanged

APPROVE, REJECT, RETRY = "Approve", "Reject", "Retry"
MOST_SHOWN = 64
"""Verdicts that a person is shown; those that did not pass come first."""
Because = Annotated[tuple[Annotated[str, Field(max_length=300)], ...], Field(max_length=11)]
"""As many reasons as `core/approvals/policy` has."""


class Subject(Model):
    """What is asked about."""

    kind: Literal["Task", "Plan"]
    """Task: the work of one. Plan: what it is about to do."""
    name: ObjectName
    """Its name, in the same namespace."""
    uid: Annotated[str, Field(min_length=1, max_length=64)]
    """Its uid: another one of that name is not meant."""


class Asks(Model):
    """Exactly what is asked: a decision is about this and nothing else."""

    attempt: Annotated[int, Field(ge=0, le=1_000_000)] | None = Field(
        default=None, description="Of a Task: counted attempts so far."
    )
    work: Sha | None = Field(
        default=None, description="Of a Task: the commit that its session left."
    )
    sha: Sha | None = Field(default=None, description="Of a Task: the commit that would land.")
    base: Sha | None = Field(default=None, description="Of a Task: the commit that it stands on.")
    digest: Annotated[str, Field(min_length=1, max_length=64)]
    """Of a Task: its `status.verification.digest`, which names what was judged and every verdict;
    with `gate`, a digest of that and of all checks. Of a Plan: of its spec, or its workflow."""
    gate: Annotated[str, Field(min_length=1, max_length=63)] | None = Field(
        default=None,
        description="Of a Task: whether it may go on without this gate, which has said no. Absent: "
        "whether work that is verified may land.",
    )
    phase: CopiedLine | None = Field(
        default=None,
        description="Of a Plan: whether this phase of its workflow may begin. Absent: whether the "
        "Plan may.",
    )
    not_by: UserName | None = Field(
        default=None, description="Who may not decide, because he is the author."
    )


class ApprovalSpec(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": immutable_except(
            "decision",
            "decidedBy",
            "reason",
            remedy="it is asked by the operator, and decided once",
            rules=(
                rule(
                    "!has(oldSelf.decision) || (has(self.decision) && "
                    "self.decision == oldSelf.decision && self.decidedBy == oldSelf.decidedBy && "
                    "has(self.reason) == has(oldSelf.reason) && "
                    "(!has(self.reason) || self.reason == oldSelf.reason))",
                    "it is decided already: the first decision is final",
                    fieldPath=".decision",
                    reason="FieldValueForbidden",
                ),
                rule(
                    "has(self.decision) == has(self.decidedBy)",
                    "decision and decidedBy are written together",
                    fieldPath=".decidedBy",
                ),
                rule(
                    "!has(self.reason) || has(self.decision)",
                    "a reason is written together with its decision",
                    fieldPath=".reason",
                ),
                rule(
                    "!has(self.decision) || self.decision != 'Approve' || !has(self.asks.gate) || "
                    "has(self.reason)",
                    "whoever lets work go on without a gate says why",
                    fieldPath=".reason",
                ),
                rule(
                    "!has(self.decidedBy) || !has(self.asks.notBy) || "
                    "self.decidedBy != self.asks.notBy",
                    "the author may not decide: another person must",
                    fieldPath=".decidedBy",
                    reason="FieldValueForbidden",
                ),
                rule(
                    "!has(self.decision) || self.decision != 'Retry' || "
                    "self.subject.kind == 'Task'",
                    "only the work of a Task can be sent back; reject the Plan instead",
                    fieldPath=".decision",
                ),
            ),
        ),
    }

    subject: Subject
    asks: Asks
    decision: Literal["Approve", "Reject", "Retry"] | None = Field(
        default=None,
        description="Written once, by a person. Reject: for good. Retry: the work of a Task is "
        "sent back, and the reason told to its next attempt.",
    )
    decided_by: UserName | None = Field(
        default=None, description="Who decides: the user's own name, as the API server knows it."
    )
    reason: Reasoning | None = None
    """Why, in one line, for people and for the next attempt."""


class ApprovalState(StrEnum):
    PENDING = "Pending"
    """A person has yet to decide."""
    APPROVED = "Approved"
    """It was approved, and that was acted upon."""
    REJECTED = "Rejected"
    """It was rejected or sent back."""
    EXPIRED = "Expired"
    """Nobody has decided in time: it is rejected."""
    VOID = "Void"
    """What it was about has changed or ended: whatever is decided has no effect any more."""


class ShownCheck(Model):
    """A verdict, as the person sees it."""

    name: Annotated[str, Field(max_length=63)]
    """`signal-` and its index, or the gate's name."""
    title: Annotated[str, Field(max_length=120)] = ""
    """What it asks."""
    verdict: Annotated[str, Field(max_length=16)]
    """What it said."""
    reason: Annotated[str, Field(max_length=64)] = ""
    """Why, in one word, where it did not pass, or not in all."""
    required: bool = True
    """Whether work that does not pass it is kept back."""


class Shown(Model):
    """What is shown to whoever decides."""

    title: CopiedLine
    """What is to be done."""
    because: Because = ()
    """Why a person is asked."""
    author: UserName | None = None
    """Who made the Plan, or the Task without one, where that is known."""
    ref: Annotated[str, Field(max_length=300)] | None = Field(
        default=None, description="Of a Task: where the commit is."
    )
    files_changed: int | None = Field(default=None, description="Of a Task: files that differ.")
    most_changed: MostChanged | None = Field(
        default=None, description="Some of these, those with the most changed lines first."
    )
    diff: Annotated[str, Field(max_length=200)] | None = Field(
        default=None, description="Of a Task: the command that shows all of the change."
    )
    decide: Annotated[str, Field(max_length=300)] | None = Field(
        default=None,
        description="The command that approves this question and no other; with `reject` in place "
        "of `approve` it rejects.",
    )
    checks: Annotated[
        tuple[ShownCheck, ...],
        Field(max_length=MOST_SHOWN, json_schema_extra=list_map("name")),
    ] = ()
    """Of a Task: the verdicts on exactly this commit."""
    excerpt: Annotated[str, Field(max_length=2048)] | None = Field(
        default=None,
        description="Of a Task that may go on without a gate: what this has found, or printed. Of "
        "other work: what models say that leave it to a person, and what did not pass, or not in "
        "all.",
    )
    tasks: int | None = Field(
        default=None, description="Of a Plan: how many Tasks it has, beside subtasks."
    )
    subtasks: int | None = Field(
        default=None,
        description="Of a Plan: how many subtasks its steps say, in all. Absent: none.",
    )
    cost_usd: Money | None = Field(
        default=None,
        description="US dollars. Of a Task: spent so far. Of a Plan: its estimate. Absent: a price "
        "is unknown, or of a Task nobody has reported what it used.",
    )


class ApprovalStatus(Model):
    observed_generation: int = -1
    """Generation that this status is about; -1: none yet."""
    state: ApprovalState | None = None
    """How far it is."""
    conditions: Conditions = ()
    """Reconciling while a person has yet to decide; Succeeded once it is over."""
    shown: Shown | None = None
    expires_at: datetime | None = Field(
        default=None, description="When it is rejected unless it is decided. Absent: never."
    )
    ended_at: datetime | None = None
    """When it was seen to be over."""


_OPEN_STATE = (
    "!has(oldSelf.status) || !has(oldSelf.status.state) || oldSelf.status.state == 'Pending'"
)


class Approval(Model):
    """A question to people: may this work land, may this Plan begin? The operator makes it; whoever
    may update it decides."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            named(63),
            rule(
                f"!has(self.spec.decision) || has(oldSelf.spec.decision) || ({_OPEN_STATE})",
                "nothing is left to decide: see status",
                fieldPath=".spec.decision",
                reason="FieldValueForbidden",
            ),
        ),
    }

    metadata: Metadata
    spec: ApprovalSpec
    status: ApprovalStatus = Field(default_factory=ApprovalStatus)


class AskedApproval(Model):
    """The last question to people about this object, and what came of it."""

    name: ObjectName
    """Name of the Approval."""
    asks: Asks
    because: Because = ()
    """Why a person is asked."""
    since: datetime = Field(description="When it was asked first.")
    until: datetime | None = Field(
        default=None,
        description="The Approval's `status.expiresAt`: when it is rejected unless it is decided. "
        "Absent: never.",
    )
    decision: Literal["Approve", "Reject", "Retry", "Expired"] | None = Field(
        default=None, description="What it came to. Absent: nobody has decided."
    )
    by: UserName | None = None
    """The Approval's `decidedBy`."""
    reason: Annotated[str, Field(max_length=1024)] | None = None
    """Why, in the words of who decided."""
    time: datetime | None = None
    """When that was acted upon."""


def parse(obj: dict[str, Any]) -> Approval:
    """An Approval as the API server serves it."""
    return Approval.model_validate(obj)
