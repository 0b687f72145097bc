"""What people ask of an object beside its spec: each request is answered once, in the status."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import CelRule, Line, Model, cel, list_map, rule

MOST_REQUESTS = 20
MOST_ANSWERS = 40
"""Of requests that are gone from the spec the last ones are kept, too."""

RETRY = "Retry"
DELIVER_PARTIAL = "DeliverPartial"
REMERGE = "Remerge"
VERIFY = "Verify"
UNCLAIM = "Unclaim"
UNBLOCK = "Unblock"
KILL = "Kill"
OF_A_TASK = (RETRY, REMERGE, VERIFY, UNCLAIM, UNBLOCK, KILL)
OF_A_PLAN = (RETRY, DELIVER_PARTIAL, REMERGE)


class RefusalReason(StrEnum):
    """Why a request is refused, in one word that stays the same between releases.

    A delivery that comes to nothing is refused for its own `Reason`, such as GateFailed.
    """

    NOTHING_TO_RETRY = "NothingToRetry"
    """Nothing has failed for good: it is at work, waits, or has ended well."""
    TASK_DELETED = "TaskDeleted"
    """No Task of the Plan that is there has failed for good: one that is not Closed was deleted."""
    CANCELLED = "Cancelled"
    """It was cancelled, or its Plan was."""
    PLAN_ENDED = "PlanEnded"
    """Its Plan has delivered, is about to, or is gone."""
    BEING_DELIVERED = "BeingDelivered"
    """What is Closed of the Plan is being delivered without the rest."""
    STILL_MOVES = "StillMoves"
    """The Plan goes on by itself: it has not ended, and does not stand still."""
    SUSPENDED = "Suspended"
    """The Plan says `suspend`."""
    NOTHING_TO_DELIVER = "NothingToDeliver"
    """Nothing of the Plan has landed."""
    NOTHING_TO_MERGE = "NothingToMerge"
    """No merge has failed: it is not verified, or its delivery goes on by itself."""
    PUSHED_TO = "PushedTo"
    """Its pull request has commits that no agent has made, which a new attempt would lack."""
    NOTHING_TO_VERIFY = "NothingToVerify"
    """There is no finished work of it that could be judged."""
    MERGE_IN_PROGRESS = "MergeInProgress"
    """A Job is merging it at this moment."""
    NOT_CLAIMED = "NotClaimed"
    """It has no session, or its agent is at work already."""
    NOT_BLOCKED = "NotBlocked"
    """It is not Blocked."""
    NOTHING_TO_KILL = "NothingToKill"
    """It has no session that is at work."""
    OPERATOR_TOO_OLD = "OperatorTooOld"
    """The operator does not know the verb: the CRDs are newer than it."""


_ID = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"


class Request(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(rule("self == oldSelf", "a request does not change")),
    }

    id: Annotated[str, Field(pattern=_ID, min_length=1, max_length=50)]
    """Names the request in its object; chosen by who asks, and used once: one that has an answer is
    refused."""
    verb: Annotated[str, Field(max_length=32)]
    """What is asked for."""
    by: Annotated[str, Field(min_length=1, max_length=300)]
    """User who asks, as the API server knows him."""
    reason: Line
    """Why, for people."""


class TaskRequest(Request):
    # Longer than a Plan's, with which a Plan hands its own on.
    id: Annotated[str, Field(pattern=_ID, min_length=1, max_length=63)]
    """Names the request in its object; chosen by who asks, and used once: one that has an answer is
    refused."""
    verb: Annotated[str, Field(json_schema_extra={"enum": list(OF_A_TASK)})]
    """Retry: another round of attempts. Remerge: a merge that failed, again. Verify: its work is
    judged anew. Unclaim, Unblock: it is Open again. Kill: its session ends without a soft stop."""


class PlanRequest(Request):
    verb: Annotated[str, Field(json_schema_extra={"enum": list(OF_A_PLAN)})]
    """Retry: another round for its Tasks that have failed or are in conflict. DeliverPartial: what
    is Closed is delivered; the others end. Remerge: what it delivers is merged again."""


class Answer(Model):
    """What has become of a request; it is answered once."""

    id: Annotated[str, Field(max_length=63)]
    """The request's."""
    verb: Annotated[str, Field(max_length=32)]
    """What was asked for."""
    by: Annotated[str, Field(max_length=300)]
    """User who asked."""
    asked: Annotated[str, Field(max_length=300)]
    """The request's reason, for people: why it was asked for."""
    answer: Literal["Done", "Refused"]
    """Whether it was done."""
    reason: Annotated[str, Field(max_length=64)]
    """Why, in one word that stays the same between releases."""
    message: Annotated[str, Field(max_length=512)] = ""
    """Why, for people."""
    time: datetime
    """When it was answered."""


TaskRequests = Annotated[
    tuple[TaskRequest, ...], Field(max_length=MOST_REQUESTS, json_schema_extra=list_map("id"))
]
PlanRequests = Annotated[
    tuple[PlanRequest, ...], Field(max_length=MOST_REQUESTS, json_schema_extra=list_map("id"))
]
Answers = Annotated[
    tuple[Answer, ...], Field(max_length=MOST_ANSWERS, json_schema_extra=list_map("id"))
]


def answered_once() -> CelRule:
    """Rule for the root of a kind: no request comes back under an id that has its answer."""
    return rule(
        "!has(self.spec.requests) || !has(oldSelf.status) || !has(oldSelf.status.requests) || "
        "self.spec.requests.all(r, !oldSelf.status.requests.exists(a, a.id == r.id) || "
        "(has(oldSelf.spec.requests) && oldSelf.spec.requests.exists(o, o.id == r.id)))",
        "a request needs an id that has no answer in status.requests yet: choose another one",
        fieldPath=".spec.requests",
        reason="FieldValueForbidden",
    )


def kept_until_answered() -> CelRule:
    """Rule for the root of a kind: no request goes before it is answered."""
    return rule(
        "!has(oldSelf.spec.requests) || oldSelf.spec.requests.all(r, "
        "(has(self.spec.requests) && self.spec.requests.exists(n, n.id == r.id)) || "
        "(has(oldSelf.status) && has(oldSelf.status.requests) && "
        "oldSelf.status.requests.exists(a, a.id == r.id)))",
        "a request stays until it is answered in status.requests",
        fieldPath=".spec.requests",
        reason="FieldValueForbidden",
    )
