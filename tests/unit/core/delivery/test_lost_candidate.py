"""A candidate that is not at its ref any more: another one is made, of the same work."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.pod import Changed
from bernstein.api.programs.merge import LandResult, PrepareResult
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import RunLand, RunPrepare, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.reasons.limits import MAX_INFRASTRUCTURE_FAILURES
from bernstein.core.reasons.waits import MAX_RETRY_AFTER_SECONDS
from tests.unit.core import objects
from tests.unit.core.delivery import plans
from tests.unit.core.delivery.tasks import (
    CANDIDATE,
    INTEGRATION,
    PREPARING,
    prepared,
    step,
    verified,
)
from tests.unit.core.delivery.tasks import look as look_at
from tests.unit.core.objects import (
    COMPARED,
    HEAD,
    TIP,
    failed,
    job,
    over,
    result_job,
    sha,
    stalled_for,
)

SESSION = "refs/bernstein/1111222233334444/work/s1"
LATER = 1000.0


def look(status: TaskStatus, *jobs: JobView, tip: str = TIP, **more: Any) -> TaskDecision:
    """Another Task has landed meanwhile: the Plan's tip is not the one the agent worked on."""
    return look_at(status, *jobs, tip=tip, **more)


def judged(**more: Any) -> TaskStatus:
    """A candidate that the checks look at."""
    found = look(verified(PREPARING, verification={"base": sha(1)}), prepared(**more)).status
    assert found.verification is not None
    assert found.verification.passed is None
    return found


def passed() -> TaskStatus:
    """A candidate that is about to land."""
    found = look(judged(), objects.checked("work-s1-lint-1")).status
    assert found.delivery is not None
    assert found.delivery.step == "Landing"
    return found


def unchecked(reason: str) -> JobView:
    """The check of a candidate that could not be checked out."""
    return job("work-s1-lint-1", over(failed("checkout", reason, "the ref is elsewhere")))


def made_of(status: TaskStatus, *, now: float = LATER, tip: str = TIP) -> RunPrepare:
    (prepare,) = look(status, now=now, tip=tip).actions
    assert isinstance(prepare, RunPrepare)
    return prepare


@pytest.mark.parametrize("reason", ["RefMoved", "RefNotFound"])
@pytest.mark.parametrize("where", ["judged", "landing"])
def test_it_is_made_anew_of_what_the_session_left(reason: str, where: str) -> None:
    if where == "judged":
        found = look(judged(), unchecked(reason)).status
    else:
        refused = job("work-s1-land-2", over(failed("land", reason, "the ref is elsewhere")))
        found = look(passed(), refused).status
        if reason == "RefNotFound":  # that may be said of the branch, after a push
            read = result_job("work-s1-land-3", "land", LandResult("Moved", TIP))
            found = look(found, read, now=LATER).status

    prepare = made_of(found)

    assert (found.state, found.attempt, found.gate_errors) == (TaskState.DONE, 1, 0)
    assert (prepare.ref, prepare.sha, prepare.candidate) == (SESSION, HEAD, CANDIDATE)
    assert prepare.job != "work-s1-prepare-1"


def test_the_one_made_anew_is_judged_and_lands() -> None:
    lost = look(judged(), unchecked("RefMoved")).status
    assert (lost.delivery and lost.delivery.step) is None
    name = made_of(lost).job

    made = PrepareResult(sha(20), sha(21), sha(22), Changed(2, protected_by=COMPARED))
    new = result_job(name, "prepare", made)
    found = look(lost, new, now=LATER, tip=sha(20)).status
    assert found.verification is not None
    assert (found.verification.sha, found.verification.lost) == (sha(21), None)
    begun = look(found, objects.checked("work-s1-lint-2"), now=LATER, tip=sha(20)).status
    (land,) = look(begun, now=LATER, tip=sha(20)).actions

    assert isinstance(land, RunLand)
    assert (land.sha, land.expect) == (sha(21), sha(20))


