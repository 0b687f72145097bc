"""A person decides whether verified work lands."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.approval import Approval
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import conditions
from bernstein.core.actions import CreateApproval, RunLand, RunPrepare, TaskDecision
from bernstein.core.fsm import is_final
from tests.unit.core import objects, scheduled
from tests.unit.core.approvals.asked import ANN, BEN, DIGEST, LONG, asking, decided, known, made
from tests.unit.core.delivery.tasks import PREPARING, step, verified
from tests.unit.core.objects import COMPARED, HEAD, NOW, at, sha, snapshot, told

WORK = {"digest": DIGEST, "protected_by": COMPARED}
ATTEMPT = {"session": "work-s1", "attempt": 1, "counted": True, "reason": "Succeeded"}


def done(**more: Any) -> TaskStatus:
    return verified(verification=WORK | more, attempts=(ATTEMPT,))


def look(
    status: TaskStatus,
    *approvals: Approval,
    of: Project | None = None,
    now: float = 0,
    plan: Plan | None = None,
    **spec: Any,
) -> TaskDecision:
    subject = objects.task(status=status, **spec)
    given = snapshot(
        subject,
        project=of or asking(),
        approvals=known(*approvals),
        plan=plan or objects.plan(),
    )
    return scheduled.decide(given, at(now))


def pending(**more: Any) -> TaskStatus:
    """The status of a Task that asks."""
    return look(done(), **more).status


def approval(**more: Any) -> Approval:
    """What the Task asks."""
    return made(look(pending(**more), **more))


def test_verified_work_waits_for_a_person_where_the_policy_says_so() -> None:
    decision = look(done())

    found = decision.status
    assert (found.state, decision.actions) == (TaskState.PENDING_APPROVAL, ())
    assert told(found.conditions)["Reconciling"] == ("True", "AwaitingApproval")
    assert conditions.find(found.conditions, "Stalled") is None
    assert found.approval is not None
    assert (found.approval.asks.sha, found.approval.asks.digest) == (HEAD, DIGEST)


def test_without_a_policy_it_lands_as_ever() -> None:
    found = look(done(), of=objects.project()).status

    assert (found.state, found.approval) == (TaskState.DONE, None)


CI = {"protected": ".github/workflows/ci.yml"}


def test_a_change_of_a_protected_path_waits_for_a_person_without_a_policy() -> None:
    found = look(done(**CI), of=objects.project())

    assert found.status.state is TaskState.PENDING_APPROVAL
    assert found.status.approval is not None
    assert found.status.approval.because == (f"it changes a protected path: '{CI['protected']}'",)
    approval = made(look(found.status, of=objects.project()))
    approved = look(found.status, decided(approval, "Approve"), of=objects.project()).status
    assert approved.state is TaskState.DONE


def test_a_project_that_protects_no_path_has_nobody_asked() -> None:
    found = look(done(**CI), of=objects.project(protectedPaths=[])).status

    assert (found.state, found.approval) == (TaskState.DONE, None)


def test_its_author_does_not_approve_a_change_of_a_protected_path() -> None:
    rules = objects.project(approval={"approverIsNotAuthor": True})

    asked = look(done(**CI), of=rules, plan=objects.plan(author=ANN)).status
    nobodys = look(done(**CI), of=rules).status

    assert asked.approval is not None
    assert asked.approval.asks.not_by == ANN
    assert told(nobodys.conditions)["Stalled"] == ("True", "AuthorMissing")


def test_what_changes_nothing_lands_nothing_and_needs_nobody() -> None:
    found = look(done(sha=objects.BASE)).status

    assert found.state is TaskState.CLOSED


def test_what_is_asked_stands_in_the_status_before_there_is_an_approval() -> None:
    asks = look(pending())

    (action,) = asks.actions
    assert isinstance(action, CreateApproval)
    asked = asks.status.approval
    assert asked is not None
    assert action.approval["metadata"]["name"] == asked.name
    (owner,) = action.approval["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Task", "work", True)


def test_an_approval_that_is_there_is_not_made_again() -> None:
    first = approval()

    assert look(pending(), first).actions == ()


def test_one_that_is_deleted_undecided_is_asked_again_under_the_same_name() -> None:
    assert made(look(pending())).metadata.name == approval().metadata.name


def test_approved_work_goes_on_to_land_by_the_person_who_said_so() -> None:
    found = look(pending(), decided(approval(), "Approve")).status

    assert found.state is TaskState.DONE
    assert found.approval is not None
    assert (found.approval.decision, found.approval.by) == ("Approve", ANN)
    assert (found.history[-1].actor, found.history[-1].reason) == (ANN, "Approved")
    assert look(found).status.state is TaskState.DONE


@pytest.mark.parametrize("decision", ["Approve", "Retry", "Reject"])
def test_who_decides_is_named_whole_however_long_the_name_is(decision: str) -> None:
    found = look(pending(), decided(approval(), decision, by=LONG)).status

    assert found.history[-1].actor == LONG


def test_deleting_what_was_decided_changes_nothing() -> None:
    approved = look(pending(), decided(approval(), "Approve")).status

    found = look(approved)

    assert (found.status.state, found.actions) == (TaskState.DONE, ())
    assert found.status.delivery is not None
    assert found.status.delivery.step == "Landing"


def test_rejected_work_is_over() -> None:
    found = look(pending(), decided(approval(), "Reject", reason="not like this")).status

    assert found.state is TaskState.CANCELLED
    assert found.ended_at == NOW
    succeeded = conditions.find(found.conditions, "Succeeded")
    assert succeeded is not None
    assert (succeeded.status, succeeded.reason) == ("False", "Rejected")
    assert succeeded.message == f"rejected by {ANN}: not like this"
    assert found.attempts[-1].reason == "Rejected", "its session has not succeeded either"
    assert found.attempts[-1].message == "A person has rejected it: not like this"


def test_work_that_is_sent_back_is_tried_again_with_the_persons_words() -> None:
    found = look(pending(), decided(approval(), "Retry", reason="use the other library")).status

    assert found.state is TaskState.FAILED
    assert "use the other library" in (found.feedback or "")
    assert found.rejected is not None
    assert found.rejected.sha == HEAD
    assert found.attempts[-1].reason == "Rejected"
    assert not is_final(found, 3)


def test_without_a_retry_left_what_is_sent_back_needs_a_person() -> None:
    sent_back = decided(approval(maxRetries=0), "Retry")

    found = look(pending(maxRetries=0), sent_back, maxRetries=0).status

    assert objects.stalled_for(found.conditions) == "Rejected"
    assert found.ended_at == NOW


@pytest.mark.parametrize(
    "changed",
    [{"sha": sha(5)}, {"base": sha(6)}, {"digest": "e" * 64}],
    ids=lambda c: next(iter(c)),
)
def test_a_decision_about_something_else_has_no_effect(changed: dict[str, Any]) -> None:
    old = decided(approval(), "Approve")

    asks = look(done(**changed)).status
    found = look(asks, old)

    assert found.status.state is TaskState.PENDING_APPROVAL
    assert made(found).metadata.name != old.metadata.name


def test_an_approval_of_another_attempt_has_no_effect() -> None:
    old = decided(approval(), "Approve")

    found = look(look(done().model_copy(update={"attempt": 2})).status, old)

    assert made(found).spec.asks.attempt == 2


def approved(**more: Any) -> TaskStatus:
    return look(pending(**more), decided(approval(**more), "Approve"), **more).status


def moved(before: TaskStatus) -> TaskStatus:
    """The same change was put on a newer base, and has passed there."""
    assert before.verification is not None
    origin = {"ref": before.verification.ref, "sha": before.verification.sha}
    update = {"base": sha(6), "sha": sha(7), "digest": "e" * 64, "candidate": True}
    judged = before.verification.model_dump() | update | {"origin": origin}
    again = verified(
        verification=judged, attempts=(ATTEMPT,), delivery=step("Preparing", tip=sha(6))
    )
    return again.model_copy(update={"approval": before.approval})


def test_on_a_moved_base_a_person_is_asked_again_and_the_turn_is_given_back() -> None:
    found = look(moved(approved())).status

    assert found.state is TaskState.PENDING_APPROVAL
    assert found.delivery is not None
    assert found.delivery.step is None


def test_where_the_policy_keeps_it_the_same_change_goes_on_on_a_moved_base() -> None:
    keeps = asking(movedBase="Keep")

    decision = look(moved(approved(of=keeps)), of=keeps)

    assert decision.status.state is TaskState.DONE


def test_where_the_policy_keeps_it_another_attempts_work_is_asked_about() -> None:
    keeps = asking(movedBase="Keep")
    again = moved(approved(of=keeps)).model_copy(update={"attempt": 2})

    assert look(again, of=keeps).status.state is TaskState.PENDING_APPROVAL


@pytest.mark.parametrize(
    "changed", [{"digest": "e" * 64}, {"sha": sha(5)}], ids=lambda c: next(iter(c))
)
def test_where_the_policy_keeps_it_other_verdicts_on_the_same_base_are_asked_about(
    changed: dict[str, Any],
) -> None:
    keeps = asking(movedBase="Keep")
    before = approved(of=keeps)
    assert before.verification is not None
    judged = before.verification.model_dump() | {"origin": {"ref": "r", "sha": HEAD}} | changed
    again = verified(verification=judged, attempts=(ATTEMPT,))

    found = look(again.model_copy(update={"approval": before.approval}), of=keeps)

    assert found.status.state is TaskState.PENDING_APPROVAL


def test_time_rejects_where_the_policy_says_so_and_never_approves() -> None:
    limited = asking(expiresAfterSeconds=3600)
    waits = look(pending(of=limited), approval(of=limited), of=limited)
    assert waits.requeue_after == 3600

    found = look(waits.status, approval(of=limited), of=limited, now=3600).status

    assert found.state is TaskState.CANCELLED
    assert told(found.conditions)["Succeeded"] == ("False", "ApprovalExpired")


def test_without_a_limit_it_stays_pending_for_ever() -> None:
    found = look(pending(), approval(), now=10**8).status

    assert found.state is TaskState.PENDING_APPROVAL


def test_a_decision_that_is_there_before_it_expires_counts_whenever_it_was_made() -> None:
    """Nothing that only the API server sets says when: whoever decides in time shall lose nothing
    because no operator has led since."""
    limited = asking(expiresAfterSeconds=3600)
    answer = decided(approval(of=limited), "Approve")

    found = look(pending(of=limited), answer, of=limited, now=9999).status

    assert found.state is TaskState.DONE


def test_what_is_decided_after_somebody_has_acted_upon_the_end_does_not_count() -> None:
    limited = asking(expiresAfterSeconds=3600)
    expired = look(pending(of=limited), approval(of=limited), of=limited, now=3600).status
    answer = decided(approval(of=limited), "Approve")

    found = look(expired, answer, of=limited, now=3601).status

    assert found.state is TaskState.CANCELLED
    assert found.approval is not None
    assert found.approval.decision == "Expired"


def test_making_it_again_gives_it_no_more_time() -> None:
    limited = asking(expiresAfterSeconds=3600)

    again = look(pending(of=limited), of=limited, now=3000)

    assert again.requeue_after == 600


def test_a_policy_that_asks_no_more_lets_it_on() -> None:
    found = look(pending(), of=objects.project()).status

    assert (found.state, found.history[-1].reason) == (TaskState.DONE, "ApprovalNotNeeded")
    assert found.approval is None


def test_a_policy_that_became_stricter_is_asked_before_anything_is_pushed() -> None:
    next_ = verified(step("Next"), verification=WORK)

    found = look(next_)

    assert found.status.state is TaskState.PENDING_APPROVAL
    assert not any(isinstance(action, RunLand) for action in found.actions)


def test_while_a_candidate_is_made_nobody_is_asked() -> None:
    """Its Job moves a ref, and would be beside that of the next round."""
    preparing = verified(PREPARING, verification=WORK)

    found = look(preparing)

    assert (found.status.state, found.status.approval) == (TaskState.DONE, None)
    (action,) = found.actions
    assert isinstance(action, RunPrepare)


def test_a_landing_that_was_begun_and_has_no_job_yet_asks_too() -> None:
    landing = verified(step("Landing"), verification=WORK)

    found = look(landing)

    assert not any(isinstance(action, RunLand) for action in found.actions)


STRICT = {"approverIsNotAuthor": True}
BY_ANN = {"author": ANN}


def test_the_author_is_named_as_who_may_not_decide() -> None:
    strict, anns = asking(**STRICT), objects.plan(author=ANN)

    assert approval(of=strict, plan=anns).spec.asks.not_by == ANN


def test_a_decision_of_the_author_has_no_effect() -> None:
    strict, anns = asking(**STRICT), objects.plan(author=ANN)
    by_ann = decided(approval(of=strict, plan=anns), "Approve", by=ANN)
    by_ben = decided(approval(of=strict, plan=anns), "Approve", by=BEN)
    asks = pending(of=strict, plan=anns)

    assert look(asks, by_ann, of=strict, plan=anns).status.state is TaskState.PENDING_APPROVAL
    assert look(asks, by_ben, of=strict, plan=anns).status.state is TaskState.DONE


def test_a_rule_that_comes_and_goes_leaves_a_question_that_can_be_decided() -> None:
    strict, anns = asking(**STRICT), objects.plan(author=ANN)
    by_ben = decided(approval(plan=anns), "Approve", by=BEN)
    asks_else = look(pending(plan=anns), of=strict, plan=anns, now=10).status

    returned = look(asks_else, by_ben, plan=anns, now=20).status
    found = look(returned, by_ben, plan=anns, now=20)

    assert found.status.state is TaskState.PENDING_APPROVAL
    assert made(found).metadata.name != by_ben.metadata.name


def test_where_nobody_knows_the_author_nothing_lands() -> None:
    found = look(done(), of=asking(**STRICT)).status

    assert objects.stalled_for(found.conditions) == "AuthorMissing"
    assert found.state is TaskState.DONE


def test_a_rule_about_authors_that_comes_later_takes_the_question_back() -> None:
    strict, nobodys = asking(**STRICT), objects.plan()
    asks, undecided = pending(plan=nobodys), approval(plan=nobodys)
    yes = decided(undecided, "Approve")

    found = look(asks, yes, of=strict, plan=nobodys).status

    assert (found.state, found.approval) == (TaskState.PENDING_APPROVAL, None)
    assert objects.stalled_for(found.conditions) == "AuthorMissing"
    assert look(found, yes, of=strict, plan=nobodys).status.state is TaskState.PENDING_APPROVAL


def test_once_somebody_stands_for_it_another_one_is_asked_about_its_work() -> None:
    strict = asking(**STRICT)
    without = look(pending(), of=strict).status

    asks = look(without, of=strict, plan=objects.plan(author=ANN)).status
    asked = made(look(asks, of=strict, plan=objects.plan(author=ANN)))

    assert asked.spec.asks.not_by == ANN
    by_ben = decided(asked, "Approve", by=BEN)
    found = look(asks, by_ben, of=strict, plan=objects.plan(author=ANN)).status
    assert found.state is TaskState.DONE


def test_a_cancel_ends_what_waits_for_a_person() -> None:
    found = look(pending(), approval(), cancel={"reason": "not needed"}).status

    assert found.state is TaskState.CANCELLED
    assert told(found.conditions)["Succeeded"] == ("False", "Cancelled")
    assert found.approval is None


def test_what_an_older_release_left_asked_at_its_end_is_asked_no_more() -> None:
    left = pending().model_copy(update={"state": TaskState.CLOSED, "waiting": None})

    assert look(left).status.approval is None


def test_what_was_decided_stays_known_to_the_end() -> None:
    rejected = look(pending(), decided(approval(), "Reject")).status

    assert look(rejected).status.approval == rejected.approval
