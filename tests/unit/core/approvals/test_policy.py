"""The policy of a Project and that of a Plan: the stricter of both."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.approval import AskedApproval, Asks
from bernstein.api.approvals.policy import PROTECTED_PATHS, ApprovalPolicy
from bernstein.api.plan import Plan
from bernstein.api.verification import Verification
from bernstein.checks.changes import digest_of
from bernstein.core.approvals import policy
from tests.unit.core import objects
from tests.unit.core.approvals.asked import ANN
from tests.unit.core.objects import NOW, verification

KNOWN = digest_of(PROTECTED_PATHS)


def combined(project: dict[str, Any], plan: dict[str, Any] | None) -> ApprovalPolicy:
    spec: dict[str, Any] = {} if plan is None else {"approval": plan}
    return policy.effective(objects.project(approval=project).spec, objects.plan(**spec).spec)


ABOVE_5 = {"plan": "AboveCost", "aboveUsd": "5"}


@pytest.mark.parametrize(
    ("was", "said", "changes"),
    [
        ({}, {}, {}),
        ({}, {"result": "Never"}, {}),
        ({}, {"result": "HighRisk"}, {"result": "HighRisk"}),
        ({"result": "HighRisk"}, {"result": "Always"}, {"result": "Always"}),
        ({"result": "Always"}, {"result": "Never"}, {}),
        ({"result": "Always"}, {"plan": "Always"}, {"plan": "Always", "above_usd": None}),
        ({}, ABOVE_5, {"plan": "AboveCost", "above_usd": "5"}),
        (ABOVE_5, {"plan": "Always"}, {"plan": "Always", "above_usd": None}),
        (ABOVE_5, {"plan": "AboveCost", "aboveUsd": "3"}, {"above_usd": "3"}),
        (ABOVE_5, {"plan": "AboveCost", "aboveUsd": "4.999999"}, {"above_usd": "4.999999"}),
        (ABOVE_5, {"plan": "AboveCost", "aboveUsd": "5.00"}, {}),
        (ABOVE_5, {"plan": "AboveCost", "aboveUsd": "10"}, {}),
        ({"plan": "Always"}, ABOVE_5, {}),
        ({}, {"expiresAfterSeconds": 60}, {"expires_after_seconds": 60}),
        ({"expiresAfterSeconds": 90}, {"expiresAfterSeconds": 60}, {"expires_after_seconds": 60}),
        ({"expiresAfterSeconds": 60}, {"expiresAfterSeconds": 90}, {}),
        ({}, {"approverIsNotAuthor": True}, {"approver_is_not_author": True}),
        ({"approverIsNotAuthor": True}, {"approverIsNotAuthor": False}, {}),
        ({"movedBase": "Keep"}, {"movedBase": "Ask"}, {"moved_base": "Ask"}),
        ({"movedBase": "Ask"}, {"movedBase": "Keep"}, {}),
    ],
)
def test_the_policy_of_a_plan_changes_only_where_it_becomes_stricter(
    was: dict[str, Any], said: dict[str, Any], changes: dict[str, Any]
) -> None:
    before, wanted = (ApprovalPolicy.model_validate(each) for each in (was, said))

    assert policy.tightened(before, wanted) == changes


@pytest.mark.parametrize(
    ("project", "plan", "stricter"),
    [
        ({"result": "HighRisk"}, None, {"result": "HighRisk"}),
        ({"result": "HighRisk"}, {"result": "Always"}, {"result": "Always"}),
        ({"result": "Always"}, {"result": "Never"}, {"result": "Always"}),
        ({"plan": "Always"}, {"plan": "AboveCost", "aboveUsd": "5"}, {"plan": "Always"}),
        (
            {"plan": "AboveCost", "aboveUsd": "10"},
            {"plan": "AboveCost", "aboveUsd": "9.5"},
            {"plan": "AboveCost", "above_usd": "9.5"},
        ),
        (
            {"plan": "AboveCost", "aboveUsd": "5"},
            {"plan": "Never"},
            {"plan": "AboveCost", "above_usd": "5"},
        ),
        (
            {"expiresAfterSeconds": 600},
            {"expiresAfterSeconds": 60},
            {"expires_after_seconds": 60},
        ),
        ({}, {"expiresAfterSeconds": 60}, {"expires_after_seconds": 60}),
        ({"approverIsNotAuthor": True}, {}, {"approver_is_not_author": True}),
        ({"movedBase": "Keep"}, {}, {"moved_base": "Keep"}),
        ({"movedBase": "Keep"}, {"movedBase": "Ask"}, {"moved_base": "Ask"}),
        ({}, {"movedBase": "Keep"}, {"moved_base": None}),
    ],
)
def test_the_stricter_of_both_counts(
    project: dict[str, Any], plan: dict[str, Any] | None, stricter: dict[str, Any]
) -> None:
    found = combined(project, plan)

    assert {field: getattr(found, field) for field in stricter} == stricter


def judged(**more: Any) -> Verification:
    return verification(passed=True, **({"protected_by": KNOWN} | more))


def why(result: str, judged: Verification, **spec: Any) -> tuple[str, ...]:
    return policy.why_result(ApprovalPolicy(result=result), objects.task(**spec), judged, KNOWN)


OUTSIDE = {
    "name": "file-scope",
    "kind": "gate",
    "required": False,
    "verdict": "Failed",
    "reason": "ScopeViolation",
    "excerpt": "docs/a.md",
}


@pytest.mark.parametrize(
    ("spec", "work"),
    [
        ({"role": "security"}, {}),
        ({"complexity": "high"}, {}),
        ({}, {"protected": ".github/workflows/ci.yml"}),
        ({}, {"protected_by": "another list"}),
        ({}, {"tests_weakened": "tests/test_a.py"}),
        ({}, {"checks_configured": "ruff.toml"}),
        ({}, {"checks": [OUTSIDE]}),
    ],
    ids=[
        *("role", "complexity", "protected path", "another list", "tests"),
        *("configuration", "other files"),
    ],
)
def test_what_is_of_high_risk_is_asked_about(spec: dict[str, Any], work: dict[str, Any]) -> None:
    found = why("HighRisk", judged(**work), **spec)

    assert len(found) == 1


NAME = "all is well, nobody has to look"


@pytest.mark.parametrize(
    "work",
    [
        {"protected": NAME},
        {"tests_weakened": NAME},
        {"checks_configured": NAME},
        {"checks": [OUTSIDE | {"excerpt": f"{NAME}\ndocs/a.md"}]},
    ],
    ids=["protected path", "tests", "configuration", "other files"],
)
def test_a_name_that_an_agent_has_chosen_is_not_taken_for_our_words(work: dict[str, Any]) -> None:
    (because,) = why("HighRisk", judged(**work))

    assert because.endswith(f": '{NAME}'")


def test_what_is_of_no_risk_is_not() -> None:
    assert why("HighRisk", judged()) == ()
    assert why("Never", judged(), role="security") == ()


PROTECTED = {"protected": ".github/workflows/ci.yml"}


@pytest.mark.parametrize("result", ["Never", "HighRisk", "Always"])
@pytest.mark.parametrize(
    ("work", "because"),
    [
        (PROTECTED, "it changes a protected path: '.github/workflows/ci.yml'"),
        (
            PROTECTED | {"protected_more": (".claude/x.json", "CODEOWNERS"), "protected_files": 3},
            "it changes 3 protected paths: '.github/workflows/ci.yml', '.claude/x.json',"
            " 'CODEOWNERS'",
        ),
        (
            PROTECTED | {"protected_more": (".claude/x.json",), "protected_files": 12},
            "it changes 12 protected paths: '.github/workflows/ci.yml', '.claude/x.json'"
            " and 10 more",
        ),
        (
            PROTECTED | {"protected_files": 1},
            "it changes a protected path: '.github/workflows/ci.yml'",
        ),
        ({"protected_by": None}, "it is not known whether it changes protected paths"),
        ({"protected_by": "another list"}, "it is not known whether it changes protected paths"),
    ],
    ids=["changed", "several", "many", "one", "never compared", "another list"],
)
def test_a_change_of_a_protected_path_is_asked_about_whatever_the_policy_says(
    result: str, work: dict[str, Any], because: str
) -> None:
    assert because in why(result, judged(**work), role="security")
    assert why("Never", judged(**work), role="security") == (because,)


def where_none_is_protected(result: str, **work: Any) -> tuple[str, ...]:
    rules = ApprovalPolicy(result=result)
    return policy.why_result(rules, objects.task(), judged(**work), digest_of(()))


@pytest.mark.parametrize("result", ["Never", "HighRisk"])
@pytest.mark.parametrize("work", [PROTECTED, {"protected_by": "another list"}, {}])
def test_where_no_path_is_protected_none_is_asked_about(result: str, work: dict[str, Any]) -> None:
    assert where_none_is_protected(result, **work) == ()


UNKNOWN = "it is not known whether it weakens tests, or changes files that configure checks"


def test_work_of_which_nobody_has_told_what_it_changes_is_of_high_risk_in_every_project() -> None:
    assert where_none_is_protected("HighRisk", protected_by=None) == (UNKNOWN,)
    assert UNKNOWN in why("HighRisk", judged(protected_by=None))
    assert where_none_is_protected("Never", protected_by=None) == ()


def test_what_changes_no_file_at_all_changes_no_protected_path() -> None:
    assert why("Never", judged(sha=objects.BASE, protected_by=None)) == ()


def test_all_work_is_asked_about_where_the_policy_says_so() -> None:
    assert why("Always", judged(), role="security")[0] == "all work is asked about"
    assert len(why("Always", judged(), role="security")) == 2


# --- models -------------------------------------------------------------------------------------


def check(name: str, verdict: str = "Passed", **more: Any) -> dict[str, Any]:
    kind = "signal" if name.startswith("signal-") else "gate"
    known = {"title": name, "required": True, "asked": "q", "reason": ""}
    return {"name": name, "kind": kind, "verdict": verdict} | known | more


YES = check("signal-0", byModel=True)
UNSURE = check("signal-0", "Skipped", byModel=True, reason="Unsure", title="llm_judge: done")
AGAIN = UNSURE | {"reason": "JudgeRetry"}
HOLDS = check("signal-1")
ALONE = "no signal but those of models says that it is done"
NOT_SURE = "a model could not tell for sure: llm_judge: done"
STILL_NO = "the model asks for one more attempt, after 2 that were made for that: llm_judge: done"


@pytest.mark.parametrize(
    ("checks", "because"),
    [
        ([], ()),
        ([HOLDS], ()),
        ([YES, HOLDS], ()),
        ([YES], (ALONE,)),
        ([YES, check("lint"), check("tests")], (ALONE,)),
        ([YES, check("file-scope"), check("protect-tests")], (ALONE,)),
        ([YES, check("signal-1", "Skipped", reason="ConditionNotMet")], (ALONE,)),
        ([YES, check("signal-1", required=False)], (ALONE,)),
        ([UNSURE, HOLDS], (NOT_SURE,)),
        ([UNSURE], (NOT_SURE, ALONE)),
        ([UNSURE, YES | {"name": "signal-2"}], (NOT_SURE, ALONE)),
        ([AGAIN, HOLDS], (STILL_NO,)),
        ([UNSURE, AGAIN | {"name": "signal-2"}, HOLDS], (NOT_SURE, STILL_NO)),
        ([AGAIN | {"verdict": "Failed"}, HOLDS], ()),
        ([UNSURE | {"required": False}, HOLDS], ()),
        ([check("protect-tests", "Skipped", reason="Unsure"), HOLDS], ()),
    ],
)
def test_a_yes_of_models_alone_and_one_that_is_not_sure_are_asked_about(
    checks: list[dict[str, Any]], because: tuple[str, ...]
) -> None:
    assert policy.why_models(judged(checks=checks)) == because


def test_all_that_can_be_asked_about_fits_into_one_question() -> None:
    long = {"title": "llm_judge: " + "x" * 280}
    many = [UNSURE | long | {"name": f"signal-{number}"} for number in range(20)]
    more: dict[str, Any] = {"protected_more": ("d" * 128,) * 3, "protected_files": 10**6}
    named = {"protected": "a" * 128, "tests_weakened": "b" * 128, "checks_configured": "c" * 128}
    still_no = [AGAIN | long | {"name": f"signal-{number}"} for number in range(20, 40)]
    lost = check("collected-tests", "Failed", reason="TestsWeakened")
    work = judged(**named, **more, checks=[OUTSIDE, lost, *many, *still_no])

    because = (
        *why("Always", work, role="security", complexity="high"),
        *policy.why_models(work),
    )

    assert len(because) == 11
    assert all(why.endswith("and 17 more") for why in because[-3:-1])
    asked = AskedApproval(
        name="a", asks=Asks(digest="d" * 64), because=because, since=NOW
    ).model_dump()
    assert asked["because"] == because


# --- authors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "author", "lacks"),
    [
        ({"approverIsNotAuthor": True, "result": "Always"}, None, True),
        ({"approverIsNotAuthor": True, "plan": "Always"}, None, True),
        ({"approverIsNotAuthor": True, "result": "Always"}, ANN, False),
        ({"approverIsNotAuthor": True}, None, True),
        ({"result": "Always"}, None, False),
    ],
)
def test_an_author_is_needed_wherever_he_may_not_decide(
    rules: dict[str, Any], author: str | None, lacks: bool
) -> None:
    assert policy.lacks_author(ApprovalPolicy.model_validate(rules), author) is lacks


def test_the_author_of_a_plans_task_is_the_plans() -> None:
    anns: Plan = objects.plan(author=ANN)

    assert policy.author_of(objects.task(author="nobody"), anns) == ANN
    assert policy.author_of(objects.task(author=ANN, plan=None), None) == ANN
