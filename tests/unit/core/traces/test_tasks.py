"""Spans of a Task: what its status tells has ended, no more."""

from bernstein.api.states import TaskState
from bernstein.api.task import MOST_MOVES
from bernstein.core.traces.span import span_id, trace_id
from bernstein.core.traces.task import of_task, whole_of
from tests.unit.core import objects
from tests.unit.core.objects import HEAD, PLAN_UID, at, status, task, verification
from tests.unit.core.traces.histories import (
    ONCE,
    TWICE,
    check,
    closed_task,
    moves,
    named,
    one,
    told,
)


def test_a_task_of_a_plan_is_part_of_the_plans_trace() -> None:
    spans = of_task(closed_task())

    whole = one(spans, "task")
    assert (whole.trace_id, whole.parent_id) == (trace_id(PLAN_UID), span_id(PLAN_UID))
    assert (whole.start, whole.end, whole.error) == (at(-60), at(30), None)
    assert {span.trace_id for span in spans} == {trace_id(PLAN_UID)}
    assert {span.parent_id for span in spans if span is not whole} == {whole.span_id}


def test_a_task_that_was_applied_alone_is_a_trace_of_its_own() -> None:
    spans = of_task(closed_task(plan=None))

    assert one(spans, "task").parent_id is None
    assert {span.trace_id for span in spans} == {trace_id("uid-work")}


def test_each_stay_in_a_state_lasts_until_the_next_move() -> None:
    spans = of_task(closed_task())

    stays = [(s.name, s.start, s.end) for s in spans if s.name.startswith("state ")]
    assert stays == [
        ("state Open", at(-60), at(0)),
        ("state Claimed", at(0), at(10)),
        ("state InProgress", at(10), at(20)),
        ("state Done", at(20), at(30)),
    ]
    assert told(one(spans, "state Done"))["bernstein.task.left_because"] == "Because"


def test_a_task_that_is_tried_again_has_the_stays_of_both_attempts() -> None:
    spans = of_task(closed_task(*TWICE))

    assert named(spans).count("state InProgress") == 2
    assert len({span.span_id for span in spans}) == len(spans)


def test_what_goes_on_is_no_span_yet() -> None:
    working = status(TaskState.IN_PROGRESS, history=moves(*ONCE[:2]))

    assert named(of_task(task(status=working))) == ["state Open", "state Claimed"]


def test_a_failed_task_that_is_tried_again_has_not_ended() -> None:
    failed = status(TaskState.FAILED, attempt=1, history=moves(*TWICE[:4]))

    assert "task" not in named(of_task(task(status=failed)))


def test_a_task_without_a_retry_left_ends_with_the_reason_of_its_last_move() -> None:
    failed = status(TaskState.FAILED, attempt=4, history=moves(*TWICE[:4]), ended_at=at(31))

    whole = one(of_task(task(status=failed)), "task")
    assert (whole.end, whole.error) == (at(31), "Because")
    assert told(whole)["bernstein.task.attempts"] == 4


def test_a_cancelled_task_ends_with_its_last_move_where_no_time_is_written_down() -> None:
    cancelled = status(TaskState.CANCELLED, history=moves(TaskState.CANCELLED))

    whole = one(of_task(task(status=cancelled)), "task")
    assert (whole.end, told(whole)["bernstein.task.state"]) == (at(0), "Cancelled")


def test_a_task_that_is_deleted_before_its_end_ends_then() -> None:
    working = task(status=status(TaskState.IN_PROGRESS, history=moves(*ONCE[:2])))

    whole = one(of_task(working, at(40)), "task")
    assert (whole.end, whole.error) == (at(40), "Deleted")
    ended = one(of_task(closed_task(), at(40)), "task")
    assert (ended.end, ended.error) == (at(30), None)


def test_a_task_that_is_over_with_its_plan_says_so() -> None:
    tried = task(status=status(TaskState.OPEN, history=moves(*TWICE[:5])))

    (whole,) = whole_of(tried, at(60), "PlanEnded")
    assert (whole.end, whole.error) == (at(60), "PlanEnded")
    assert whole_of(tried, None, "PlanEnded") == []
    assert whole_of(closed_task(), at(60), "PlanEnded") == [one(of_task(closed_task()), "task")]


