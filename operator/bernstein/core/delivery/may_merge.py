"""May this be merged? Every path to a repository's branches asks here."""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.verification import Verification
from bernstein.checks.spec import CheckSpec
from bernstein.core.verification import summary
from bernstein.core.verification.summary import unanswered


def may_merge(
    verification: Verification | None,
    *,
    sha: str,
    tree: str,
    expected: Iterable[CheckSpec],
    approved: bool,
    bypasses_hold: bool,
) -> bool:
    """True only for exactly the judged commit and tree, passed by every expected check, and
    approved by people where they must be asked. `bypasses_hold`: what they let go on without a gate
    counts still.

    `expected` are the checks that the Project and the Task ask for now. A verdict counts only for
    exactly the check that it answered.
    """
    if not approved or verification is None or verification.passed is not True:
        return False
    if (verification.sha, verification.tree) != (sha, tree):
        return False
    if not bypasses_hold and any(result.bypass is not None for result in verification.checks):
        return False
    return not unanswered(verification, expected) and summary.passed(verification.checks)
