"""How soon what has failed is tried again."""

from __future__ import annotations

from bernstein.api.waiting import WaitScope
from bernstein.core.reasons import policy
from bernstein.core.reasons.row import Retry

PROBE_SECONDS = 300
"""Seconds between two tries of what only a change outside can mend."""
SOON_SECONDS = 8
"""The same where a new pod alone shows whether it is mended, so that a person waits for the answer.
With the time until a pod shows it again that is at most 15."""
SOON_TRIES = 20
"""So many tries follow each other so soon in any case."""
LATER_ON_SECONDS = 60
"""Seconds between two tries after these, where another one looks for the same all the time: a pod
that waits for the same Secret, or a Task that tries for all."""
MAX_RETRY_AFTER_SECONDS = 24 * 3600


def seconds_to_wait(
    reason: str, failures: int, asked: int | None = None, *, elsewhere: bool = False
) -> int:
    """Seconds until what has failed `failures` times in a row is tried again; 0: at once.

    `asked` is what the provider asked for, in seconds. `elsewhere`: another one looks for the same.
    """
    match policy(reason).retry:
        case Retry.AT_ONCE:
            return 0
        case Retry.BACK_OFF | Retry.LATER:
            back_off = 30 * 2 ** min(max(failures - 1, 0), 8)
            return min(asked or min(back_off, PROBE_SECONDS), longest_wait(reason))
        case Retry.SOON:
            return LATER_ON_SECONDS if elsewhere and failures >= SOON_TRIES else SOON_SECONDS
        case _:
            return PROBE_SECONDS


def seconds_to_ask(reason: str, failures: int, asked: int | None) -> int:
    """Seconds until a forge is asked again, after so many failures in a row: never before the time
    that it names. `asked`: that one, in seconds."""
    if asked is None and policy(reason).retry is Retry.LATER:
        asked = PROBE_SECONDS
    return max(min(asked or 0, MAX_RETRY_AFTER_SECONDS), seconds_to_wait(reason, failures))


def longest_wait(reason: str) -> int:
    """Seconds that one waits at most until it is tried again: a provider may ask for many."""
    row = policy(reason)
    asks = row.holds is WaitScope.PROVIDER and row.retry is Retry.BACK_OFF
    return MAX_RETRY_AFTER_SECONDS if asks or row.retry is Retry.LATER else PROBE_SECONDS
