"""Whether a Plan makes sense, judged once for what it and its Project say.

An Invalid Plan is looked at again and again: after its own status, with every change of a Project
beside it, every ten minutes. To judge the largest takes some ten milliseconds, and its patterns ten
times that where there are too many Plans to know them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.checks import patterns
from bernstein.core.approvals import policy
from bernstein.core.plans.field_errors import FieldError, listed
from bernstein.core.plans.size import expressions_of_plan
from bernstein.core.plans.validation import validate_plan, validating
from bernstein.core.roles.known import BUILT_IN, Roles

LISTED = 3800
"""Characters of problems in a condition, which holds 4096 with the remedy."""
MOST = 1000
"""Plans whose problems are known."""


class KnownProblems:
    """The problems of the Plans that were asked about last."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: dict[bytes, str] = {}

    def of(self, plan: PlanSpec, project: ProjectSpec, roles: Roles = BUILT_IN) -> str:
        """What is wrong with the Plan, as its condition says it; "": nothing."""
        question = _digest(plan) + _digest(project) + roles.digest
        known = self._known.pop(question, None)
        if known is None:
            known = _told(validate_plan(plan, project, roles), plan, project)
        self._keep(question, known)
        return known

    def ahead(
        self, plan: PlanSpec, project: ProjectSpec, roles: Roles = BUILT_IN
    ) -> Iterator[None]:
        """Finds them in pieces, if they are not known: the largest Plan has as many patterns as
        some hundred milliseconds read."""
        question = _digest(plan) + _digest(project) + roles.digest
        if question in self._known:
            return
        for _ in patterns.judged(expressions_of_plan(plan)):
            yield
        found: Iterable[FieldError] = ()
        for until_then in validating(plan, project, roles):
            found = until_then
            yield
        self._keep(question, _told(found, plan, project))

    def _keep(self, question: bytes, known: str) -> None:
        self._known.pop(question, None)
        self._known[question] = known  # last of all
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]


def _told(found: Iterable[FieldError], plan: PlanSpec, project: ProjectSpec) -> str:
    return listed((*found, *_author(plan, project)), LISTED)


def _author(plan: PlanSpec, project: ProjectSpec) -> tuple[FieldError, ...]:
    if not policy.lacks_author(policy.effective(project, plan), plan.author):
        return ()
    return (FieldError("author", f"author: {policy.MISSING_AUTHOR}"),)


def _digest(spec: PlanSpec | ProjectSpec) -> bytes:
    return hashlib.sha256(spec.model_dump_json().encode()).digest()


_KNOWN = KnownProblems()
problems_of = _KNOWN.of
look_for_problems = _KNOWN.ahead