def test_on_a_tip_that_moved_once_more_it_is_made_of_what_the_session_left() -> None:
    said = result_job("work-s1-land-2", "land", LandResult("Moved", sha(30)))
    moved = look(passed(), said, tip=sha(30))

    prepare = made_of(moved.status, tip=sha(30))

    assert (prepare.ref, prepare.sha, prepare.candidate) == (SESSION, HEAD, CANDIDATE)


def test_a_tip_that_held_the_change_and_moved_is_no_end() -> None:
    held = judged(sha=TIP)
    assert (held.verification and held.verification.ref) == INTEGRATION

    found = look(held, unchecked("RefMoved")).status

    assert found.state is TaskState.DONE
    assert (made_of(found).ref, made_of(found).candidate) == (SESSION, CANDIDATE)


def test_losses_are_counted_and_after_too_many_it_rests_for_a_day() -> None:
    found = judged().model_copy(update={"infrastructure_failures": MAX_INFRASTRUCTURE_FAILURES - 1})

    last = look(found, unchecked("RefMoved")).status
    assert last.infrastructure_failures == MAX_INFRASTRUCTURE_FAILURES
    assert stalled_for(last.conditions) == "RefMoved"
    assert made_of(last).sha == HEAD

    over_ = look(
        found.model_copy(update={"infrastructure_failures": MAX_INFRASTRUCTURE_FAILURES}),
        unchecked("RefMoved"),
    ).status
    assert look(over_, now=MAX_RETRY_AFTER_SECONDS - 1).actions == ()
    assert made_of(over_, now=MAX_RETRY_AFTER_SECONDS).sha == HEAD


def test_a_required_check_that_said_no_rejects_it_although_it_is_lost() -> None:
    own = {"name": "own", "command": "true", "image": "own:1"}
    stricter = objects.project(gates={"pipeline": [own, {"name": "pii_scan", "enabled": False}]})
    no, base = objects.checked("work-s1-own-1", 1), objects.checked("work-s1-own-1b")

    found = look(judged(), unchecked("RefMoved"), no, base, of=stricter).status

    assert found.state is TaskState.FAILED


def test_a_commit_that_is_no_candidate_is_never_replaced() -> None:
    refused = job("work-s1-land-1", over(failed("land", "RefMoved", "the ref is elsewhere")))

    found = look_at(verified(step("Landing")), refused).status
    again = look_at(found, now=LATER).status

    assert (again.delivery and again.delivery.step) == "Landing"


def test_a_candidate_that_does_not_say_what_it_was_made_of_is_kept() -> None:
    found = judged()
    assert found.verification is not None
    old = found.verification.model_copy(update={"origin": None})

    held = look(found.model_copy(update={"verification": old}), unchecked("RefMoved")).status

    assert held.verification is not None
    assert (held.verification.lost, held.gate_errors) == (None, 1)


# --- of a Plan ----------------------------------------------------------------------------------


def test_a_plans_candidate_is_made_anew_of_its_integration_ref() -> None:
    ready = plans.look(plans.step("Preparing"), plans.prepared()).status
    gone = job("web-lint-0", over(failed("checkout", "RefMoved", "the ref is elsewhere")))

    lost = plans.look(ready, gone).status
    assert stalled_for(lost.conditions) == "RefMoved"
    (prepare,) = plans.look(lost, now=LATER).actions

    assert isinstance(prepare, RunPrepare)
    assert (prepare.job, prepare.ref, prepare.sha) == (
        "web-prepare-2",
        plans.INTEGRATION,
        sha(2),
    )
    assert prepare.merge


def test_a_plans_candidate_that_cannot_land_is_made_anew() -> None:
    ready = plans.look(plans.step("Preparing"), plans.prepared()).status
    begun = plans.look(plans.look(ready, objects.checked("web-lint-0")).status).status
    assert begun.delivery == Delivery(
        state="Pending", step="Landing", onto=plans.ONTO, round=2, tip=TIP
    )
    refused = job("web-land-2", over(failed("land", "RefMoved", "the ref is elsewhere")))

    lost = plans.look(begun, refused).status
    (prepare,) = plans.look(lost, now=LATER).actions

    assert isinstance(prepare, RunPrepare)
    assert (prepare.job, prepare.sha) == ("web-prepare-3", sha(2))
