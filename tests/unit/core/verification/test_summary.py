"""What the verdicts of one tree mean together."""

from __future__ import annotations

import pytest

from bernstein.api.verification import CheckResult
from bernstein.core.verification import summary


def result(verdict: str, reason: str = "", *, required: bool = True) -> CheckResult:
    fields = {"name": "x", "kind": "gate", "verdict": verdict, "reason": reason}
    return CheckResult.model_validate(fields | {"required": required})


@pytest.mark.parametrize(
    ("verdict", "reason", "passes", "rejects", "errs"),
    [
        ("Passed", "", True, False, False),
        ("Bypassed", "", True, False, False),
        ("Skipped", "ConditionNotMet", True, False, False),
        ("Skipped", "NotReached", False, False, False),
        ("Failed", "ExitCode", False, True, False),
        ("TimedOut", "Timeout", False, True, False),
        ("Errored", "ToolMissing", False, False, True),
    ],
)
def test_only_a_required_check_that_passed_or_is_excused_lets_work_through(
    verdict: str, reason: str, passes: bool, rejects: bool, errs: bool
) -> None:
    required = [result("Passed"), result(verdict, reason)]
    optional = [result("Passed"), result(verdict, reason, required=False)]

    assert summary.passed(required) is passes
    assert bool(summary.rejected(required)) is rejects
    assert bool(summary.errored(required)) is errs
    assert summary.passed(optional)
    assert not summary.rejected(optional)
    assert not summary.errored(optional)


def test_the_digest_names_what_was_judged_and_how() -> None:
    one, other = result("Passed"), result("Failed", "ExitCode")
    digests = {
        summary.digest("b", "s", "t", [one]),
        summary.digest("b", "s", "t", [other]),
        summary.digest("b", "s", "u", [one]),
        summary.digest("b", "x", "t", [one]),
        summary.digest("x", "s", "t", [one]),
        summary.digest("b", "s", "t", []),
    }

    assert len(digests) == 6
    assert summary.digest("b", "s", "t", [one, other]) == summary.digest(
        "b", "s", "t", [other, one]
    )


def test_feedback_tells_the_rejections_and_nothing_else() -> None:
    bad = result("Failed").model_copy(update={"title": "lint", "excerpt": "F401 unused"})

    told = summary.feedback([result("Passed"), bad, result("Errored")])

    assert told == "Quality gate 'lint' Failed:\nF401 unused"
    assert len(summary.feedback([bad] * 1000)) <= 6000
