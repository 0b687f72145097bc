"""May this be merged? Every path to a repository's branches asks here."""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.plan import PlanVerification
from bernstein.api.task import Verification
from bernstein.core import checks
from bernstein.core.checks import CheckSpec


def may_merge(
    verification: Verification | PlanVerification | None,
    *,
    sha: str,
    tree: str,
    expected: Iterable[CheckSpec],
) -> bool:
    """True only for exactly the judged commit and tree, passed by every expected check.

    `expected` are the checks that the Project and the Task ask for now; a verdict counts only for
    the very check that it was the answer to.
    """
    if verification is None or verification.passed is not True:
        return False
    if (verification.sha, verification.tree) != (sha, tree):
        return False
    return not unanswered(verification, expected) and checks.passed(verification.checks)


def unanswered(
    verification: Verification | PlanVerification, expected: Iterable[CheckSpec]
) -> list[CheckSpec]:
    """Checks that were not asked like this when the tree was judged."""
    judged = {(result.name, result.asked) for result in verification.checks}
    return [check for check in expected if (check.name, check.digest) not in judged]
