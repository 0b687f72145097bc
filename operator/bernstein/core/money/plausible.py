"""How many tokens a session can have used, whatever it reports.

Usage is what the agent's own output says. A lie may make a session dear, but no dearer than its
time and its model: else one session would spend the budget of a whole Plan.
"""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache

from bernstein.api.meta import UsageCounts
from bernstein.api.prices import rates

MOST_TOKENS = 10**15
"""Of one kind in a sum; far more than all sessions of a Plan can use."""
RATE = UsageCounts(input=20_000, output=2_000, cache_read=200_000, cache_write=20_000)
"""Tokens a second of any model: ten times what a CLI uses whose sub-agents work side by side."""
LEAST_SECONDS = 120
"""A session counts as at least this long: what it has been billed at once stays whole."""


@lru_cache(maxsize=512)
def rate_of(model: str) -> UsageCounts:
    """Tokens a second that a session with this model can use, RATE where the table does not say."""
    matching = [rate for rate in rates() if model.startswith(rate.model)]
    if not matching:
        return RATE
    known = max(matching, key=lambda rate: len(rate.model))
    said = {"input": known.input, "output": known.output}
    return RATE.model_copy(update={kind: rate for kind, rate in said.items() if rate is not None})


def bounded(usage: UsageCounts, time: timedelta, model: str) -> UsageCounts:
    """The usage, of each kind at most what a session with this model can use in that time."""
    seconds, rate = int(max(time.total_seconds(), LEAST_SECONDS)) + 1, rate_of(model)
    return UsageCounts(
        input=min(usage.input, rate.input * seconds),
        output=min(usage.output, rate.output * seconds),
        cache_read=min(usage.cache_read, rate.cache_read * seconds),
        cache_write=min(usage.cache_write, rate.cache_write * seconds),
    )
