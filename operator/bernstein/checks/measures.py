"""What a tool measures in two trees, compared: what has become worse?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Measures = Mapping[str, float]
"""Values by what was measured."""


@dataclass(frozen=True)
class Scale:
    """How the measures of a tool are read, and when one is worse than another."""

    read: Callable[[bytes, str], Measures]
    """Raises NoListing."""
    unit: str
    """Behind every value."""
    less_is_worse: bool = False
    """By that many units; else more is worse, by that many per cent."""
    harmless: float = 0
    """A value up to this is never worse than another."""
    stays: bool = False
    """What was measured before has to be measured again."""
    of_work: Callable[[bytes, bytes, str], Measures] | None = None
    """Reads what the tool printed of the work, where its base has a say in what is measured: what
    was printed of the work, then of the base. Raises NoListing. None: as any other."""

    def is_worse(self, before: float, after: float, tolerance: float) -> bool:
        """`tolerance`: units where less is worse, else per cent."""
        if self.less_is_worse:
            return round(before - after, 6) > tolerance
        return after > self.harmless and after > before * (1 + tolerance / 100) * (1 + 1e-9)

    def told(self, before: Measures, after: Measures) -> str:
        """What was measured, where nothing is worse."""
        if len(before) == len(after) == 1:
            (was,), (now,) = before.values(), after.values()
            return f"was {was:g}{self.unit}, is {now:g}{self.unit}"
        return f"{len(before.keys() & after.keys())} measured in both"


def worse(scale: Scale, before: Measures, after: Measures, tolerance: float) -> list[str]:
    """What has become worse, the worst first, in words."""
    found = []
    for name, was in before.items():
        now = after.get(name)
        if now is None:
            if scale.stays:
                found.append((float("inf"), f"{name} was {was:g}{scale.unit}, is not measured"))
        elif scale.is_worse(was, now, tolerance):
            told = f"{name} was {was:g}{scale.unit}, is {now:g}{scale.unit}"
            found.append((abs(now - was) / (was or 1), told))
    return [told for _, told in sorted(found, key=lambda each: (-each[0], each[1]))]
