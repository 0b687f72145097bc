"""Chance that depends on the seed and on what it is asked for, and on nothing that came before.

So an event can be taken out of a scenario, and all that has nothing to do with it stays as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Dice:
    seed: int

    def draw(self, *what: object) -> float:
        """From 0 to 1, always the same for the same question."""
        text = "/".join(map(str, (self.seed, *what)))
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64

    def between(self, low: float, high: float, *what: object) -> float:
        return low + (high - low) * self.draw(*what)

    def chance(self, probability: float, *what: object) -> bool:
        return self.draw(*what) < probability

    def pick(self, options: Sequence[T], *what: object) -> T:
        return options[int(self.draw(*what) * len(options))]

    def weighed(self, options: Mapping[T, float], *what: object) -> T:
        """One of the options; the values are how often each comes, in any unit."""
        left = self.draw(*what) * sum(options.values())
        for option, weight in options.items():
            left -= weight
            if left < 0:
                return option
        return next(iter(options))
