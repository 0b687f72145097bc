"""What a Plan delivers is judged as a whole where no Task was verified on it."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.core.actions import (
    DeleteJobs,
    PlanDecision,
    RunCheck,
    RunLand,
)
from bernstein.core.jobs import JobView
from bernstein.core.reasons.limits import MAX_GATE_ERRORS
from bernstein.core.reasons.waits import PROBE_SECONDS, SOON_SECONDS
from bernstein.core.verification.summary import digest
from tests.unit.core import objects
from tests.unit.core.delivery.plans import (
    INTEGRATION,
    ONTO,
    TASKS,
    look,
    prepared,
    step,
)
from tests.unit.core.objects import (
    BASE,
    at,
    checked,
    ended,
    failed,
    job,
    over,
    pod,
    running,
    sha,
    stalled_for,
    told,
    waiting,
)
from tests.unit.core.verification.comparisons import compared

CANCEL = {"reason": "not needed"}


def judging(*ends: JobView, **more: Any) -> PlanDecision:
    """A look at the checks of the candidate, which end like this."""
    return look(look(step("Preparing"), prepared()).status, *ends, **more)


def test_a_check_whose_pod_cannot_start_is_named_and_tried_again_after_a_while() -> None:
    stuck = job("web-lint-0", pod(waiting("check", "ImagePullBackOff"), phase="Pending"))

    given_up = judging(stuck)
    assert given_up.actions == (DeleteJobs((stuck,)),)
    over_ = objects.over(waiting("check", "ImagePullBackOff"), phase="Failed", deleting=True)
    held = look(given_up.status, job("web-lint-0", over_))

    assert stalled_for(held.status.conditions) == "GateErrored"
    assert look(held.status, now=SOON_SECONDS - 1).actions == ()
    (lint,) = look(held.status, now=SOON_SECONDS).actions
    assert isinstance(lint, RunCheck)
    assert lint.job == "web-lint-1"


def test_a_check_of_the_whole_that_ran_out_of_memory_is_run_once_more() -> None:
    oom = objects.check_pod(137, reason="OOMKilled")

    again = judging(job("web-lint-0", oom)).status
    assert stalled_for(again.conditions) is None
    found = look(again, job("web-lint-1", oom)).status

    assert stalled_for(found.conditions) == "GateFailed"


NEW = compared("web-lint-0b")


def test_a_whole_that_was_refused_is_judged_again_when_the_project_has_changed() -> None:
    refused = judging(checked("web-lint-0", 1), NEW).status
    assert stalled_for(refused.conditions) == "GateFailed"
    assert look(refused, now=9 * PROBE_SECONDS).actions == ()

    again = look(refused, project=objects.project(generation=2)).status

    assert again.verification is not None
    assert (again.verification.passed, again.verification.round) == (None, 1)
    assert stalled_for(again.conditions) is None


@pytest.mark.parametrize(
    ("name", "code", "verified", "reason"),
    [
        (None, 0, ("True", "ChecksPassed"), None),
        ("lint", 1, ("False", "GateFailed"), "GateFailed"),
        ("signal-0", 1, ("False", "SignalFailed"), "SignalFailed"),
        ("lint", 127, ("False", "GateErrored"), "GateErrored"),
    ],
)
def test_how_the_whole_was_judged_is_told_as_of_a_task(
    name: str | None, code: int, verified: tuple[str, str], reason: str | None
) -> None:
    signal = {"type": "test_passes", "command": "make test"}
    last = objects.task("t2", status=TASKS[1].status, completion_signals=[signal])
    tasks = (TASKS[0], last)
    ready = look(step("Preparing"), prepared(), tasks=tasks).status
    runs = [run for run in look(ready, tasks=tasks).actions if isinstance(run, RunCheck)]
    ends = [checked(run.job, code if run.check.name == name else 0) for run in runs]

    found = look(ready, *ends, NEW, tasks=tasks).status

    assert told(found.conditions)["Verified"] == verified
    assert stalled_for(found.conditions) == reason


def drained(check: int) -> JobView:
    return job(f"web-lint-{check}", over(ended("check", 143), disrupted=True))


def test_a_drained_node_under_a_check_of_the_whole_runs_the_checks_again_at_once() -> None:
    again = judging(drained(0)).status

    assert (again.gate_errors, again.hold) == (1, None)
    assert stalled_for(again.conditions) is None
    (lint,) = look(again).actions
    assert isinstance(lint, RunCheck)
    assert lint.job == "web-lint-1"


def test_checks_of_the_whole_that_are_drained_again_and_again_need_a_person() -> None:
    found = judging(drained(0)).status
    for number in range(1, MAX_GATE_ERRORS):
        found = look(found, drained(number)).status
        assert stalled_for(found.conditions) is None
    found = look(found, drained(MAX_GATE_ERRORS)).status

    assert stalled_for(found.conditions) == "GateErrored"
    assert look(found, now=9 * PROBE_SECONDS).actions == ()
    mended = look(found, project=objects.project(generation=2)).status
    assert (mended.gate_errors, stalled_for(mended.conditions)) == (0, None)


@pytest.mark.parametrize(("code", "seconds"), [(1, None), (127, PROBE_SECONDS)])
def test_how_long_checks_of_the_whole_wait_is_in_the_table_of_failures(
    code: int, seconds: int | None
) -> None:
    held = judging(checked("web-lint-0", code)).status.waiting

    waits = held is not None and held.reason == "GateErrored"
    assert waits == (seconds is not None)
    assert seconds is None or (held and held.until) == at(seconds)


def test_the_verdicts_on_the_whole_have_a_digest() -> None:
    passed = judging(checked("web-lint-0")).status.verification

    assert passed is not None
    assert passed.passed is True
    assert passed.digest == digest(passed.base, passed.sha, passed.tree, passed.checks)


def test_a_drained_node_under_a_landing_is_read_by_another_job_at_once() -> None:
    lost = job("web-land-1", over(ended("land", 143), disrupted=True))

    again = look(step("Landing"), lost).status

    assert stalled_for(again.conditions) is None
    (land,) = look(again).actions
    assert isinstance(land, RunLand)
    assert land.job == "web-land-2"


# --- the Project asks for more ------------------------------------------------------------------

OWN = {"name": "own", "command": "true", "image": "own:1"}
STRICTER = objects.project(gates={"pipeline": [OWN, {"name": "pii_scan", "enabled": False}]})
PASSED = (checked("web-lint-0"), checked("web-own-0"))


def test_a_gate_that_came_after_the_tasks_were_closed_judges_the_whole() -> None:
    again = look(project=STRICTER).status
    assert again.verification is not None
    assert (again.verification.ref, again.verification.sha) == (INTEGRATION, sha(2))
    assert again.delivery is None

    names = [i.job for i in look(again, project=STRICTER).actions if isinstance(i, RunCheck)]
    assert names == ["web-lint-0", "web-own-0"]
    passed = look(again, *PASSED, project=STRICTER).status
    begun = look(passed, *PASSED, project=STRICTER).status
    (land,) = look(begun, *PASSED, project=STRICTER).actions
    assert land == RunLand("web-land-1", INTEGRATION, sha(2), sha(1002), ONTO, BASE)


def test_a_merge_that_was_refused_asks_again_what_the_project_wants_by_now() -> None:
    refused = job("web-land-1", over(failed("land", "BranchProtected", "no")))
    held = look(step("Landing"), refused).status

    again = look(held, refused, project=STRICTER, now=PROBE_SECONDS).status

    assert again.verification is not None
    assert again.verification.passed is None
    assert (again.delivery and again.delivery.step) is None


def test_a_gate_that_came_after_a_merge_was_judged_judges_it_again() -> None:
    ready = look(step("Preparing"), prepared()).status
    passed = look(ready, checked("web-lint-0")).status

    again = look(passed, checked("web-lint-0"), project=STRICTER).status

    assert again.verification is not None
    assert (again.verification.passed, again.verification.round) == (None, 1)
    assert (again.delivery and again.delivery.step) is None


# --- a cancel meanwhile ---------------------------------------------------------------------------


def test_a_cancelled_plan_ends_its_own_checks_and_waits_until_they_do_nothing_more() -> None:
    judged = look(step("Preparing"), prepared()).status
    at_work = job("web-lint-0", pod(running("check")))
    told_to_end = job("web-lint-0", pod(running("check"), deleting=0), deleting=True)
    stopped = job("web-lint-0", over(ended("check", 143), deleting=True), deleting=True)

    asked = look(judged, at_work, cancel=CANCEL)
    waits = look(asked.status, told_to_end, cancel=CANCEL)
    over_ = look(waits.status, stopped, cancel=CANCEL)

    assert DeleteJobs((at_work,)) in asked.actions
    phases = [each.status.phase for each in (asked, waits, over_)]
    assert phases == ["Cancelling", "Cancelling", "Cancelled"]
    assert [each.status.ended_at for each in (asked, waits)] == [None, None]
    assert not [action for action in waits.actions if isinstance(action, RunCheck)]
