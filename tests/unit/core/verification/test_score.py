"""How good a tree is by its gates, as one number."""

from __future__ import annotations

import pytest

from bernstein.api.verification import CheckResult
from bernstein.checks import gates
from bernstein.core.jobs import JobView
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification import round as rounds
from bernstein.core.verification.score import WEIGHTS, score
from tests.unit.core import objects
from tests.unit.core.objects import NOW, checked, done, snapshot
from tests.unit.core.verification.comparisons import compared


def gate(name: str, verdict: str = "Passed", kind: str = "gate") -> CheckResult:
    fields = {"name": name, "kind": kind, "verdict": verdict, "required": False}
    return CheckResult.model_validate(fields)


def test_the_weights_are_those_of_built_in_gates_and_a_whole_together() -> None:
    assert sum(WEIGHTS.values()) == 100
    assert WEIGHTS.keys() <= {*gates.names()}


@pytest.mark.parametrize(
    ("results", "found"),
    [
        ([gate(name) for name in WEIGHTS], 100),
        ([gate(name, "Failed") for name in WEIGHTS], 0),
        ([gate("tests", "Failed"), *(gate(n) for n in WEIGHTS if n != "tests")], 75),
        ([gate("lint"), gate("pii_scan")], 100),
        ([gate("lint", "Failed"), gate("pii_scan")], 25),
        ([gate("lint"), gate("pii_scan", "TimedOut")], 75),
        ([gate("tests"), gate("lint"), gate("security_scan", "Failed")], 80),
        ([gate("lint"), gate("tests", "Skipped"), gate("type_check", "Errored")], 100),
        ([gate("lint"), gate("tests", "Bypassed")], 100),
        ([gate("lint", "Skipped")], None),
        ([gate("dlp_scan", "Failed"), gate("my_gate", "Failed")], None),
        ([gate("lint"), gate("dlp_scan", "Failed")], 100),
        ([gate("tests", kind="signal")], None),
        ([gate("tests"), gate("lint", "Failed"), gate("pii_scan", "Failed")], 56),
        ([], None),
    ],
)
def test_gates_that_ran_share_the_weights_of_the_others(
    results: list[CheckResult], found: int | None
) -> None:
    assert score(results) == found


@pytest.mark.parametrize(
    ("jobs", "found"),
    [
        ((checked("work-s1-lint-0"),), 100),
        ((checked("work-s1-lint-0", 1), compared("work-s1-lint-0b")), 0),
    ],
    ids=["passed", "rejected"],
)
def test_it_stands_beside_the_verdicts_whether_they_pass_or_not(
    jobs: tuple[JobView, ...], found: int
) -> None:
    seen = task_decide.decide(snapshot(objects.task(status=done()), jobs=jobs), NOW)

    assert seen.status.verification is not None
    assert seen.status.verification.quality_score == found


def test_what_is_judged_anew_has_none_until_it_is() -> None:
    judged = objects.verification(passed=True, quality_score=90)

    assert rounds.afresh(judged).quality_score is None
    assert rounds.next_round(judged).quality_score == 90
