"""Rule `collected-tests`: one Job lists the tests of both trees, and what is lost is told."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.pod import CheckVerdict, InspectResult
from bernstein.api.project import Project
from bernstein.api.task import TaskStatus
from bernstein.api.verification import CheckResult
from bernstein.checks.rules.collected_tests import NAME
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.checks.weakening.collected_tests import TOO_LONG
from bernstein.core.actions import RunCheck, TaskDecision
from bernstein.core.approvals import policy
from bernstein.core.jobs import JobView
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification import remedies, summary
from bernstein.core.verification.expected import plan as of_plan
from bernstein.core.verification.expected import rules
from tests.unit.core import objects
from tests.unit.core.objects import BASE, NOW, done, ended, job, over, snapshot, verification
from tests.unit.core.verification.test_both_trees import ENDS, OF_THE_BASE

CHANGED = Subject(any_changed=True, python_changed=False, tests_changed=False, deps_changed=False)
LOST = "2 of 9 tests are not collected any more:\nt.py::a\nt.py::b"


def collecting(**more: Any) -> Project:
    fields = {"gates": {"enabled": False}, "collectTests": {"enabled": True}}
    return objects.project(**(fields | more))


PROTECTED = collecting(protectTests=True, collectTests={"enabled": True})


def spec(project: Project, plan: dict[str, Any] | None = None) -> CheckSpec | None:
    given = objects.plan(**plan).spec if plan is not None else None
    found = rules.of_work(project.spec, given, (), CHANGED)
    return next((check for check in found if check.name == NAME), None)


def test_nothing_is_collected_where_the_project_does_not_ask_for_it() -> None:
    assert spec(objects.project(protectTests=True)) is None


@pytest.mark.parametrize(
    ("protects", "plan", "required"),
    [
        (False, None, False),
        (False, {}, False),
        (True, {}, True),
        (False, {"protectTests": True}, True),
    ],
)
def test_it_is_required_where_tests_are_protected(
    protects: bool, plan: dict[str, Any] | None, required: bool
) -> None:
    found = spec(collecting(protectTests=protects), plan)

    assert found is not None
    assert (found.required, found.against_base, found.output) == (required, True, "pytest")
    assert (found.image, found.findings) == (objects.project().spec.toolchain.image, None)


def test_another_command_is_another_question_in_another_form() -> None:
    own = spec(collecting(collectTests={"enabled": True, "command": "make list"}))
    built_in = spec(collecting())

    assert own is not None
    assert built_in is not None
    assert (own.command, own.output) == ("make list", "names")
    assert own.digest != built_in.digest


def test_a_plan_as_a_whole_is_asked_too() -> None:
    task = objects.task(status=objects.closed(1))
    whole = objects.plan_snapshot(objects.plan(), task, project=collecting())

    assert NAME in [check.name for check in of_plan.specs_of(whole)]


def decide(
    *jobs: JobView, project: Project = PROTECTED, status: TaskStatus | None = None
) -> TaskDecision:
    work = objects.task(status=status or done())
    return task_decide.decide(snapshot(work, jobs=jobs, project=project), NOW)


def run_of(project: Project = PROTECTED) -> RunCheck:
    runs = [each for each in decide(project=project).actions if isinstance(each, RunCheck)]
    (run,) = [run for run in runs if run.check.name == NAME]
    return run


def said(verdict: str, reason: str = "", excerpt: str = LOST) -> JobView:
    told = CheckVerdict(NAME, verdict, reason, excerpt)
    return job(run_of().job, over(ended("checkout"), ended("check", said=told)))


def judged(found: JobView, project: Project) -> tuple[TaskStatus, CheckResult]:
    words = CheckVerdict("protect-tests", "Passed")
    read = objects.result_job("work-s1-inspect-0", "inspect", InspectResult((words,)))
    status = decide(found, read, project=project).status
    assert status.verification is not None
    (result,) = [each for each in status.verification.checks if each.name == NAME]
    return status, result


def test_one_job_lists_the_tests_of_the_work_and_of_its_base() -> None:
    run = run_of()

    assert (run.base, run.compares, run.is_second) == (BASE, True, False)
    assert run.job == "work-s1-collected-tests-0r15"


def test_lost_tests_reject_the_work_and_are_told_to_the_next_attempt() -> None:
    status, result = judged(said("Failed", "TestsWeakened"), PROTECTED)

    assert (result.verdict, result.reason, result.excerpt) == ("Failed", "TestsWeakened", LOST)
    assert (status.state, status.history[-1].reason) == ("Failed", "TestsWeakened")
    assert status.feedback == f"Rule '{NAME}' Failed:\n{LOST}"


def test_where_tests_are_not_protected_they_are_told_and_keep_nothing_back() -> None:
    status, result = judged(said("Failed", "TestsWeakened"), collecting())

    assert (result.required, result.verdict) == (False, "Failed")
    assert status.verification is not None
    assert status.verification.passed is True


NOT_THE_BASE = ("Disrupted", "NoVerdict", "InfrastructureError", "StartedLate")
BASE_ENDS = {
    **{name: pod for name, (pod, end) in OF_THE_BASE.items() if end[1] not in NOT_THE_BASE},
    "no shell": ENDS["no shell"][0],
}


@pytest.mark.parametrize("end", BASE_ENDS)
def test_a_base_whose_tests_cannot_be_listed_keeps_nothing_back(end: str) -> None:
    status, result = judged(job(run_of().job, BASE_ENDS[end]), PROTECTED)

    assert (result.verdict, result.reason) == ("Skipped", "NoBaseline")
    assert result.excerpt
    assert status.verification is not None
    assert status.verification.passed is True
    assert status.waiting is None or status.waiting.reason != "BaseFails"


@pytest.mark.parametrize("end", ["too slow", "evicted"])
def test_work_whose_tests_cannot_be_listed_has_lost_them(end: str) -> None:
    pod, expected = ENDS[end]

    status, result = judged(job(run_of().job, pod), PROTECTED)

    assert (result.verdict, result.reason) == expected
    assert status.verification is None or status.verification.passed is not True


@pytest.mark.parametrize("end", ["disrupted", "broken"])
def test_what_the_cluster_has_ended_is_tried_again(end: str) -> None:
    pod, expected = ENDS[end]

    status, result = judged(job(run_of().job, pod), PROTECTED)

    assert (result.verdict, result.reason) == expected
    assert status.verification is not None
    assert status.verification.again is not None


def risks(**fields: Any) -> tuple[str, ...]:
    told: dict[str, Any] = {"name": NAME, "kind": "gate", "verdict": "Failed", "required": False}
    result = CheckResult.model_validate(told | fields)
    work = verification(passed=True, protected_by="known", checks=[result])
    return policy.why_result(ApprovalPolicy(result="HighRisk"), objects.task(), work, "known")


def test_lost_tests_are_a_high_risk_that_says_how_many_and_names_the_first() -> None:
    assert risks(excerpt=LOST) == (
        "tests that were there are not collected any more: 2 of 9, such as 't.py::a'",
    )


@pytest.mark.parametrize("verdict", ["Failed", "TimedOut"])
def test_tests_that_cannot_be_listed_any_more_are_a_high_risk(verdict: str) -> None:
    assert risks(verdict=verdict, excerpt="not done after 5 s") == (
        "its tests cannot be listed any more",
    )


def test_a_list_that_is_too_long_is_a_high_risk_that_says_so() -> None:
    assert risks(excerpt=f"{TOO_LONG}: there are over 5 names.\nlist fewer") == (TOO_LONG,)


@pytest.mark.parametrize("verdict", ["Passed", "Skipped"])
def test_what_is_not_lost_is_no_risk(verdict: str) -> None:
    assert risks(verdict=verdict, excerpt=LOST) == ()


def test_it_is_a_rule_that_nobody_bypasses_and_that_names_its_field() -> None:
    _, result = judged(said("Failed", "TestsWeakened"), PROTECTED)
    check = spec(PROTECTED)
    assert check is not None

    told = remedies.remedy("NoVerdict", NAME, [check], "NoVerdict", PROTECTED)

    assert not summary.may_be_bypassed(result)
    assert "take collectTests out of the Project" in told
