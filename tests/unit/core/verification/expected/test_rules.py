"""Whose files work may change, and whether tests are protected: by Project or Plan, whichever is
the stricter."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.pod import CheckVerdict, InspectResult
from bernstein.api.states import TaskState
from bernstein.api.verification import CheckResult
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.core.approvals import policy
from bernstein.core.jobs import JobView
from bernstein.core.plans.validation import validate_file, validate_plan
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification import summary
from bernstein.core.verification.expected import plan as of_plan
from bernstein.core.verification.expected import rules
from bernstein.core.verification.expected.task import specs_of
from bernstein.core.verification.remedies import remedy
from tests.unit.core import objects
from tests.unit.core.objects import NOW, done, plan, project, verification

TESTS_TOO = Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True)
NO_TESTS = Subject(any_changed=True, python_changed=True, tests_changed=False, deps_changed=False)
OWN = ("src/**",)


def ruled(
    project_: dict[str, Any],
    plan_: dict[str, Any] | None = None,
    *,
    files: tuple[str, ...] = OWN,
    subject: Subject = TESTS_TOO,
) -> list[tuple[str, bool]]:
    """Names of what is asked, and whether it is required."""
    given = plan(**plan_).spec if plan_ is not None else None
    found = rules.of_work(project(**project_).spec, given, files, subject)
    return [(check.name, check.required) for check in found]


WARN: dict[str, Any] = {"fileScope": "Warn"}
ENFORCE: dict[str, Any] = {"fileScope": "Enforce"}
PROTECT: dict[str, Any] = {"protectTests": True}


@pytest.mark.parametrize(
    ("project_", "plan_", "asked"),
    [
        ({}, None, []),
        ({}, {}, []),
        (WARN, None, [("file-scope", False)]),
        (WARN, {}, [("file-scope", False)]),
        ({}, WARN, [("file-scope", False)]),
        (WARN, ENFORCE, [("file-scope", True)]),
        (ENFORCE, WARN, [("file-scope", True)]),
        ({}, ENFORCE, [("file-scope", True)]),
        (PROTECT, {}, [("protect-tests", True)]),
        ({}, PROTECT, [("protect-tests", True)]),
        ({**ENFORCE, **PROTECT}, PROTECT, [("file-scope", True), ("protect-tests", True)]),
    ],
)
def test_the_stricter_of_both_is_asked(
    project_: dict[str, Any], plan_: dict[str, Any] | None, asked: list[tuple[str, bool]]
) -> None:
    assert ruled(project_, plan_) == asked


def test_a_step_that_declares_no_files_may_change_all() -> None:
    assert ruled(ENFORCE, files=()) == []


SHARED: dict[str, Any] = {"appendOnly": ["CHANGELOG.md"]}


def test_what_may_only_be_added_to_is_asked_of_every_step_where_the_scope_is() -> None:
    assert ruled(SHARED) == []
    assert ruled({**WARN, **SHARED}, files=()) == [("file-scope", False)]
    assert ruled(SHARED, ENFORCE, files=()) == [("file-scope", True)]

    (found,) = rules.of_work(project(**ENFORCE, **SHARED).spec, None, OWN, TESTS_TOO)

    assert found.reads is not None
    assert (found.reads.files, found.reads.append_only) == (OWN, ("CHANGELOG.md",))


def task_snapshot(
    *jobs: JobView, subject: dict[str, Any] | None = None, **spec: Any
) -> TaskSnapshot:
    judged = verification(**(subject or {"tests_changed": True}))
    task = objects.task(status=done(verification=judged), files=list(OWN))
    return objects.snapshot(task, project=project(**spec), jobs=jobs)


def specs(snapshot: TaskSnapshot) -> dict[str, CheckSpec]:
    assert snapshot.status.verification is not None
    return {check.name: check for check in specs_of(snapshot, snapshot.status.verification)}


def test_a_task_is_asked_with_its_own_files_before_the_gates() -> None:
    found = specs(task_snapshot(**ENFORCE, **PROTECT))

    assert [*found][:2] == ["file-scope", "protect-tests"]
    assert found["file-scope"].reads is not None
    assert found["file-scope"].reads.files == OWN


def test_nothing_is_asked_where_nothing_has_changed() -> None:
    found = specs(task_snapshot(subject={"sha": objects.BASE}, **PROTECT))

    assert found["protect-tests"].skipped == "ConditionNotMet"


def test_rules_are_asked_without_any_gate() -> None:
    found = specs(task_snapshot(gates={"enabled": False}, **PROTECT))

    assert [*found] == ["protect-tests"]


def test_a_verdict_on_other_files_is_no_answer() -> None:
    def digest(*files: str, **spec: Any) -> str:
        given = rules.of_work(project(**spec).spec, None, files, TESTS_TOO)
        (found,) = given
        return found.digest

    told = {digest("a", **ENFORCE), digest("b", **ENFORCE), digest("a", **WARN)}
    told |= {digest("a", **ENFORCE, appendOnly=[each]) for each in ("a", "b")}

    assert len(told) == 5
    assert digest("a", **ENFORCE, appendOnly=[]) == digest("a", **ENFORCE)


def test_a_plans_work_as_a_whole_is_asked_for_its_tests_and_not_for_files() -> None:
    task = objects.task(status=objects.closed(1), files=list(OWN))
    whole = objects.plan_snapshot(plan(), task, project=project(**ENFORCE, **PROTECT))

    names = [check.name for check in of_plan.specs_of(whole)]

    assert "protect-tests" in names
    assert "file-scope" not in names


def said(name: str, verdict: str = "Failed", reason: str = "", **more: Any) -> CheckResult:
    fields: dict[str, Any] = {"name": name, "kind": "gate", "verdict": verdict, "reason": reason}
    return CheckResult.model_validate({**fields, **more})


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ([said("file-scope")], "ScopeViolation"),
        ([said("protect-tests")], "TestsWeakened"),
        ([said("file-scope"), said("protect-tests")], "ScopeViolation"),
        ([said("file-scope"), said("lint")], "GateFailed"),
        ([said("file-scope", required=False), said("lint")], "GateFailed"),
        ([said("file-scope"), said("signal-0", kind="signal")], "SignalFailed"),
    ],
)
def test_a_task_fails_with_the_rules_own_reason_where_nothing_else_says_no(
    results: list[CheckResult], reason: str
) -> None:
    assert summary.reason(results) == reason


def test_work_outside_of_its_files_fails_and_tells_the_next_attempt_which() -> None:
    said_so = CheckVerdict("file-scope", "Failed", "ScopeViolation", "docs/a.md")
    job = objects.result_job("work-s1-inspect-0", "inspect", InspectResult((said_so,)))
    given = task_snapshot(job, gates={"enabled": False}, **ENFORCE)

    decision = task_decide.decide(given, NOW)

    assert decision.status.state is TaskState.FAILED
    assert decision.status.history[-1].reason == "ScopeViolation"
    assert decision.status.feedback == "Rule 'file-scope' Failed:\ndocs/a.md"


def test_what_is_only_warned_of_keeps_no_work_back_and_is_a_high_risk() -> None:
    warned = said(
        "file-scope", reason="ScopeViolation", required=False, excerpt="docs/a.md\nsrc/b.py"
    )
    judged = verification(passed=True, protected_by="known", checks=[warned])
    rules_ = ApprovalPolicy(result="HighRisk")

    assert summary.passed([warned])
    assert policy.why_result(rules_, objects.task(), judged, "known") == (
        "it changes a file that its step does not declare: 'docs/a.md'",
    )


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (
            {"reason": "ScopeViolation", "excerpt": "NEWS: only adding to it is allowed\nb: x"},
            "it does more than add to a file that is append-only: 'NEWS'",
        ),
        (
            {"reason": "ScopeViolation", "excerpt": "a\nNEWS: only adding to it is allowed"},
            "it changes a file that its step does not declare: 'a'",
        ),
        (
            {"reason": "TooLarge", "excerpt": "the files have over 16 bytes"},
            "it is not known whether it only adds to files that are append-only",
        ),
    ],
)
def test_what_does_more_than_add_is_a_high_risk(told: dict[str, str], why: str) -> None:
    warned = said("file-scope", required=False, **told)
    judged = verification(passed=True, protected_by="known", checks=[warned])

    found = policy.why_result(ApprovalPolicy(result="HighRisk"), objects.task(), judged, "known")

    assert found == (why,)


def test_a_rule_that_cannot_be_judged_names_the_field_that_asks_for_it() -> None:
    (check,) = rules.of_work(project(**ENFORCE).spec, None, OWN, TESTS_TOO)

    told = remedy("TooSlow", "file-scope", [check], "TooSlow", project())

    assert told == "Take fileScope out of the Project, where it asks for that."


PLAN = {"name": "p", "stages": [{"name": "s", "steps": [{"title": "t"}]}]}


def test_a_plan_file_may_ask_for_both() -> None:
    assert validate_file({**PLAN, "file_scope": "Enforce", "protect_tests": True}).errors == ()
    assert validate_plan(plan(**ENFORCE, **PROTECT).spec, project().spec, ["backend"]) == ()
    wrong = validate_file({**PLAN, "file_scope": "Deny", "protect_tests": "yes"}).errors
    assert [problem.path for problem in wrong] == ["file_scope", "protect_tests"]
