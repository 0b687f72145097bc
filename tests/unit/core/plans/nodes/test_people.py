"""What people say of a workflow: that phases may begin or not, and that all of it ends or rests."""

from __future__ import annotations

from typing import Any

from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.core.plans.approval import ended
from tests.unit.core import objects
from tests.unit.core.objects import stalled_for, told
from tests.unit.core.plans.nodes.played import World, states
from tests.unit.core.plans.workflows.stories.story import Outcome, Story

_ASKS = Story(
    "people are asked about the second phase",
    """
    phases: [plan, {name: build, requires_approval: true}]
    nodes:
      a: {phase: plan}
      b: {phase: build}
      c: {phase: build, depends_on: [b]}
    """,
    order="a#1 b#1 c#1",
)


def asked(**spec: Any) -> World:
    """Its first node is done, and the others wait for a person."""
    world = World.of(_ASKS, **spec)
    world.settle()
    world.end("web-a-i1", Outcome())
    world.settle()
    return world


def waiting(world: World) -> tuple[str, str]:
    assert world.status.waiting is not None
    return world.status.waiting.reason, world.status.waiting.message


def change(world: World, **spec: Any) -> None:
    newer = world.plan.spec.model_copy(update=spec)
    generation = world.plan.metadata.generation + 1
    meta = world.plan.metadata.model_copy(update={"generation": generation})
    world.plan = world.plan.model_copy(update={"spec": newer, "metadata": meta})


def test_a_phase_waits_for_a_person_while_other_nodes_are_at_work() -> None:
    world = World.of(_ASKS)

    world.settle()

    assert states(world.status) == {"a": "Running", "b": "Awaiting", "c": "Pending"}
    assert world.status.phase == "Running"
    assert world.status.waiting is None
    assert world.asked == ["build"]
    (approval,) = world.approvals.values()
    assert approval.spec.asks.digest == world.status.workflow.digest  # type: ignore[union-attr]
    assert world.status.approval is None, "the Plan itself asks nobody"


def test_where_nothing_else_moves_the_plan_waits_for_the_person() -> None:
    world = asked()

    reason, message = waiting(world)

    (name,) = world.approvals
    assert reason == "AwaitingApproval"
    assert name in message
    assert "'build'" in message
    assert told(world.status.conditions)["Reconciling"] == ("True", "AwaitingApproval")
    assert world.status.ended_at is None


def test_a_question_whose_approval_somebody_deletes_is_asked_again_under_its_name() -> None:
    world = asked()
    before = dict(world.approvals)
    world.approvals.clear()

    world.settle()

    assert world.approvals.keys() == before.keys()


def test_a_yes_holds_for_all_of_the_phase_and_stays_known() -> None:
    world = asked()

    world.go(_ASKS)

    assert world.order == "a#1 b#1 c#1"
    assert world.asked == ["build"]
    assert world.status.workflow is not None
    ((name, approval),) = [(p.name, p.approval) for p in world.status.workflow.phases]
    assert (name, approval.decision, approval.by) == ("build", "Approve", "ann")


def test_a_no_cancels_the_plan_as_one_to_the_plan_would() -> None:
    world = asked()

    assert world.decide("Reject")
    world.settle()

    assert world.status.phase == "Cancelled"
    succeeded = told(world.status.conditions)["Succeeded"]
    assert succeeded == ("False", "Rejected")
    cancel = ended(world.plan, world.status)
    assert cancel is not None
    assert cancel.reason == "phase 'build' of its Plan was rejected by ann"
    assert states(world.status) == {"a": "Done", "b": "Cancelled", "c": "Cancelled"}
    assert world.order == "a#1"


def test_what_nobody_decides_in_time_is_no_yes() -> None:
    world = asked(approval=ApprovalPolicy(expires_after_seconds=600).model_dump())
    world.seconds += 300
    world.settle()
    assert world.status.phase == "Running"

    world.seconds += 600
    world.settle()

    assert world.status.phase == "Cancelled"
    assert told(world.status.conditions)["Succeeded"] == ("False", "ApprovalExpired")


def test_nobody_is_asked_before_it_is_known_who_may_not_decide() -> None:
    world = World.of(_ASKS)
    world.settle()
    rules = ApprovalPolicy(approver_is_not_author=True)
    world.more = {"project": objects.project(approval=rules.model_dump())}
    world.approvals.clear()
    world.end("web-a-i1", Outcome())

    world.settle()

    assert not world.approvals


def test_a_question_of_a_plan_that_has_ended_is_asked_no_more() -> None:
    world = asked()
    change(world, cancel={"reason": "not needed", "by": "ann"})
    world.plan = objects.plan(
        begun=False,
        status=world.status,
        stages=(),
        workflow=_ASKS.workflow.model_dump(),
        cancel={"reason": "not needed"},
    )

    world.settle()

    assert world.status.phase == "Cancelled"
    assert world.status.workflow is not None
    assert world.status.workflow.phases == ()


def test_nothing_is_made_while_the_plan_is_suspended_and_all_goes_on_after_that() -> None:
    story = Story("two nodes", "nodes: {a: , b: {depends_on: [a]}}", order="a#1 b#1")
    world = World.of(story)
    world.settle()
    change(world, suspend=True)
    world.settle()
    world.end("web-a-i1", Outcome())

    world.settle()

    assert world.order == "a#1"
    assert world.status.phase == "Suspended"
    change(world, suspend=False)
    world.go(story)
    assert world.order == "a#1 b#1"
    assert world.status.phase == "Succeeded"


def test_a_task_that_somebody_deletes_counts_as_cancelled() -> None:
    story = Story(
        "a handler",
        "nodes: {a: , b: {depends_on: [{source: a, condition: status == 'cancelled'}]}}",
        order="a#1 b#1",
    )
    world = World.of(story)
    world.settle()
    world.settle()
    del world.tasks["web-a-i1"]

    world.go(story)

    assert states(world.status) == {"a": "Cancelled", "b": "Done"}
    assert world.order == "a#1 b#1"
    assert world.status.phase == "Succeeded"


def test_what_is_deleted_and_handled_by_nothing_is_named_at_the_end() -> None:
    story = Story("one node", "nodes: {a: }", order="a#1", kind="Failed")
    world = World.of(story)
    world.settle()
    del world.tasks["web-a-i1"]

    world.settle()

    assert world.status.phase == "Failed"
    assert stalled_for(world.status.conditions) == "TaskFailed"
    assert "'web-a-i1' was deleted" in waiting(world)[1]


def test_a_run_of_the_past_keeps_nothing_back() -> None:
    """A node runs again, and what keeps it back is told: not how its run before has ended."""
    said = "nodes: {a: {retry: {max_attempts: 2}}}"
    world = World.of(Story("again", said, order="", ends={"a": ["failed"]}))
    world.settle()
    world.end("web-a-i1", Outcome("failed"))
    world.stall("web-a-i1", "AgentFailed")
    world.settle()
    assert world.order == "a#1 a#2"

    world.stall("web-a-i2", "SecretNotFound")
    world.settle()

    assert stalled_for(world.status.conditions) == "SecretNotFound"
    assert "web-a-i2" in waiting(world)[1]
