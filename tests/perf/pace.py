"""How fast the machine is just now: what may take some seconds of CPU may take more on a slower
one, or beside other work, which takes the caches of the processors away."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from time import perf_counter, process_time

_UPDATES = 200_000
_SECONDS = 0.02
"""What that many updates of a dict take where the figures of the reference come from."""
_LOOKS = 5
TRIES = 4
"""So often something is measured until it is quick enough. The pace changes from one moment to the
next, so that a single measurement tells little; a stall that is the code's own comes every time."""


def allowed(seconds: float) -> float:
    """The seconds of CPU here and now for what may take `seconds` there: as many, on a machine as
    fast as that one. It is for the quickest of several measurements: what is measured but once has
    to be so much quicker that chance does not matter."""
    return seconds * max(1.0, fmean(_updates() for _ in range(_LOOKS)) / _SECONDS)


def late(seconds: float) -> float:
    """The seconds by the clock here and now for what takes `seconds` there, beside whatever else
    keeps the processors busy."""
    return seconds * max(1.0, fmean(_updates(perf_counter) for _ in range(_LOOKS)) / _SECONDS)


def quickest(measure: Callable[[], float], seconds: float) -> tuple[float, float]:
    """What it takes at best, and what it may take; measured no more often than it has to be."""
    found: list[tuple[float, float]] = []
    for _ in range(TRIES):
        found.append((measure(), allowed(seconds)))
        if found[-1][0] < found[-1][1]:
            break
    return min(found, key=lambda each: each[0] / each[1])


def _updates(clock: Callable[[], float] = process_time) -> float:
    began, found = clock(), dict.fromkeys(range(1000), 0)
    for number in range(_UPDATES):
        found[number % 1000] += number
    return clock() - began
