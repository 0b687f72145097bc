"""Whose work it was that something was spent on, as labels."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.project import TierModels
from bernstein.api.vocabulary import ROLES
from bernstein.observe.registry import one_of, word

_ROLES, _TIERS = frozenset(ROLES), frozenset(TierModels.model_fields)


@dataclass(frozen=True, slots=True)
class Work:
    """One session's. Any role or tier may be given: what is no word of ours counts as `other`."""

    namespace: str
    project: str
    adapter: str
    role: str
    tier: str

    @property
    def labels(self) -> tuple[str, str, str, str, str]:
        return (
            self.namespace,
            self.project,
            word(self.adapter),
            one_of(self.role, _ROLES),
            one_of(self.tier, _TIERS),
        )


def role_label(role: str) -> str:
    return one_of(role, _ROLES)
