"""Gates that are always asked of both trees: one Job, whose comparison is the verdict."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import pytest

from bernstein.api import pod as protocol
from bernstein.api.project import Project
from bernstein.api.task import TaskStatus
from bernstein.api.verification import CheckResult
from bernstein.checks.spec import CheckSpec, Database
from bernstein.core.actions import RunCheck, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification import base
from bernstein.core.verification.expected import required
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    NOW,
    TIP,
    Object,
    done,
    ended,
    failed,
    job,
    over,
    snapshot,
    verification,
    waiting,
)
from tests.unit.core.verification.expected.test_required import CHANGED


def ruled(gate: str = "security_scan", *, base_failures: bool = False, **more: Any) -> Project:
    gates = {"extends": None, "pipeline": [{"name": gate, "condition": "always", **more}]}
    return objects.project(gates=gates | {"allowBaseFailures": base_failures})


def decide(
    *jobs: JobView, project: Project | None = None, status: TaskStatus | None = None
) -> TaskDecision:
    subject = objects.task(status=status or done())
    return task_decide.decide(snapshot(subject, jobs=jobs, project=project or ruled()), NOW)


def asked(decision: TaskDecision) -> list[RunCheck]:
    return [action for action in decision.actions if isinstance(action, RunCheck)]


def said(name: str, verdict: str, reason: str = "", excerpt: str = "a.py:1 B602") -> JobView:
    told = protocol.CheckVerdict("gate", verdict, reason, excerpt)
    return job(name, over(ended("checkout"), ended("check", said=told)))


def name_of(project: Project) -> str:
    (run,) = asked(decide(project=project))
    return run.job


def judged(*jobs: JobView, project: Project | None = None) -> tuple[str | None, CheckResult]:
    status = decide(*jobs, project=project).status
    assert status.verification is not None
    (result,) = status.verification.checks
    return status.state, result


def test_one_job_runs_it_on_the_work_and_on_its_base() -> None:
    (run,) = asked(decide())

    assert (run.base, run.compares, run.check.output) == (BASE, True, "bandit")


@pytest.mark.parametrize(
    ("verdict", "reason", "state"),
    [
        ("Passed", "", "Done"),
        ("Skipped", "NoBaseline", "Done"),
        ("Failed", "NewFindings", "Failed"),
        ("Failed", "WorseThanBase", "Failed"),
        ("Failed", "ExitCode", "Failed"),
    ],
)
def test_what_was_compared_is_the_verdict_and_no_other_job_is_asked(
    verdict: str, reason: str, state: str
) -> None:
    project = ruled()
    found = said(name_of(project), verdict, reason)

    assert asked(decide(found, project=project)) == []
    after, result = judged(found, project=project)
    assert (result.verdict, result.reason, result.excerpt) == (verdict, reason, "a.py:1 B602")
    assert after == state


def test_work_goes_on_without_a_baseline() -> None:
    project = ruled("complexity_check")
    status = decide(said(name_of(project), "Skipped", "NoBaseline"), project=project).status

    assert status.verification is not None
    assert status.verification.passed is True


@pytest.mark.parametrize("excused", [True, False])
def test_a_tool_that_has_an_error_on_both_tells_nothing_of_the_work(excused: bool) -> None:
    project = ruled(base_failures=excused)
    status = decide(said(name_of(project), "Skipped", "BaseFails"), project=project).status

    assert status.verification is not None
    assert status.verification.passed is (True if excused else None)
    assert status.waiting is not None
    assert (status.waiting.reason == "BaseFails") is not excused


LATER = done(verification=verification(base=TIP))
"""Work that was made after others of its Plan have landed."""


@pytest.mark.parametrize(
    ("verdict", "reason", "excused"),
    [
        ("Skipped", "BaseFails", True),
        ("Skipped", "Timeout", None),
        ("Skipped", "NoBaseline", None),
        ("Failed", "ExitCode", None),
        ("Passed", "", None),
    ],
)
def test_where_others_have_landed_the_tool_has_to_fail_where_the_plan_started(
    verdict: str, reason: str, excused: bool | None
) -> None:
    project = ruled(base_failures=True)
    broken = said(name_of(project), "Skipped", "BaseFails", "exit code 4")

    (run,) = asked(decide(broken, project=project, status=LATER))
    assert (run.base, run.compares, run.is_second) == (BASE, True, True)
    at_start = said(run.job, verdict, reason, "of that")
    found = decide(broken, at_start, project=project, status=LATER)

    assert asked(found) == []
    assert found.status.verification is not None
    (result,) = found.status.verification.checks
    assert (result.verdict, result.reason, result.excused) == ("Skipped", "BaseFails", excused)
    assert result.excerpt == "exit code 4"
    assert found.status.verification.passed is excused


def test_where_the_start_of_the_plan_cannot_be_asked_that_alone_is_tried_again() -> None:
    project = ruled(base_failures=True)
    broken = said(name_of(project), "Skipped", "BaseFails")
    (run,) = asked(decide(broken, project=project, status=LATER))
    drained = job(run.job, over(*BEGUN, NOT_BEGUN, disrupted=True))

    found = decide(broken, drained, project=project, status=LATER).status

    assert found.verification is not None
    assert found.verification.again is not None
    assert [each.check for each in found.verification.again] == ["security_scan.base"]


def test_a_base_that_the_check_itself_finds_too_slow_excuses_nothing() -> None:
    project = ruled("mutation_testing", base_failures=True)
    slow = said(name_of(project), "Skipped", "Timeout", "give it more time")

    status = decide(slow, project=project).status

    assert status.verification is not None
    assert status.verification.passed is None
    (result,) = status.verification.checks
    told = (result.reason, result.excused, result.excerpt)
    assert told == ("BaseFails", None, "give it more time")


def test_it_is_skipped_where_checkout_finds_none_of_its_paths_changed() -> None:
    project = ruled(paths=["web/**"])
    (run,) = asked(decide(project=project))
    missed = over(failed("checkout", "ConditionNotMet"), waiting("check"), phase="Failed")

    _, result = judged(job(run.job, missed), project=project)

    assert run.changed_since == BASE
    assert (result.verdict, result.reason) == ("Skipped", "ConditionNotMet")


def slow(name: str) -> Object:
    """A container that the pod's deadline has ended, long after its own time."""
    return ended(name, 137, after=100_000)


