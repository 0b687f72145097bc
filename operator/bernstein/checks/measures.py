"""What a tool measures in two trees, compared: what has become worse?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

_DIGITS = 2
"""Behind the point: where less is worse, a smaller difference is none. Most come about where lines
are added or taken away elsewhere."""
Measures = Mapping[str, float]
"""Values by what was measured."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in the base."""

    measures: Measures
    beside: Collection[str] = ()
    """What else of the base has a say in what is measured of the work; see `Scale.beside`."""


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
    beside: Callable[[bytes, str], Collection[str]] | None = None
    """Reads the names of folders or files of the base that have a say in what is measured of the
    work. Raises NoListing. None: it has none."""
    of_work: Callable[[bytes, Collection[str], str], Measures] | None = None
    """Reads what the tool printed of the work, with these names of the base. Raises NoListing.
    None: as any other."""
    unread: Callable[[bytes, str], Mapping[str, str]] | None = None
    """Files that the tool could not read, with what it says of each; those of the base are
    `beside`. Raises NoListing. None: it reads all, or ends with an error."""

    def is_worse(self, before: float, after: float, tolerance: float) -> bool:
        """`tolerance`: units where less is worse, else per cent."""
        if self.less_is_worse:
            return round(before - after, _DIGITS) > tolerance
        return after > self.harmless and after > before * (1 + tolerance / 100) * (1 + 1e-9)

    def summary(self, before: Measures, after: Measures) -> str:
        """What was measured, where nothing is worse."""
        if len(before) == 1 and before.keys() == after.keys():
            (was,), (now,) = before.values(), after.values()
            return self.both(was, now)
        return f"{len(before.keys() & after.keys())} measured in both"

    def both(self, was: float, now: float) -> str:
        """Two values, with as many digits as tell them apart."""
        digits = next((n for n in range(6, 17) if f"{was:.{n}g}" != f"{now:.{n}g}"), 6)
        return f"was {was:.{digits}g}{self.unit}, is {now:.{digits}g}{self.unit}"


def under_new_names(before: Measures, renamed: Mapping[str, str]) -> Measures:
    """The measures by the names that they have now: each begins with a path and a colon, where it
    is of a file. `renamed`: the path that a file had before, by the one that it has now."""
    now = {old: path for path, old in renamed.items()}
    return {_renamed(name, now): value for name, value in before.items()}


def _renamed(name: str, now: Mapping[str, str]) -> str:
    path, colon, rest = name.partition(":")
    return f"{now.get(path, path)}{colon}{rest}"


def paths(measures: Measures) -> Iterable[str]:
    """The files that they are of."""
    return (name.partition(":")[0] for name in measures if ":" in name)


def worse(scale: Scale, before: Measures, after: Measures, tolerance: float) -> list[str]:
    """What has become worse, the worst first, in words."""
    rows = []
    for name, was in before.items():
        now = after.get(name)
        if now is None:
            if scale.stays:
                rows.append((float("inf"), f"{name} was {was:g}{scale.unit}, is not measured"))
        elif scale.is_worse(was, now, tolerance):
            rows.append((abs(now - was) / (was or 1), f"{name} {scale.both(was, now)}"))
    return [row for _, row in sorted(rows, key=lambda each: (-each[0], each[1]))]


def newly_unread(
    before: Collection[str], after: Mapping[str, str], renamed: Mapping[str, str]
) -> list[str]:
    """Files that the tool reads no more, or that are new and that it cannot read, in words: all
    that is in them would go unmeasured. `renamed`: as above."""
    return [
        f"{path} is not measured: {why}"
        for path, why in sorted(after.items())
        if renamed.get(path, path) not in before
    ]
