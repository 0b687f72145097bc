"""How fast the machine is just now: what may take some seconds of CPU may take more on a slower
one, or beside other work, which takes the caches of the processors away."""

from __future__ import annotations

from statistics import fmean
from time import process_time

_UPDATES = 200_000
_SECONDS = 0.02
"""What that many updates of a dict take where the figures of the reference come from."""
_LOOKS = 5
_CHANCE = 2.0
"""The pace changes from one moment to the next by so much."""


def allowed(seconds: float) -> float:
    """The seconds of CPU here and now for what may take `seconds` there."""
    pace = fmean(_updates() for _ in range(_LOOKS)) / _SECONDS
    return seconds * _CHANCE * max(1.0, pace)


def _updates() -> float:
    began, found = process_time(), dict.fromkeys(range(1000), 0)
    for number in range(_UPDATES):
        found[number % 1000] += number
    return process_time() - began
