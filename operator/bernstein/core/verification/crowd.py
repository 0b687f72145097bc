"""Many whose checks wait for the same thing, such as an image: one of them tries it for all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

from bernstein.core.reasons import Retry, policy

Name = TypeVar("Name", bound=tuple[str, str])
"""Of one of them, with its namespace."""


def is_lacking(verdict: str, reason: str) -> bool:
    """Whether a check with this verdict waits for what a new pod alone shows to be there."""
    return verdict == "Errored" and policy(reason).retry is Retry.SOON


def who_tries(crowd: Collection[Name]) -> Name | None:
    """Of those that wait for the same, the one that tries it for all."""
    return min(crowd, default=None)


def ahead(own: Name, crowds: Iterable[Collection[Name]]) -> int:
    """How many wait for the same as this one, where another one tries it for all; 0: this one does.

    `crowds`: of each thing that its checks wait for; who tries one of them has to try all.
    """
    known = tuple(crowds)
    tries = any(who_tries(crowd) in (own, None) for crowd in known)
    return 0 if tries else max(map(len, known), default=0)


def looks_soon(until: object, until_alone: object, *, needs_person: bool) -> bool:
    """Whether one whose waiting says so tries it within seconds, should it be its turn.

    Who waits for something else first, such as a person, tries it for nobody. The two times only
    have to be there or not.
    """
    if until_alone is not None:
        return True
    return until is None and not needs_person
