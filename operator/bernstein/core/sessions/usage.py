"""What a session may have used, of what its agent's output says."""

from __future__ import annotations

from datetime import datetime, timedelta

from bernstein.api.meta import ConditionType, UsageCounts
from bernstein.api.session import AgentSessionStatus
from bernstein.core import conditions
from bernstein.core.money.plausible import bounded


def possible_usage(
    status: AgentSessionStatus,
    usage: UsageCounts | None,
    now: datetime,
    time: timedelta,
    model: str,
) -> tuple[AgentSessionStatus, UsageCounts | None]:
    """The usage that counts, and the status, which says so where more was reported."""
    if usage is None:
        return status, None
    possible = bounded(usage, time, model)
    if possible == usage:
        return status, usage
    text = f"it reported {_tokens(usage)}; in its time at most {_tokens(possible)} are possible"
    return conditions.note(
        status, ConditionType.USAGE_CUT, True, "MoreThanPossible", f"{text}, and these count", now
    ), possible


def _tokens(usage: UsageCounts) -> str:
    parts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    return f"{sum(parts):,} tokens ({' + '.join(f'{part:,}' for part in parts)})"
