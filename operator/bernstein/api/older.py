"""Statuses as older releases wrote them: why something waits stood in several fields, and that a
merge may have happened in a reason.

They are read as those of today when a status is parsed, here and nowhere else. What is written next
has no such field any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, model_validator

from bernstein.api.meta import Condition, ConditionType, Model
from bernstein.api.waiting import Tried, Waiting, WaitReason

OLDER = "Of older releases; now in `waiting`."
_EPOCH = "1970-01-01T00:00:00Z"

Status = Mapping[str, Any]


class Hold(Model):
    reason: Annotated[str, Field(max_length=64, description=OLDER)]
    message: Annotated[str, Field(max_length=2048, description=OLDER)] = ""
    retry_at: Annotated[datetime, Field(description=OLDER)]
    generation: Annotated[int, Field(description=OLDER)]


class QueueReason(Model):
    reason: Annotated[str, Field(max_length=64, description=OLDER)]
    message: Annotated[str, Field(max_length=1024, description=OLDER)] = ""


class WithWaiting(Model):
    """The part of a status that says why it waits."""

    waiting: Waiting | None = None
    hold: Hold | None = Field(default=None, description=OLDER)

    @model_validator(mode="before")
    @classmethod
    def _as_of_today(cls, status: Any) -> Any:
        return of_today(status) if isinstance(status, Mapping) else status


def of_today(status: Status) -> dict[str, Any]:
    """The status without fields of older releases; what they said stands in `waiting`."""
    today = {key: value for key, value in status.items() if key not in ("hold", "queue")}
    if today.get("waiting") is None:
        waiting = _waiting(status)
        today |= {} if waiting is None else {"waiting": waiting}
    if _step(status) == "Queued":
        today["delivery"] = {k: v for k, v in status["delivery"].items() if k != "step"}
    if _step(status) == "Landing" and status["delivery"].get("reason"):
        today["delivery"] = {"mayHaveLanded": True, **status["delivery"]}
    return today


def _waiting(status: Status) -> Waiting | None:
    stall = _condition(status, ConditionType.STALLED)
    busy = _condition(status, ConditionType.RECONCILING)
    told = stall or busy
    since = told.last_transition_time if told is not None else status.get("startedAt") or _EPOCH
    held = status.get("hold")
    if held is not None:
        return _held(status, Hold.model_validate(held), stall, busy, since)
    if stall is not None:
        return _made(stall.reason, stall.message, since, needs_person=True)
    queue = status.get("queue")
    if queue is not None and _waits_in_line(status):
        said = QueueReason.model_validate(queue)
        return _made(said.reason, said.message, since)
    if _step(status) == "Queued" and _waits_in_line(status):
        message = busy.message if busy is not None and busy.reason == WaitReason.MERGE_QUEUE else ""
        return _made(WaitReason.MERGE_QUEUE, message, since)
    return None


def _held(
    status: Status, hold: Hold, stall: Condition | None, busy: Condition | None, since: object
) -> Waiting:
    """A hold goes on to its end; that of a Task which has started is tried at the moment."""
    tried = Tried(reason=hold.reason, generation=hold.generation)
    if status.get("state") == "Claimed":
        return _made(hold.reason, hold.message, since, tried=tried)
    told = (c.message for c in (stall, busy) if c is not None and c.reason == hold.reason)
    return _made(
        hold.reason,
        next(told, hold.message),
        since,
        until=hold.retry_at,
        needs_person=stall is not None,
        tried=tried,
    )


def _waits_in_line(status: Status) -> bool:
    """For its start or, once it is verified, for its turn to land."""
    passed = (status.get("verification") or {}).get("passed")
    verified = bool(passed) and _step(status) == "Queued" and status.get("state") == "Done"
    return status.get("state") == "Open" or verified


def _made(reason: str, message: str, since: object, **more: Any) -> Waiting:
    fields = {"reason": reason, "message": message, "since": since, **more}
    return Waiting.model_validate(fields)


def _condition(status: Status, kind: str) -> Condition | None:
    """The condition of this type, if it is True."""
    for each in status.get("conditions", ()):
        told = each.model_dump() if isinstance(each, Condition) else each
        if (told.get("type"), told.get("status")) == (kind, "True"):
            return Condition.model_validate(told)
    return None


def _step(status: Status) -> Any:
    delivery = status.get("delivery")
    return delivery.get("step") if isinstance(delivery, Mapping) else None
