"""How many tokens a session can have used, whatever it reports.

Usage is what the agent's own output says. A lie may make a session dear, but no dearer than its
time: else one session would spend the budget of a whole Plan.
"""

from __future__ import annotations

from datetime import timedelta

from bernstein.api.meta import UsageCounts

MOST_TOKENS = 10**15
"""Of one kind in a sum; far more than all sessions of a Plan can use."""
RATE = UsageCounts(input=20_000, output=2_000, cache_read=200_000, cache_write=20_000)
"""Tokens a second: ten times what a CLI uses whose sub-agents work side by side."""
LEAST_SECONDS = 120
"""A session counts as at least this long: what it has been billed at once stays whole."""


def bounded(usage: UsageCounts, time: timedelta) -> UsageCounts:
    """The usage, of each kind at most what a session can use in that time."""
    seconds = int(max(time.total_seconds(), LEAST_SECONDS)) + 1
    return UsageCounts(
        input=min(usage.input, RATE.input * seconds),
        output=min(usage.output, RATE.output * seconds),
        cache_read=min(usage.cache_read, RATE.cache_read * seconds),
        cache_write=min(usage.cache_write, RATE.cache_write * seconds),
    )