def test_its_verification_begins_with_the_first_check_and_names_those_that_passed() -> None:
    verify = one(of_task(closed_task()), "verify")

    assert (verify.start, verify.end, verify.error) == (at(21), at(25), None)
    assert told(verify)["bernstein.checks.passed"] == ("lint", "dlp_scan")
    assert told(verify)["vcs.ref.head.revision"] == HEAD
    assert "bernstein.checks.rejected" not in told(verify)


def test_a_rejected_verification_ends_with_its_last_check_and_names_who_said_no() -> None:
    checks = [
        check("lint", "Failed", ended_at=at(23)),
        check("dlp_scan", "Errored"),
        check("pii_scan", "Skipped"),
    ]
    judged = verification(passed=False, checks=checks)
    failed = status(TaskState.FAILED, attempt=1, history=moves(*TWICE[:4]), verification=judged)

    verify = one(of_task(task(status=failed)), "verify")
    assert (verify.end, verify.error) == (at(23), "Rejected")
    assert told(verify)["bernstein.checks.rejected"] == ("lint", "dlp_scan")


def test_a_verification_stays_as_it_was_whatever_follows() -> None:
    """No check says when it ended: the moves do."""
    states = (*TWICE[:3], TaskState.PENDING_APPROVAL, TaskState.DONE, TaskState.CLOSED)
    judged = verification(passed=True, verified_at=at(28))
    found = {
        one(of_task(task(status=objects.done(history=moves(*way), verification=judged))), "verify")
        for way in (states[:3], states[:4], states[:5], states)
    }
    rejected = {
        one(of_task(task(status=objects.done(history=moves(*way), verification=no))), "verify")
        for no in [verification(passed=False)]
        for way in (TWICE[:4], TWICE[:5], TWICE[:6])
    }

    assert [(each.start, each.end) for each in found] == [(at(20), at(28))]
    assert [(each.start, each.end) for each in rejected] == [(at(20), at(30))]


def test_verdicts_that_were_known_take_no_time() -> None:
    known = check("lint", cached=True, seconds=900, ended_at=at(-800))
    judged = verification(passed=True, verified_at=at(21), checks=[known])
    found = status(TaskState.DONE, history=moves(*ONCE[:3]), verification=judged)

    verify = one(of_task(task(status=found)), "verify")
    assert (verify.start, verify.end) == (at(20), at(21))


def test_work_that_is_still_judged_is_no_span() -> None:
    found = status(TaskState.DONE, history=moves(*ONCE[:3]), verification=verification())

    assert "verify" not in named(of_task(task(status=found)))


def test_the_same_commit_that_is_judged_for_another_attempt_is_another_span() -> None:
    first, second = (
        verification(passed=True, verified_at=at(25), ref=f"refs/bernstein/x/work/s{number}")
        for number in (1, 2)
    )

    ids = {
        one(of_task(task(status=objects.done(verification=each))), "verify").span_id
        for each in (first, second)
    }
    assert len(ids) == 2


def test_its_way_from_a_verified_tree_to_where_it_belongs_is_a_span() -> None:
    land = one(of_task(closed_task()), "land")

    assert (land.start, land.end) == (at(25), at(30))
    assert told(land)["bernstein.delivery.state"] == "Merged"


def test_of_a_history_that_is_full_the_first_stay_is_not_made_up() -> None:
    states = (*(TaskState.CLAIMED, TaskState.OPEN) * (MOST_MOVES // 2),)
    full = task(status=status(TaskState.OPEN, history=moves(*states)))

    assert min(span.start for span in of_task(full)) == at(0)


def test_an_unknown_birth_is_no_span() -> None:
    found = closed_task()
    meta = found.metadata.model_copy(update={"creation_timestamp": None})

    assert of_task(found.model_copy(update={"metadata": meta})) == []
