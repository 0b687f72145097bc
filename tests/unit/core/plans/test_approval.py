"""A person decides whether a Plan begins."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.approval import Approval
from bernstein.api.plan import ASKS, NEXT, Plan
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.actions import CancelTasks, CreateApproval, CreateTasks, PlanDecision, RunBegin
from tests.unit.core import objects, scheduled
from tests.unit.core.approvals.asked import ANN, BEN, LONG, asking, decided, known, made
from tests.unit.core.objects import at, plan_snapshot, snapshot, told
from tests.unit.core.plans.decisions import again

ALWAYS = asking(result="Never", plan="Always")


def look(
    subject: Plan, *approvals: Approval, tasks: tuple[Task, ...] = (), now: float = 0, **more: Any
) -> PlanDecision:
    given = {"project": ALWAYS} | more
    return scheduled.decide_plan(
        plan_snapshot(subject, *tasks, approvals=known(*approvals), **given), at(now)
    )


def new(**spec: Any) -> Plan:
    return objects.plan(begun=False, **spec)


def asked(**more: Any) -> Plan:
    """A Plan that asks, before anything was made of it."""
    spec = more.pop("spec", {})
    plan = new(**spec)
    return again(plan, look(plan, **more))


def expanded(**more: Any) -> tuple[Plan, Approval]:
    """The same with its Tasks, and what it asks."""
    spec = more.pop("spec", {})
    plan = asked(spec=spec, **more)
    decision = look(plan, **more)
    return again(plan, decision), made(decision)


def test_what_is_asked_stands_in_the_status_before_a_task_is_made() -> None:
    decision = look(new())

    assert decision.actions == ()
    assert decision.status.approval is not None
    assert decision.status.phase == "PendingApproval"
    assert told(decision.status.conditions)["Reconciling"] == ("True", "AwaitingApproval")


def test_its_tasks_are_made_and_then_the_approval_but_nothing_begins() -> None:
    decision = look(asked())

    assert [type(action) for action in decision.actions] == [CreateTasks, CreateApproval]
    assert decision.status.expanded


def test_tasks_of_a_plan_that_asks_are_planned() -> None:
    plan, _ = expanded()

    found = scheduled.decide(snapshot(objects.task(), plan=plan, project=ALWAYS), at(0)).status

    assert found.state is TaskState.PLANNED


def planned() -> Task:
    return objects.task(status=objects.status(TaskState.PLANNED))


def step(plan: Plan, task: Task, project: Project = ALWAYS) -> Any:
    return scheduled.decide(snapshot(task, plan=plan, project=project), at(0)).status


def test_planned_tasks_wait_for_the_same_person() -> None:
    plan, approval = expanded()

    found = step(plan, planned())

    assert found.state is TaskState.PLANNED
    assert told(found.conditions)["Reconciling"] == ("True", "AwaitingApproval")
    assert approval.metadata.name in found.waiting.message


def test_an_approved_plan_begins_and_its_tasks_are_open() -> None:
    plan, approval = expanded()

    opened = again(plan, look(plan, decided(approval, "Approve")))

    found = step(opened, planned())
    moved = found.history[-1]
    assert (found.state, moved.actor, moved.reason) == (TaskState.OPEN, ANN, "Approved")
    assert any(isinstance(action, RunBegin) for action in look(opened).actions)


def test_who_approves_a_plan_is_named_whole_however_long_the_name_is() -> None:
    plan, approval = expanded()

    opened = again(plan, look(plan, decided(approval, "Approve", by=LONG)))

    assert step(opened, planned()).history[-1].actor == LONG


def test_nothing_begins_while_nobody_has_decided() -> None:
    plan, approval = expanded()

    decision = look(plan, approval, now=10**7)

    assert decision.actions == ()
    assert decision.status.phase == "PendingApproval"


def test_a_rejected_plan_ends_with_its_tasks() -> None:
    plan, approval = expanded()
    rejected = again(plan, look(plan, decided(approval, "Reject", reason="too large")))

    ending = look(rejected, tasks=(planned(),))
    (handed_on,) = ending.actions
    assert isinstance(handed_on, CancelTasks)
    assert handed_on.names == ("work",)
    assert handed_on.cancel.reason == f"its Plan was rejected by {ANN}: too large"

    over = objects.task(status=objects.status(TaskState.CANCELLED))
    ended = look(again(rejected, ending), tasks=(over,)).status
    assert ended.phase == "Cancelled"
    assert told(ended.conditions)["Succeeded"] == ("False", "Rejected")


def test_a_plan_that_nobody_has_decided_about_in_time_ends() -> None:
    limited = asking(result="Never", plan="Always", expiresAfterSeconds=600)
    plan, approval = expanded(project=limited)
    assert look(plan, approval, project=limited).requeue_after == 600

    expired = again(plan, look(plan, approval, project=limited, now=600))

    ended = look(expired, project=limited, now=600).status
    assert ended.phase == "Cancelled"
    assert told(ended.conditions)["Succeeded"] == ("False", "ApprovalExpired")


def cancelled_by(plan: Plan, ending: PlanDecision, *, alone: bool = False) -> str:
    """Who has moved a Task to Cancelled that its Plan hands this on to; `alone`: that somebody
    cancelled himself, in the same words."""
    (handed_on,) = [a for a in ending.actions if isinstance(a, CancelTasks)]
    cancel = {"reason": handed_on.cancel.reason} if alone else handed_on.cancel.dump()
    task = objects.task(status=objects.status(TaskState.PLANNED), cancel=cancel)
    found: str = step(again(plan, ending), task).history[-1].actor
    return found


def test_what_a_rejected_plan_hands_on_was_moved_by_who_rejected_it() -> None:
    plan, approval = expanded()
    rejected = again(plan, look(plan, decided(approval, "Reject")))

    ending = look(rejected, tasks=(planned(),))

    assert cancelled_by(rejected, ending) == ANN
    assert cancelled_by(rejected, ending, alone=True) == "user"


def test_what_a_plan_hands_on_that_nobody_has_decided_about_was_moved_by_nobody() -> None:
    limited = asking(result="Never", plan="Always", expiresAfterSeconds=600)
    plan, approval = expanded(project=limited)
    expired = again(plan, look(plan, approval, project=limited, now=600))

    ending = look(expired, tasks=(planned(),), project=limited, now=600)

    assert cancelled_by(expired, ending) == "operator"


def test_what_somebody_cancels_with_its_plan_was_moved_by_a_user() -> None:
    plan = objects.plan(cancel={"reason": "not needed"})

    assert cancelled_by(plan, look(plan, tasks=(planned(),))) == "user"


def test_who_cancels_a_plan_in_his_own_name_has_moved_its_tasks() -> None:
    plan = objects.plan(cancel={"reason": "not needed", "by": BEN})

    assert cancelled_by(plan, look(plan, tasks=(planned(),))) == BEN


def test_a_change_of_what_it_would_do_is_another_question() -> None:
    plan, approval = expanded()
    richer = again(plan, look(plan, approval), budget="500")

    asks = look(richer, decided(approval, "Approve"))

    assert asks.status.approval is not None
    assert asks.status.approval.name != approval.metadata.name
    assert asks.status.approval.decision is None


@pytest.mark.parametrize("decision", [None, "Approve", "Reject"])
def test_a_question_that_returns_is_asked_anew_whatever_was_decided_before(
    decision: str | None,
) -> None:
    plan, first = expanded()
    void = decided(first, decision) if decision else first
    richer = again(plan, look(plan, first), budget="500")
    asks_else = again(richer, look(richer, void, now=10))

    returned = look(again(asks_else, look(asks_else, void, now=10), budget=None), void, now=20)

    asks = returned.status.approval
    assert asks is not None
    assert (asks.asks, asks.decision) == (first.spec.asks, None)
    assert asks.name != first.metadata.name
    assert made(look(again(asks_else, returned, budget=None), void, now=20)).spec.decision is None


def test_what_an_older_release_has_asked_stays_asked() -> None:
    plan, _ = expanded()
    assert plan.status.approval is not None
    older = plan.status.approval.model_copy(update={"name": "better-web-approval-0123456789"})
    plan = plan.model_copy(update={"status": plan.status.model_copy(update={"approval": older})})

    assert look(plan, now=60).status.approval == older
    assert made(look(plan, now=60)).metadata.name == older.name


def approved() -> tuple[Plan, Approval]:
    plan, approval = expanded()
    return again(plan, look(plan, decided(approval, "Approve"))), approval


def in_line(plan: Plan) -> Plan:
    """The Plan once it asks for its turn to begin."""
    return plan.model_copy(update={"status": plan.status.model_copy(update={"beginning": ASKS})})


def test_an_approval_of_a_plan_is_void_when_it_would_do_something_else() -> None:
    plan, approval = approved()
    changed = plan.spec.model_copy(update={"budget": "5000"})
    plan = in_line(plan).model_copy(update={"spec": changed})

    richer = look(plan, decided(approval, "Approve"), now=10)

    assert richer.actions == ()
    assert richer.status.phase == "PendingApproval"
    assert richer.status.beginning is None
    asks = richer.status.approval
    assert asks is not None
    assert (asks.decision, asks.asks == approval.spec.asks) == (None, False)
    made_anew = made(look(again(plan, richer), now=10))
    assert made_anew.spec.asks == asks.asks


def test_an_approval_of_a_plan_holds_where_nothing_of_what_it_would_do_changes() -> None:
    plan, approval = approved()

    suspended = plan.spec.model_copy(update={"suspend": True})
    plan = in_line(plan).model_copy(update={"spec": suspended})

    found = look(plan, decided(approval, "Approve"), now=10)

    assert found.status.approval == plan.status.approval


def test_a_plan_is_asked_about_whose_policy_became_stricter_before_it_began() -> None:
    plan = new()
    unasked = in_line(again(plan, look(plan, project=objects.project())))
    assert unasked.status.expanded

    asks = look(unasked)

    assert (asks.actions, asks.status.phase) == ((), "PendingApproval")
    assert asks.status.approval is not None
    found = step(again(plan, asks), objects.task(status=objects.status(TaskState.OPEN)))
    assert told(found.conditions)["Reconciling"] == ("True", "AwaitingApproval")
    approval = made(look(again(plan, asks)))
    begins = look(again(plan, look(again(plan, asks), decided(approval, "Approve"))))
    assert begins.status.beginning == NEXT


def test_a_plan_whose_begin_job_may_be_on_its_way_is_not_asked_about() -> None:
    plan, _ = approved()
    begins = again(plan, look(plan), budget="5000")
    assert begins.status.beginning == NEXT

    decision = look(begins)

    assert any(isinstance(action, RunBegin) for action in decision.actions)
    assert decision.status.approval == plan.status.approval


def test_suspending_it_is_no_other_question() -> None:
    plan, approval = expanded()

    decision = look(again(plan, look(plan, approval), suspend=True), approval)

    assert decision.status.approval is not None
    assert decision.status.approval.name == approval.metadata.name


def test_deleting_what_was_decided_changes_nothing() -> None:
    plan, approval = expanded()
    opened = again(plan, look(plan, decided(approval, "Approve")))

    decision = look(opened)

    assert not any(isinstance(action, CreateApproval) for action in decision.actions)
    assert decision.status.phase == "Starting"


def test_a_plan_that_has_begun_is_not_asked_about() -> None:
    decision = look(objects.plan())

    assert decision.status.approval is None


def test_a_policy_that_asks_no_more_lets_it_begin() -> None:
    plan, approval = expanded()

    opened = again(plan, look(plan, approval, project=objects.project()))

    assert opened.status.approval is None
    moved = step(opened, planned()).history[-1]
    assert (moved.to_state, moved.actor) == (TaskState.OPEN, "operator")
    assert moved.reason == "ApprovalNotNeeded"


@pytest.mark.parametrize(
    ("above", "asks"), [("0.01", True), ("100000", False)], ids=["above", "below"]
)
def test_a_plan_is_asked_about_for_its_estimate(above: str, asks: bool) -> None:
    decision = look(new(), project=asking(result="Never", plan="AboveCost", aboveUsd=above))

    assert decision.status.estimate is not None
    assert decision.status.estimate.cost_usd is not None
    assert (decision.status.approval is not None) is asks


def test_what_nobody_can_estimate_is_asked_about() -> None:
    agent = {"name": "demo", "adapter": "demo", "image": "a:1", "models": {"sonnet": "unheard-of"}}
    rules = {"plan": "AboveCost", "aboveUsd": "1000"}

    decision = look(new(), project=objects.project(agents=[agent], approval=rules))

    assert decision.status.estimate is not None
    assert decision.status.estimate.cost_usd is None
    assert decision.status.approval is not None


@pytest.mark.parametrize("plan", ["Never", "Always"])
def test_where_the_approver_may_not_be_the_author_a_plan_must_say_who_that_is(plan: str) -> None:
    strict = asking(result="Never", plan=plan, approverIsNotAuthor=True)

    invalid = look(new(), project=strict).status

    assert invalid.phase == "Invalid"
    assert "spec.author" in told_of(invalid)


def test_the_author_of_a_plan_does_not_approve_it_where_another_person_must() -> None:
    strict = asking(result="Never", plan="Always", approverIsNotAuthor=True)

    plan, approval = expanded(project=strict, spec={"author": ANN})
    assert approval.spec.asks.not_by == ANN
    by_ann = look(plan, decided(approval, "Approve", by=ANN), project=strict).status
    by_ben = look(plan, decided(approval, "Approve", by=BEN), project=strict).status
    assert [s.approval.decision for s in (by_ann, by_ben) if s.approval] == [None, "Approve"]


STRICT = asking(result="Never", plan="Always", approverIsNotAuthor=True)


def test_a_rule_about_authors_that_comes_later_leaves_no_question_to_whoever_made_it() -> None:
    plan, approval = expanded()

    found = look(plan, decided(approval, "Approve"), project=STRICT)

    assert found.actions == ()
    assert (found.status.approval, found.status.phase) == (None, "Pending")
    assert objects.stalled_for(found.status.conditions) == "AuthorMissing"
    later = look(again(plan, found), decided(approval, "Approve"), project=STRICT, now=60)
    assert (later.actions, later.status) == ((), found.status)


def test_once_somebody_stands_for_it_another_one_is_asked() -> None:
    plan, _ = expanded()
    without = again(plan, look(plan, project=STRICT), author=ANN)

    asks = again(without, look(without, project=STRICT))
    approval = made(look(asks, project=STRICT))

    assert (asks.status.phase, approval.spec.asks.not_by) == ("PendingApproval", ANN)
    by_ann = look(asks, decided(approval, "Approve", by=ANN), project=STRICT).status
    by_ben = look(asks, decided(approval, "Approve", by=BEN), project=STRICT).status
    assert [s.approval.decision for s in (by_ann, by_ben) if s.approval] == [None, "Approve"]


def test_its_tasks_stay_planned_until_somebody_stands_for_it() -> None:
    plan, _ = expanded()
    without = again(plan, look(plan, project=STRICT))

    found = step(without, planned(), project=STRICT)

    assert found.state is TaskState.PLANNED
    assert objects.stalled_for(found.conditions) == "AuthorMissing"


@pytest.mark.parametrize("project", [ALWAYS, objects.project()], ids=["asks", "asks nobody"])
def test_a_rule_about_authors_that_is_taken_back_keeps_nothing(project: Project) -> None:
    plan, _ = expanded()
    without = again(plan, look(plan, project=STRICT))

    found = look(without, project=project).status

    assert found.phase == ("PendingApproval" if project is ALWAYS else "Starting")
    assert objects.stalled_for(found.conditions) is None


def test_a_plan_that_has_begun_goes_on_without_an_author_while_its_work_waits() -> None:
    begun = objects.plan()
    strict = objects.project(approval={"approverIsNotAuthor": True})

    assert look(begun, project=strict).status.phase == "Running"
    found = step(begun, objects.task(status=objects.status(TaskState.OPEN)), project=strict)
    assert objects.stalled_for(found.conditions) == "AuthorMissing"


def told_of(status: Any) -> str:
    return "; ".join(condition.message for condition in status.conditions)


def test_a_cancel_of_a_plan_that_asks_makes_no_job() -> None:
    plan, approval = expanded()

    decision = look(again(plan, look(plan, approval), cancel=objects_cancel()), approval, tasks=())

    assert decision.actions == ()
    assert decision.status.phase == "Cancelled"
    assert decision.status.approval is None


def objects_cancel() -> Any:
    return objects.plan(cancel={"reason": "not needed"}).spec.cancel
