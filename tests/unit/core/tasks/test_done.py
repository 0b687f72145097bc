"""Work that is reported done is verified, and lands, or does not."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.states import TaskState
from bernstein.api.verification import RejectedWork
from bernstein.core.actions import RunCheck
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from tests.unit.core import objects
from tests.unit.core.objects import done, sha, snapshot, stalled_for, told, verification
from tests.unit.core.tasks.decisions import ATTEMPTS, decide
from tests.unit.core.verification.comparisons import compared

NO_PROJECT = Diagnosis("ProjectNotFound", "no Project")


def lint(code: int) -> tuple[JobView, ...]:
    """The gate's Job; where it fails, also that which finds the same to be new."""
    red = (compared("work-s1-lint-0b"),) if code else ()
    return (objects.checked("work-s1-lint-0", code, said="F401"), *red)


def test_a_done_task_asks_for_its_checks() -> None:
    decision = decide(snapshot(objects.task(status=done())))

    assert [type(i) for i in decision.actions] == [RunCheck]
    assert decision.status.state is TaskState.DONE


def test_a_rejected_tree_fails_the_attempt_with_the_verdict_as_feedback() -> None:
    subject = objects.task(status=done(attempts=ATTEMPTS[:1]))

    found = decide(snapshot(subject, jobs=lint(1))).status

    assert (found.state, found.attempt) == (TaskState.FAILED, 1)
    assert "Quality gate 'lint' Failed" in (found.feedback or "")
    assert "F401" in (found.feedback or "")
    assert found.attempts[-1].reason == "GateFailed"
    assert told(found.conditions)["Verified"] == ("False", "GateFailed")
    judged = verification()
    assert found.rejected == RejectedWork(ref=judged.ref, sha=judged.sha)


def test_of_a_candidate_that_is_rejected_the_sessions_own_work_is_kept() -> None:
    origin = {"ref": "refs/bernstein/1/work/s1", "sha": sha(7)}
    judged = verification(candidate=True, origin=origin)

    found = decide(snapshot(objects.task(status=done(verification=judged)), jobs=lint(1))).status

    assert found.rejected == RejectedWork(**origin)


def test_the_last_attempt_that_is_rejected_needs_a_person() -> None:
    found = decide(snapshot(objects.task(status=done(), maxRetries=0), jobs=lint(1))).status

    assert stalled_for(found.conditions) == "GateFailed"


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        (
            {"project": None, "project_problem": NO_PROJECT},
            "ProjectNotFound",
        ),
        ({"plan": None}, "PlanGone"),
    ],
)
@pytest.mark.parametrize("passed", [None, True])
def test_work_of_a_task_without_plan_or_project_lands_nowhere(
    gone: dict[str, Any], reason: str, passed: bool | None
) -> None:
    judged = verification(passed=passed)
    subject = objects.task(status=done(verification=judged))

    decision = decide(snapshot(subject, jobs=lint(0), **gone))

    assert decision.actions == ()
    assert decision.status.state is TaskState.DONE
    assert stalled_for(decision.status.conditions) == reason
