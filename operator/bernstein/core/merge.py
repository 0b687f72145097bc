"""May this be merged? Every path to a repository's branches asks here."""

from __future__ import annotations

from collections.abc import Collection

from bernstein.api.plan import PlanVerification
from bernstein.api.task import Verification
from bernstein.core import checks


def may_merge(
    verification: Verification | PlanVerification | None,
    *,
    sha: str,
    tree: str,
    expected: Collection[str],
) -> bool:
    """True only for exactly the judged commit and tree, passed by every expected check.

    `expected` are the names of the checks that the Project and the Task ask for now.
    """
    if verification is None or verification.passed is not True:
        return False
    if (verification.sha, verification.tree) != (sha, tree):
        return False
    judged = {result.name for result in verification.checks}
    return set(expected) <= judged and checks.passed(verification.checks)
