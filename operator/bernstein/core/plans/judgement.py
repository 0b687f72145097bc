"""Whether a Plan makes sense, judged once for what it and its Project say.

An Invalid Plan is looked at again and again: after its own status, with every change of a Project
beside it, every ten minutes. To judge the largest takes some ten milliseconds, and its patterns ten
times that where there are too many Plans to know them all.
"""

from __future__ import annotations

import hashlib

from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.api.vocabulary import ROLES
from bernstein.core.approvals import policy
from bernstein.core.plans.field_errors import FieldError, listed
from bernstein.core.plans.validation import validate_plan

LISTED = 3800
"""Characters of problems in a condition, which holds 4096 with the remedy."""
MOST = 1000
"""Plans whose problems are known."""


class KnownProblems:
    """The problems of the Plans that were asked about last."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: dict[bytes, str] = {}

    def of(self, plan: PlanSpec, project: ProjectSpec) -> str:
        """What is wrong with the Plan, as its condition says it; "": nothing."""
        question = _digest(plan) + _digest(project)
        known = self._known.pop(question, None)
        if known is None:
            known = listed((*validate_plan(plan, project, ROLES), *_author(plan, project)), LISTED)
        self._known[question] = known  # last of all
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return known


def _author(plan: PlanSpec, project: ProjectSpec) -> tuple[FieldError, ...]:
    if not policy.lacks_author(policy.effective(project, plan), plan.author):
        return ()
    return (FieldError("author", f"author: {policy.MISSING_AUTHOR}"),)


def _digest(spec: PlanSpec | ProjectSpec) -> bytes:
    return hashlib.sha256(spec.model_dump_json().encode()).digest()


problems_of = KnownProblems().of
