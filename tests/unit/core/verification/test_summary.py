"""What the verdicts of one tree mean together."""

from __future__ import annotations

import pytest

from bernstein.api.verification import CheckResult
from bernstein.checks import gates
from bernstein.core.jobs import JobView
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification import round as rounds
from bernstein.core.verification import summary
from bernstein.core.verification.score import WEIGHTS, score
from tests.unit.core import objects
from tests.unit.core.objects import NOW, checked, done, snapshot
from tests.unit.core.verification.comparisons import compared


def result(verdict: str, reason: str = "", *, required: bool = True) -> CheckResult:
    fields = {"name": "x", "kind": "gate", "verdict": verdict, "reason": reason}
    return CheckResult.model_validate(fields | {"required": required})


@pytest.mark.parametrize(
    ("verdict", "reason", "passes", "rejects", "errs"),
    [
        ("Passed", "", True, False, False),
        ("Bypassed", "", False, False, False),
        ("Skipped", "ConditionNotMet", True, False, False),
        ("Skipped", "Unsure", True, False, False),
        ("Skipped", "JudgeRetry", True, False, False),
        ("Failed", "JudgeRetry", False, True, False),
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


BYPASS = {
    "by": "ann",
    "reason": "wrong here",
    "approval": "work-approval-1",
    "verdict": "Failed",
    "time": "2026-01-01T00:00:00Z",
}


@pytest.mark.parametrize(("kind", "lets_on"), [("gate", True), ("signal", False)])
def test_of_gates_alone_a_persons_word_that_is_there_lets_work_on(kind: str, lets_on: bool) -> None:
    fields = {"name": "x", "kind": kind, "verdict": "Bypassed", "bypass": BYPASS}
    results = [CheckResult.model_validate(fields)]

    assert summary.passed(results) is lets_on
    assert summary.without(results) == ("x by ann" if lets_on else "")


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


def test_of_several_that_said_no_the_first_line_names_the_first_and_counts_the_rest() -> None:
    titles = ["lint", "x" * 300, "types", "tests"]
    bad = [result("Failed").model_copy(update={"title": title}) for title in titles]

    first, blank, then, *_ = summary.feedback([*bad, result("Passed")]).split("\n")

    assert first == f"4 checks have said no: 'lint', '{'x' * 79}…', 'types' and 1 more"
    assert (blank, then) == ("", "Quality gate 'lint' Failed:")


def test_what_has_no_room_in_feedback_is_seen_to_be_cut() -> None:
    bad = result("Failed").model_copy(update={"title": "lint", "excerpt": "word " * 200})

    assert summary.feedback([bad] * 9).endswith("…")


def test_in_short_is_told_how_what_each_printed_ends_for_there_the_cause_stands() -> None:
    printed = "exit code 1\n" + "collected\n" * 90 + "E  assert 1 == 2\n1 failed"
    update = {"title": "pytest -q", "excerpt": printed}
    tests = result("Failed").model_copy(update=update)

    (first, gap, *_, cause, last) = summary.in_short([tests, result("Passed")], 120).split("\n")

    assert (first, gap) == ("Quality gate 'pytest -q' Failed:", "…")
    assert (cause, last) == ("E  assert 1 == 2", "1 failed")
    several = summary.in_short([tests] * 5, 512)
    assert len(several) <= 512
    assert several.startswith("5 checks have said no: 'pytest -q', 'pytest -q'")
    assert several.count("E  assert 1 == 2\n1 failed") == 3


def test_in_short_is_told_how_the_words_of_a_model_begin() -> None:
    update = {"title": "review", "excerpt": f"no: {'because ' * 99}", "by_model": True}
    review = result("Failed").model_copy(update=update)

    assert "Failed:\nno: because" in summary.in_short([review], 100)


def test_in_short_is_told_what_models_advise_behind_what_rejected_it() -> None:
    advised = {"title": "tests", "excerpt": "- new.py: X, that it is 1", "by_model": True}
    advice = result("Failed", "TestsMissing", required=False).model_copy(update=advised)
    bad = result("Failed").model_copy(update={"title": "lint", "excerpt": "printed " * 90})

    assert summary.in_short([advice, result("Failed")], 512).endswith("- new.py: X, that it is 1")
    long = summary.in_short([advice, bad], 512)
    assert len(long) <= 512
    assert long.startswith("Quality gate 'lint' Failed:\n")


@pytest.mark.parametrize(
    ("verdict", "reason", "required", "by_model", "is_told"),
    [
        ("Failed", "TestsMissing", False, True, True),
        ("Passed", "PartlyMet", True, True, True),
        ("Passed", "", True, True, False),
        ("Skipped", "Unsure", False, True, False),
        ("Errored", "RateLimited", False, True, False),
        ("Failed", "LargeFile", False, None, False),
    ],
)
def test_what_models_advise_is_told_behind_what_keeps_the_work_back(
    verdict: str, reason: str, required: bool, by_model: bool | None, is_told: bool
) -> None:
    update = {"title": "model", "excerpt": "- a.py: f, of 0", "by_model": by_model}
    advice = result(verdict, reason, required=required).model_copy(update=update)
    bad = result("Failed").model_copy(update={"title": "lint", "excerpt": "F401 unused"})

    told = summary.feedback([advice, bad])

    assert told.startswith("Quality gate 'lint' Failed:\nF401 unused")
    assert told.endswith("which keeps nothing back:\n- a.py: f, of 0") is is_told
    assert summary.with_advice("x" * 5990, [advice])[:5990] == "x" * 5990
    assert len(summary.with_advice("x" * 5990, [advice])) <= 6000


# --- the quality score ----------------------------------------------------------------------------


def of(name: str, verdict: str = "Passed", kind: str = "gate") -> CheckResult:
    fields = {"name": name, "kind": kind, "verdict": verdict, "required": False}
    return CheckResult.model_validate(fields)


def test_the_weights_are_those_of_built_in_gates_and_a_whole_together() -> None:
    assert sum(WEIGHTS.values()) == 100
    assert WEIGHTS.keys() <= {*gates.names()}


@pytest.mark.parametrize(
    ("results", "found"),
    [
        ([of(name) for name in WEIGHTS], 100),
        ([of(name, "Failed") for name in WEIGHTS], 0),
        ([of("tests", "Failed"), *(of(n) for n in WEIGHTS if n != "tests")], 75),
        ([of("lint"), of("pii_scan")], 100),
        ([of("lint", "Failed"), of("pii_scan")], 25),
        ([of("lint"), of("pii_scan", "TimedOut")], 75),
        ([of("tests"), of("lint"), of("security_scan", "Failed")], 80),
        ([of("lint"), of("tests", "Skipped"), of("type_check", "Errored")], 100),
        ([of("lint"), of("tests", "Bypassed")], 100),
        ([of("lint", "Skipped")], None),
        ([of("dlp_scan", "Failed"), of("my_gate", "Failed")], None),
        ([of("lint"), of("dlp_scan", "Failed")], 100),
        ([of("tests", kind="signal")], None),
        ([of("tests"), of("lint", "Failed"), of("pii_scan", "Failed")], 56),
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
