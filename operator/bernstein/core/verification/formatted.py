"""What the verdict of a gate is that formats: its work was done before anything was judged."""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.reasons import VerdictReason
from bernstein.api.verification import CheckResult, Formatting, Verification
from bernstein.checks.spec import CheckSpec
from bernstein.core.verification.candidate import is_of_people
from bernstein.core.verification.executed import result_of

_PUSHED = "what people push is judged as it is"
_TOO_LATE = "the Project did not ask for it yet when the agent ended"


def is_open(judged: Verification | None) -> bool:
    """Whether the work is to be formatted, or is being formatted, before it is judged."""
    return (
        judged is not None and judged.formatting is not None and judged.formatting.verdict is None
    )


def to_begin(checks: Iterable[CheckSpec]) -> Formatting | None:
    """What a status says of work that was not formatted yet. None: nobody asks for that."""
    asked = any(check.formats and check.skipped is None for check in checks)
    return Formatting() if asked else None


def verdicts(judged: Verification, checks: Iterable[CheckSpec]) -> dict[str, CheckResult]:
    """By check; they stand whatever Jobs say, and whatever is asked of formatters by now."""
    return {
        check.name: _verdict(check, judged)
        for check in checks
        if check.formats and check.skipped is None
    }


def _verdict(check: CheckSpec, judged: Verification) -> CheckResult:
    found = judged.formatting
    if is_of_people(judged):
        return result_of(check, "Skipped", VerdictReason.NOT_FORMATTED, _PUSHED)
    if found is None or found.verdict is None:
        return result_of(check, "Skipped", VerdictReason.NOT_FORMATTED, _TOO_LATE)
    told = result_of(check, found.verdict, found.reason, found.excerpt)
    ran = {"seconds": found.seconds, "image": found.image, "ended_at": found.ended_at}
    return told.model_copy(update=ran)
