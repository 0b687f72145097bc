"""What is to be done with the server's certificate: pure functions of what is held and the time.

A session trusts, to its end, the authorities that were in `ca.crt` when it began. So a new
certificate is told first and served later: when no session is left that began before it was told.

    made ──► served ──► a next one is told ──► that one is served ──► the old authority is dropped
                        (TOLD before that)     (and GRACE after)
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

TOLD = timedelta(days=8)
"""How long a certificate is told before it is served. Longer than any session: an agent may work
for a day, and a week is left for pods that wait for a node with their prompt made already."""
GRACE = timedelta(days=1)
"""How long new sessions trust the authority before, too: until all replicas serve the new one."""
EXPIRES = timedelta(hours=6)
"""So shortly before the end of what is served, a next one is served though it was told too late."""


class Step(Enum):
    KEEP = "keep"
    MAKE = "make"
    """Nothing usable is held: one is made and served at once."""
    TELL = "tell"
    """A next one is made, whose authority sessions trust from now on, too."""
    SERVE = "serve"
    """The next one takes the place of what is served."""
    DROP = "drop"
    """New sessions trust the authority of what is served alone."""


@dataclass(frozen=True)
class Pair:
    """A certificate by its times and names."""

    begins: datetime
    ends: datetime
    names: frozenset[str]


@dataclass(frozen=True)
class Held:
    """What the Secret holds. `served` is None where it is unusable, whatever else there is."""

    served: Pair | None = None
    next: Pair | None = None
    told: datetime | None = None
    """When the authority of `next` was told."""
    switched: datetime | None = None
    """Since when `served` is, where the authority before it is still trusted."""


def step(held: Held, names: frozenset[str], now: datetime) -> Step:
    """The one thing to do now; whoever has done it asks again later."""
    served, following = held.served, held.next
    if served is None or served.ends <= now:
        return Step.SERVE if _usable(following, now) else Step.MAKE
    if following is not None:
        return _of_next(served, following, held.told, names, now)
    if _is_due(served, names, now):
        return Step.TELL
    if held.switched is not None and now - held.switched >= GRACE:
        return Step.DROP
    return Step.KEEP


def _of_next(
    served: Pair, following: Pair, told: datetime | None, names: frozenset[str], now: datetime
) -> Step:
    if not _usable(following, now) or not names <= following.names:
        return Step.TELL  # another one, with the names that are wanted now
    if told is None or now < told:
        told = following.begins
    is_time = now - told >= TOLD or served.ends - now <= EXPIRES
    return Step.SERVE if is_time else Step.KEEP


def _usable(pair: Pair | None, now: datetime) -> bool:
    return pair is not None and pair.begins <= now < pair.ends


def _is_due(served: Pair, names: frozenset[str], now: datetime) -> bool:
    """In the last third of its time, and early enough to be told before; or under other names."""
    early = max((served.ends - served.begins) / 3, TOLD + 2 * GRACE)
    return now >= served.ends - early or not names <= served.names