BEGUN, NOT_BEGUN = (ended("checkout"), ended("list-before")), waiting("check")
ENDS: dict[str, tuple[Object, tuple[str, str]]] = {
    "out of memory": (
        over(*BEGUN, ended("list-head", 137, reason="OOMKilled"), NOT_BEGUN),
        ("Failed", "OutOfMemory"),
    ),
    "no shell": (
        over(ended("checkout"), ended("list-before", 128, reason="StartError"), NOT_BEGUN),
        ("Errored", "ToolMissing"),
    ),
    "too slow": (
        over(*BEGUN, slow("list-head"), NOT_BEGUN, reason="DeadlineExceeded"),
        ("TimedOut", "Timeout"),
    ),
    "evicted": (
        over(*BEGUN, ended("list-head", 137), NOT_BEGUN, reason="Evicted"),
        ("Failed", "ResourceLimit"),
    ),
    "disrupted": (over(*BEGUN, NOT_BEGUN, disrupted=True), ("Errored", "Disrupted")),
    "silent": (over(*BEGUN, ended("check")), ("Errored", "NoVerdict")),
    "broken": (over(*BEGUN, failed("check", "InternalError")), ("Errored", "InfrastructureError")),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_pod_that_compared_nothing_has_a_verdict_of_its_own(end: str) -> None:
    pod, expected = ENDS[end]
    gate = spec("security_scan")

    found = base.told_of_both(gate, job("work-s1-security-scan-0", pod), None, NOW)

    assert (found.verdict, found.reason) == expected


LEFT_OUT = (waiting("list-head"), NOT_BEGUN)
OF_THE_BASE: dict[str, tuple[Object, tuple[str, str]]] = {
    "out of memory": (
        over(ended("checkout"), ended("list-before", 137, reason="OOMKilled"), *LEFT_OUT),
        ("Errored", "OutOfMemory"),
    ),
    "too slow": (
        over(ended("checkout"), slow("list-before"), *LEFT_OUT, reason="DeadlineExceeded"),
        ("Skipped", "BaseFails"),
    ),
    "so slow that the work had no time left": (
        over(
            *(ended("checkout"), ended("list-before", after=100_000)),
            *(ended("list-head", 137, after=5), NOT_BEGUN),
            reason="DeadlineExceeded",
        ),
        ("Skipped", "BaseFails"),
    ),
    "so slow that nothing was compared": (
        over(
            *(ended("checkout"), ended("list-before", after=100_000)),
            *(ended("list-head", after=5), ended("check", 137)),
            reason="DeadlineExceeded",
        ),
        ("Skipped", "BaseFails"),
    ),
    "evicted": (
        over(ended("checkout"), ended("list-before", 137), *LEFT_OUT, reason="Evicted"),
        ("Errored", "ResourceLimit"),
    ),
    "started late": (
        over(
            *(ended("checkout", 143), waiting("list-before"), *LEFT_OUT), reason="DeadlineExceeded"
        ),
        ("Errored", "StartedLate"),
    ),
    "started so late that the work had no time left": (
        over(*BEGUN, ended("list-head", 137, after=5), NOT_BEGUN, reason="DeadlineExceeded"),
        ("Errored", "StartedLate"),
    ),
}


@pytest.mark.parametrize("end", OF_THE_BASE)
def test_what_the_base_takes_is_never_the_works_to_answer_for(end: str) -> None:
    pod, expected = OF_THE_BASE[end]
    project = ruled("coverage_delta")

    status = decide(job(name_of(project), pod), project=project).status

    assert (status.state, status.attempt) == ("Done", 1)
    assert status.verification is not None
    (result,) = status.verification.checks
    assert (result.verdict, result.reason) == expected


def test_a_base_that_is_too_slow_excuses_nothing() -> None:
    """The work was not judged, so nobody can say that it fails in the same way."""
    project = ruled("coverage_delta", base_failures=True)
    pod, _ = OF_THE_BASE["too slow"]

    status = decide(job(name_of(project), pod), project=project).status

    assert status.verification is not None
    assert status.verification.passed is None
    assert status.waiting is not None
    assert status.waiting.reason == "BaseFails"


def spec(gate: str, **settings: Any) -> CheckSpec:
    (found,) = required.required_checks((), ruled(gate, **settings).spec, CHANGED)
    return found


@pytest.mark.parametrize("end", ["out of memory", "too slow", "evicted"])
def test_of_one_more_hint_what_the_base_takes_keeps_nothing_back(end: str) -> None:
    check = spec("coverage_delta")
    hint = replace(check, is_hint=True)

    found = base.told_of_both(hint, job("a", OF_THE_BASE[end][0]), None, NOW)

    assert (found.verdict, found.reason) == ("Skipped", "NoBaseline")
    assert hint.digest == check.digest, "it is the same question"


def test_severity_and_tolerance_are_the_projects_and_part_of_the_question() -> None:
    assert "--severity-level high" in (spec("security_scan").command or "")
    assert "--severity-level low" in (spec("security_scan", severity="low").command or "")
    assert spec("security_scan", severity="low").digest != spec("security_scan").digest
    assert spec("security_scan", severity="high").digest == spec("security_scan").digest
    assert spec("complexity_check").tolerance == 20
    assert spec("complexity_check", tolerance=50).tolerance == 50
    assert spec("complexity_check", tolerance=50).digest != spec("complexity_check").digest


def test_the_database_is_the_projects_and_part_of_the_question() -> None:
    own = {"url": "https://osv.example/v1/query"}
    private = {**own, "ca": {"name": "osv-ca"}}

    asked = [spec("dep_audit", database=each) for each in (own, private)]

    assert spec("dep_audit").database is None
    assert [each.database for each in asked] == [
        Database("PIP_AUDIT_OSV_URL", own["url"]),
        Database("PIP_AUDIT_OSV_URL", own["url"], ("osv-ca", "ca.crt")),
    ]
    assert len({spec("dep_audit").digest, *(each.digest for each in asked)}) == 3


def test_the_share_of_faults_is_the_projects_and_part_of_the_question() -> None:
    assert spec("mutation_testing").least == 0.5
    assert spec("agent_test_mutation").least == 0.7
    assert spec("mutation_testing", minimumScore=0.0).least == 0
    assert spec("mutation_testing", minimumScore=0.0).digest != spec("mutation_testing").digest
    assert spec("complexity_check").least is None


def test_faults_are_tried_with_the_tests_of_the_project() -> None:
    tests = {"name": "tests", "command": "make 'all tests'"}
    project = objects.project(gates={"pipeline": [tests, {"name": "mutation_testing"}]})

    *_, found = required.required_checks((), project.spec, CHANGED)

    assert found.command is not None
    assert shlex.split(found.command)[-2:] == ["code", "make 'all tests'"]
    assert found.tool == "mutants"
    assert found.digest != spec("mutation_testing").digest


@pytest.mark.parametrize("gate", ["security_scan", "complexity_check", "mutation_testing"])
def test_a_command_of_the_projects_own_judges_by_its_exit_code_alone(gate: str) -> None:
    own = spec(gate, command="make check")

    assert (own.command, own.against_base, own.tolerance) == ("make check", False, None)
    (run,) = asked(decide(project=ruled(gate, command="make check")))
    assert (run.base, run.compares) == (None, False)
