"""Work is formatted before it is judged, and judged whatever becomes of that."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.api.pod import Changed
from bernstein.api.programs.formatting import FormatResult, Told
from bernstein.api.programs.merge import PrepareResult
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.verification import Formatting, Origin, Verification
from bernstein.core.actions import DeleteJobs, RunCheck, RunFence, RunFormat, TaskDecision
from bernstein.core.delivery import attestation
from bernstein.core.jobs import JobView
from bernstein.core.verification.candidate import candidate, origin_of
from bernstein.core.verification.expected import plan as whole
from tests.unit.core import objects
from tests.unit.core.objects import BASE, HEAD, TREE, done, sha, snapshot, verification
from tests.unit.core.tasks.decisions import CANCEL, after, decide

JOB = "work-s1-auto-format-0u11"
FORMATS: dict[str, Any] = {"name": "auto_format"}
REF = verification().ref
TO = f"{REF}-formatted"
NEW = FormatResult(
    BASE, sha(71), sha(72), Told("Passed", "", "1 file formatted"), Changed(files=2, tests=True)
)


def project(*more: dict[str, Any], **settings: Any) -> Project:
    return objects.project(gates={"pipeline": [FORMATS | settings, *more]})


ASKS = project({"name": "pii_scan", "enabled": False})


def wanted(**more: Any) -> TaskStatus:
    return done(verification=verification(formatting=Formatting(), **more))


def look(
    *jobs: JobView, status: TaskStatus | None = None, under: Project = ASKS, **spec: Any
) -> TaskDecision:
    subject = objects.task(status=status or wanted(), **spec)
    return decide(snapshot(subject, project=under, jobs=jobs))


def said(result: FormatResult = NEW) -> JobView:
    return objects.result_job(JOB, "format", result)


def judged(decision: TaskDecision) -> Verification:
    found = decision.status.verification
    assert found is not None
    return found


def formatting(decision: TaskDecision) -> Formatting:
    found = judged(decision).formatting
    assert found is not None
    return found


def test_work_is_to_be_formatted_as_soon_as_its_agent_has_ended() -> None:
    ended = objects.dead(work=objects.work())
    subject = objects.task(status=objects.with_session(TaskState.IN_PROGRESS))

    found = decide(snapshot(subject, project=ASKS, sessions=(ended,))).status

    assert found.state is TaskState.DONE
    assert found.verification is not None
    assert found.verification.formatting == Formatting()


def test_nothing_is_said_of_formatting_where_no_project_asks_for_it() -> None:
    found = after(objects.dead(work=objects.work()))

    assert found.verification is not None
    assert found.verification.formatting is None


def test_the_job_comes_before_every_check() -> None:
    (action,) = look().actions

    assert isinstance(action, RunFormat)
    assert (action.job, action.ref, action.sha, action.base) == (JOB, REF, HEAD, BASE)
    assert action.to == TO
    assert action.message.startswith("Do work\n\n")
    assert action.message.endswith(f"\nBernstein-Formatted-From: {HEAD}\n")
    assert "ruff.toml" in action.check.pinned


def test_the_projects_own_command_is_what_runs() -> None:
    own = {"command": "make format", "image": "node:1", "timeoutSeconds": 30, "paths": ["web/**"]}

    (action,) = look(under=project(**own)).actions

    assert isinstance(action, RunFormat)
    check = action.check
    assert (check.command, check.image, check.timeout) == ("make format", "node:1", 30)
    assert check.paths == ("web/**",)


def test_while_the_job_is_at_work_nothing_is_judged() -> None:
    found = look(objects.job(JOB, objects.pod(objects.running("format"))))

    assert found.actions == ()
    assert found.requeue_after is not None
    assert judged(found).sha == HEAD


def test_what_was_formatted_is_judged_in_place_of_what_the_session_left() -> None:
    found = judged(look(said()))

    assert (found.sha, found.tree, found.ref, found.base) == (sha(71), sha(72), TO, BASE)
    assert (found.files_changed, found.tests_changed, found.python_changed) == (2, True, False)
    assert found.formatting is not None
    assert found.formatting.work == Origin(ref=REF, sha=HEAD)
    assert (found.formatting.verdict, found.round) == ("Passed", 0)


def test_then_its_checks_are_asked_of_that_commit() -> None:
    once = look(said())

    (action,) = look(said(), status=once.status).actions

    assert isinstance(action, RunCheck)
    assert (action.check.name, action.sha, action.ref) == ("lint", sha(71), TO)


def test_its_verdict_is_told_with_the_others_and_required_by_nobody() -> None:
    once = look(said()).status
    lint = objects.checked("work-s1-lint-0")

    found = judged(look(said(), lint, status=once))

    verdicts = {c.name: (c.verdict, c.required) for c in found.checks}
    assert verdicts == {"auto_format": ("Passed", False), "lint": ("Passed", True)}
    assert found.passed is True


@pytest.mark.parametrize(
    ("job", "verdict", "reason"),
    [
        (
            said(FormatResult(BASE, HEAD, TREE, Told("Failed", "FormatRefused", "too much"))),
            "Failed",
            "FormatRefused",
        ),
        (
            objects.job(JOB, objects.over(objects.failed("format", "CredentialRefused"))),
            "Errored",
            "CredentialRefused",
        ),
        (
            objects.job(
                JOB,
                objects.over(
                    objects.failed("checkout", "RepositoryUnreachable"),
                    objects.waiting("format"),
                ),
            ),
            "Errored",
            "RepositoryUnreachable",
        ),
        (
            objects.job(
                JOB,
                objects.over(
                    objects.failed("collect", "SnapshotTooLarge"), objects.waiting("format")
                ),
            ),
            "Errored",
            "SnapshotTooLarge",
        ),
        (
            objects.job(
                JOB,
                objects.over(
                    objects.ended("formatter", 137, reason="OOMKilled"), objects.waiting("format")
                ),
            ),
            "Failed",
            "OutOfMemory",
        ),
        (
            objects.job(JOB, objects.over(objects.waiting("format"), reason="DeadlineExceeded")),
            "TimedOut",
            "Timeout",
        ),
        (
            objects.job(JOB, objects.over(objects.ended("format", 143), disrupted=True)),
            "Errored",
            "Disrupted",
        ),
        (objects.result_job(JOB, "format", "no JSON"), "Errored", "InfrastructureError"),
        (said(FormatResult("f" * 40, HEAD, TREE, Told("Passed"))), "Errored", "NoVerdict"),
        (said(FormatResult(BASE, "main", TREE, Told("Passed"))), "Errored", "NoVerdict"),
        (said(FormatResult(BASE, HEAD, TREE, Told("Fine"))), "Errored", "NoVerdict"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_whatever_becomes_of_it_the_work_is_judged(job: JobView, verdict: str, reason: str) -> None:
    found = look(job)

    assert (formatting(found).verdict, formatting(found).reason) == (verdict, reason)
    assert (judged(found).sha, judged(found).ref) == (HEAD, REF)
    assert formatting(found).work is None
    (action,) = look(job, status=found.status).actions
    assert isinstance(action, RunCheck)
    assert action.sha == HEAD


def test_one_that_does_not_start_is_given_up_and_waited_for() -> None:
    stuck = objects.pod(
        objects.waiting("format", "ImagePullBackOff", "no such image"), phase="Pending"
    )

    found = look(objects.job(JOB, stuck))

    assert [type(action) for action in found.actions] == [DeleteJobs]
    assert formatting(found).verdict is None
    assert formatting(found).abandoned is not None

    gone = look(status=found.status)
    assert (formatting(gone).verdict, formatting(gone).reason) == ("Errored", "ImagePullFailed")


def test_no_changed_path_that_it_is_for_is_no_error() -> None:
    none = objects.over(objects.failed("checkout", "ConditionNotMet"), objects.waiting("format"))

    found = look(objects.job(JOB, none), under=project(paths=["web/**"]))

    assert (formatting(found).verdict, formatting(found).reason) == ("Skipped", "ConditionNotMet")


def test_where_nobody_asks_any_more_its_job_is_ended_and_the_work_judged() -> None:
    at_work = objects.job(JOB, objects.pod(objects.running("format")))

    found = look(at_work, under=project(enabled=False))

    assert [type(action) for action in found.actions] == [DeleteJobs]
    assert judged(found).formatting is None


def test_who_asks_only_later_is_told_that_it_was_too_late() -> None:
    lint = objects.checked("work-s1-lint-0")

    found = judged(look(lint, status=done()))

    skipped = next(check for check in found.checks if check.name == "auto_format")
    assert (skipped.verdict, skipped.reason) == ("Skipped", "NotFormatted")
    assert found.passed is True


def test_nothing_more_is_formatted_where_the_work_is_verified_once_more() -> None:
    request = {"id": "r-1", "verb": "Verify", "by": "ann", "reason": "once more"}
    before = look(said()).status

    found = look(said(), status=before, requests=[request])

    assert judged(found).sha == sha(71)
    assert formatting(found).verdict == "Passed"


def test_a_candidate_says_what_was_formatted_before_it_was_made() -> None:
    form = Formatting(verdict="Passed", work=Origin(ref=REF, sha=HEAD))
    passed = verification(
        sha=sha(71), ref=TO, formatting=form, passed=True, checks=[objects.gate("lint")]
    )
    result = PrepareResult(sha(3), sha(4), sha(5), Changed(files=1))
    made = candidate(passed, result, origin_of(passed), "refs/c")

    assert made.formatting == form
    assert made.origin == Origin(ref=TO, sha=sha(71))


def test_a_plan_as_a_whole_is_not_formatted() -> None:
    subject = objects.plan_snapshot(objects.plan(), project=ASKS)

    assert "auto_format" not in {check.name for check in whole.specs_of(subject)}


def test_a_cancel_takes_the_name_of_a_job_that_may_still_come() -> None:
    found = look(cancel=CANCEL)

    assert RunFence(JOB) in found.actions
    assert found.status.state is TaskState.DONE


def test_what_landed_tells_which_commit_it_was_made_of() -> None:
    form = Formatting(verdict="Passed", work=Origin(ref=REF, sha=HEAD))
    status = done(verification=verification(sha=sha(71), formatting=form, passed=True))
    plain = done(verification=verification(passed=True))

    of = snapshot(objects.task(status=status), project=ASKS)
    told = json.loads(attestation.of_task(of, status))
    without = json.loads(attestation.of_task(of, plain))

    (named,) = [value for value in told.values() if isinstance(value, dict) and "checks" in value]
    assert named["formattedFrom"] == HEAD
    assert "formattedFrom" not in json.dumps(without)
