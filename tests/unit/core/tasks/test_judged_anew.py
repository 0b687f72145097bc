"""Verify and Remerge: the work that is there is judged, or merged, once more."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import DeleteJobs, RunCheck, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.tasks import decide as task_decide
from tests.unit.core import objects, scheduled
from tests.unit.core.delivery.tasks import LANDING, PREPARING, step, verified
from tests.unit.core.objects import (
    NOW,
    Object,
    at,
    checked,
    done,
    held,
    status,
    told,
    verification,
)

FAILED_LINT = objects.gate("lint", "Failed")
STANDS = objects.waits("GateFailed", "no retry is left", needs_person=True)


def asked(before: TaskStatus, verb: str, *jobs: JobView, **more: Any) -> TaskDecision:
    wanted: Object = {"id": "r-1", "verb": verb, "by": "ann", "reason": "the linter is mended"}
    given = {key: more.pop(key) for key in ("project", "project_problem", "plan") if key in more}
    subject = objects.task(status=before, requests=[wanted], **more)
    return task_decide.decide(objects.snapshot(subject, jobs=jobs, **given), at(60))


def answers(found: TaskStatus) -> list[tuple[str, str, str]]:
    return [(answer.id, answer.answer, answer.reason) for answer in found.requests or ()]


def rejected(**more: Any) -> TaskStatus:
    """Failed for good, with work that a gate rejected."""
    judged: Object = {"passed": False, "checks": [FAILED_LINT]}
    fields: Object = {"attempt": 4, "sessions": 1, "session": "work-s1", "waiting": STANDS}
    fields |= {"verification": verification(**judged), "ended_at": NOW}
    return status(TaskState.FAILED, **(fields | more))


# --- Verify, from Done ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    [
        verified(),
        verified(step("Next")),
        verified(waiting=objects.waits("MergeQueue")),
        verified(waiting=held("CredentialRefused", at(300))),
        done(gate_errors=4, waiting=held("GateErrored", None)),
        done(waiting=held("BaseFails", None)),
    ],
    ids=["verified", "next to land", "in line", "not merged", "could not run", "base fails"],
)
def test_done_work_is_judged_anew_without_a_verdict_of_before(before: TaskStatus) -> None:
    found = asked(before, "Verify").status

    judged, was = found.verification, before.verification
    assert judged is not None
    assert was is not None
    assert (judged.passed, judged.checks, judged.digest) == (None, (), None)
    assert (judged.sha, judged.round) == (was.sha, was.round + 1)
    assert (found.state, found.waiting, found.gate_errors) == (TaskState.DONE, None, 0)
    assert found.delivery is None or found.delivery.step is None
    assert answers(found) == [("r-1", "Done", "Verify")]


def test_its_checks_run_again_under_names_of_their_own() -> None:
    anew = asked(verified(), "Verify", checked("work-s1-lint-0")).status

    (run,) = asked(anew, "Verify", checked("work-s1-lint-0")).actions

    assert isinstance(run, RunCheck)
    assert run.job == "work-s1-lint-1"


def test_checks_at_work_end_and_are_run_again() -> None:
    at_work = objects.job("work-s1-lint-0", objects.pod(objects.running("check")))

    found = asked(done(), "Verify", at_work)

    (deleted,) = found.actions
    assert isinstance(deleted, DeleteJobs)
    assert [job.name for job in deleted.jobs] == ["work-s1-lint-0"]


@pytest.mark.parametrize("delivery", [PREPARING, LANDING])
def test_what_is_being_merged_is_not_judged(delivery: Any) -> None:
    before = verified(delivery)

    found = asked(before, "Verify").status

    assert answers(found) == [("r-1", "Refused", "MergeInProgress")]
    assert found.verification == before.verification


@pytest.mark.parametrize(
    "before",
    [
        status(TaskState.OPEN),
        objects.with_session(TaskState.IN_PROGRESS),
        status(TaskState.FAILED, attempt=1, verification=verification(passed=False)),
        status(TaskState.FAILED, attempt=4),
        verified(verification={"lost": True}),
        status(TaskState.PENDING_APPROVAL, attempt=1, verification=verification(passed=True)),
    ],
    ids=["open", "at work", "tried again", "no work", "lost", "a person decides"],
)
def test_without_finished_work_there_is_nothing_to_judge(before: TaskStatus) -> None:
    found = asked(before, "Verify").status

    assert answers(found) == [("r-1", "Refused", "NothingToVerify")]


def test_of_what_a_person_is_asked_about_the_refusal_says_what_comes_next() -> None:
    before = status(TaskState.PENDING_APPROVAL, attempt=1, verification=verification(passed=True))

    (answer,) = asked(before, "Verify").status.requests or ()

    assert "approve or reject it" in answer.message


def test_in_a_plan_that_has_ended_done_work_is_not_judged() -> None:
    over = objects.plan(status=PlanStatus(phase="Cancelled", ended_at=NOW))

    assert answers(asked(verified(), "Verify", plan=over).status) == [
        ("r-1", "Refused", "PlanEnded")
    ]


# --- Verify, from Failed --------------------------------------------------------------------------


def under_way() -> TaskStatus:
    return asked(rejected(), "Verify").status


def test_failed_work_is_judged_and_stays_failed_meanwhile() -> None:
    found = under_way()

    assert found.verification is not None
    assert (found.verification.passed, found.verification.checks) == (None, ())
    assert (found.state, found.ended_at, answers(found)) == (TaskState.FAILED, NOW, [])
    assert told(found.conditions)["Stalled"] == ("True", "GateFailed")
    (run,) = asked(found, "Verify").actions
    assert isinstance(run, RunCheck)
    assert run.job == "work-s1-lint-1"
    going = objects.job("work-s1-lint-1", objects.pod(objects.running("check")))
    assert asked(found, "Verify", going).actions == ()


def test_what_passes_now_is_told_and_nothing_else() -> None:
    found = asked(under_way(), "Verify", checked("work-s1-lint-1")).status

    assert (found.state, found.waiting, found.ended_at) == (TaskState.FAILED, STANDS, NOW)
    assert answers(found) == [("r-1", "Done", "Verify")]
    assert found.requests is not None
    assert "every check passes now" in found.requests[0].message
    assert told(found.conditions)["Verified"] == ("True", "ChecksPassed")
    later = asked(found, "Verify")
    assert (later.status, later.actions) == (found, ())


def test_where_nothing_is_asked_any_more_no_check_is_said_to_pass() -> None:
    off = [{"name": name, "enabled": False} for name in ("lint", "pii_scan")]
    nothing = objects.project(gates={"pipeline": off})

    answer = asked(under_way(), "Verify", project=nothing).status

    assert answer.requests is not None
    assert answer.requests[0].message == (
        "no check is asked for now; it stays Failed until it is retried"
    )


def test_what_is_rejected_again_is_told_with_what_rejected_it() -> None:
    before = under_way()
    base = checked("work-s1-lint-1-base", 0)
    found = asked(before, "Verify", checked("work-s1-lint-1", 1, said="F401"), base)
    for _ in range(3):
        jobs = [checked(a.job, 0) for a in found.actions if isinstance(a, RunCheck)]
        found = asked(found.status, "Verify", checked("work-s1-lint-1", 1, said="F401"), *jobs)
        if answers(found.status):
            break

    assert found.status.state is TaskState.FAILED
    assert answers(found.status) == [("r-1", "Done", "Verify")]
    assert found.status.requests is not None
    assert "it is rejected again" in found.status.requests[0].message
    assert found.status.verification is not None
    assert found.status.verification.passed is False


def test_what_could_not_be_judged_is_refused_with_why_and_stays_rejected() -> None:
    found = asked(under_way(), "Verify", checked("work-s1-lint-1", 127)).status

    assert answers(found) == [("r-1", "Refused", "GateErrored")]
    assert (found.state, found.waiting, found.gate_errors) == (TaskState.FAILED, STANDS, 0)
    assert found.verification is not None
    assert found.verification.passed is False


def test_another_round_ends_it() -> None:
    before = under_way()
    going = objects.job("work-s1-lint-1", objects.pod(objects.running("check")))
    wanted = [
        {"id": f"r-{n}", "verb": verb, "by": "ann", "reason": "x"}
        for n, verb in enumerate(("Verify", "Retry"), 1)
    ]
    subject = objects.task(status=before, requests=wanted)

    found = task_decide.decide(objects.snapshot(subject, jobs=(going,)), at(60))

    assert found.status.state is TaskState.OPEN
    assert answers(found.status) == [("r-2", "Done", "Retry")]
    (deleted,) = found.actions
    assert isinstance(deleted, DeleteJobs)
    after = objects.task(status=found.status, requests=wanted)
    later = task_decide.decide(objects.snapshot(after), at(61)).status
    assert answers(later)[1:] == [("r-1", "Refused", "NothingToVerify")]


# --- Remerge --------------------------------------------------------------------------------------

CONFLICT = step("Preparing").model_copy(update={"state": "Conflict", "step": None})


@pytest.mark.parametrize(
    "before",
    [
        verified(step("x", step=None), waiting=held("CredentialRefused", at(300))),
        verified(step("x", step=None), waiting=held("RefMoved", at(86400))),
        verified(CONFLICT, waiting=held("MergeConflict", None), resolved=True),
        verified(
            step("Landing", may_have_landed=True), waiting=held("InfrastructureError", at(300))
        ),
    ],
    ids=["refused", "lost too often", "in conflict", "in doubt"],
)
def test_a_merge_that_failed_is_tried_again_at_once(before: TaskStatus) -> None:
    found = asked(before, "Remerge").status

    assert (found.state, found.waiting) == (TaskState.DONE, None)
    assert answers(found) == [("r-1", "Done", "Remerge")]
    assert found.verification == before.verification
    assert (found.attempt, found.delivery and found.delivery.state) == (before.attempt, "Pending")


def test_it_goes_the_way_of_every_merge() -> None:
    before = verified(CONFLICT, waiting=held("MergeConflict", None), resolved=True)
    free = asked(before, "Remerge").status
    subject = objects.task(status=free)

    found = scheduled.decide(objects.snapshot(subject), at(61)).status

    assert found.delivery is not None
    assert found.delivery.step in ("Next", "Preparing", "Landing")


def test_one_in_doubt_reads_the_remote_before_anything_is_pushed() -> None:
    doubt = step("Landing", may_have_landed=True)
    free = asked(verified(doubt, waiting=held("PodLost", at(300))), "Remerge").status

    (land,) = asked(free, "Remerge").actions

    assert getattr(land, "expect", "pushes") is None


@pytest.mark.parametrize(
    "before",
    [
        verified(),
        verified(LANDING),
        verified(waiting=objects.waits("MergeQueue")),
        verified(LANDING, waiting=held("CredentialRefused", None)),
        done(waiting=held("GateErrored", at(300))),
        status(TaskState.FAILED, attempt=4),
        status(TaskState.CLOSED),
    ],
    ids=["about to", "landing", "in line", "tried now", "not verified", "failed", "closed"],
)
def test_where_no_merge_has_failed_there_is_nothing_to_merge(before: TaskStatus) -> None:
    found = asked(before, "Remerge").status

    assert answers(found) == [("r-1", "Refused", "NothingToMerge")]
    assert found.state is before.state
