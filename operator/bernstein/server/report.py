"""How a callback changes a session's report: pure functions, by which no time or count falls."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from bernstein.api.meta import Sha, UsageCounts
from bernstein.api.session import Report
from bernstein.core.sanitise import line
from bernstein.server.http.refusal import Refusal

MAX_TOKENS = 10**12
"""Most tokens of one kind that a session can report; more is a mistake or a lie."""
QUIET = timedelta(seconds=15)
"""A heartbeat that tells nothing new is not written more often than this."""

Count = Annotated[StrictInt, Field(ge=0, le=MAX_TOKENS)]
Effect = Literal["written", "unchanged", "repeated"]


class Body(BaseModel):
    """The body of a callback; keys that a newer recorder adds are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class UsageBody(Body):
    """Tokens so far."""

    input: Count = 0
    output: Count = 0
    cache_read: Count = 0
    cache_write: Count = 0


class Heartbeat(Body):
    """The recorder lives, and this is how far the agent is."""

    seq: Annotated[StrictInt, Field(ge=0, le=2**53)]
    """Grows with every heartbeat of a session."""
    usage: UsageBody = UsageBody()
    model: str | None = None
    progress: str = ""
    lastActivity: Annotated[float, Field(ge=0, le=1e11)]  # noqa: N815 - the wire's name
    """Unix time, in seconds."""
    checkpoint: Sha | None = None


class FinalBody(Body):
    """How the agent ended, by its own last record."""

    outcome: Annotated[str, Field(max_length=64)]
    no_change: bool = False
    low_confidence: str = ""


class ResultBody(Body):
    """The part of the recorder's result that the report takes over."""

    base: Sha
    sha: Sha
    usage: UsageBody
    model: str | None = None
    final: FinalBody | None = None


def parse(kind: type[Heartbeat] | type[ResultBody], data: dict[str, Any]) -> Any:
    """`data` as a model. Raises Refusal 422, which names the first ten wrong fields."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in errors[:10])
        raise Refusal(
            422,
            "InvalidBody",
            line(wrong, 1000),
            "Counts are whole numbers from 0 to 10^12, times are Unix seconds, commits are "
            "hexadecimal ids.",
        ) from error


def after_heartbeat(old: Report | None, beat: Heartbeat, now: datetime) -> tuple[Effect, Report]:
    """The report after `beat` came at `now`; it has to be stored only if it is `written`."""
    if old is not None and (old.finished or beat.seq <= old.seq):
        return "repeated", old
    before = old or Report()
    heard = _not_before(before.heartbeat_time, now)
    active = datetime.fromtimestamp(min(beat.lastActivity, now.timestamp()), UTC)
    new = before.model_copy(
        update={
            "seq": beat.seq,
            "heartbeat_time": heard,
            "last_activity_time": _not_before(before.last_activity_time, active),
            "usage": _at_least(before.usage, beat.usage),
            "model": line(beat.model or "", 300) or before.model,
            "progress": line(beat.progress, 200) or before.progress,
            "checkpoint": beat.checkpoint or before.checkpoint,
        }
    )
    if old is not None and _same_work(old, new) and _recent(old, heard):
        return "unchanged", old
    return "written", new


def after_result(old: Report | None, result: ResultBody, now: datetime) -> tuple[Effect, Report]:
    """The report after the recorder sent its result."""
    if old is not None and old.finished:
        return "repeated", old
    before = old or Report()
    new = before.model_copy(
        update={
            "heartbeat_time": _not_before(before.heartbeat_time, now),
            "usage": _at_least(before.usage, result.usage),
            "model": line(result.model or "", 300) or before.model,
            "checkpoint": result.sha if result.sha != result.base else before.checkpoint,
            "outcome": line(result.final.outcome, 64) if result.final else None,
            "no_change": result.final.no_change if result.final else None,
            "low_confidence": _unsure(result),
            "finished": True,
        }
    )
    return "written", new


def _unsure(result: ResultBody) -> str | None:
    return line(result.final.low_confidence, 64) or None if result.final else None


def _at_least(old: UsageCounts | None, new: UsageBody) -> UsageCounts:
    known = old or UsageCounts()
    return UsageCounts(
        input=max(known.input, new.input),
        output=max(known.output, new.output),
        cache_read=max(known.cache_read, new.cache_read),
        cache_write=max(known.cache_write, new.cache_write),
    )


def _not_before(old: datetime | None, new: datetime) -> datetime:
    seconds = new.replace(microsecond=0)
    return seconds if old is None else max(old, seconds)


def _same_work(old: Report, new: Report) -> bool:
    def work(report: Report) -> tuple[object, ...]:
        return report.usage, report.model, report.progress, report.checkpoint

    return work(old) == work(new)


def _recent(old: Report, heard: datetime) -> bool:
    return old.heartbeat_time is not None and heard - old.heartbeat_time < QUIET
