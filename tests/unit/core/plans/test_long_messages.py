"""However much there is to say, what a Plan waits for fits into its status, with what helps."""

from __future__ import annotations

from bernstein.api.plan import PlanStatus
from bernstein.api.states import TaskState
from bernstein.core.waiting import parted
from tests.unit.core import objects
from tests.unit.core.plans.decisions import look, task

EMOJI = "\U0001f525"


def stored(status: PlanStatus) -> PlanStatus:
    """As the API server takes it: its limits are the model's."""
    return PlanStatus.model_validate(status.dump())


def test_problems_of_a_huge_plan_are_told_with_what_helps() -> None:
    steps = [{"title": EMOJI * 290, "role": f"no-such-role-{i}"} for i in range(50)]
    stages = [{"name": EMOJI * 290 + str(i), "steps": steps} for i in range(10)]
    subject = objects.plan(begun=False, stages=stages)

    found = stored(look(subject).status)

    assert objects.stalled_for(found.conditions) == "PlanInvalid"
    assert found.waiting is not None
    assert parted(found.waiting.message)[1] == "Correct the plan and apply it again."


def test_the_longest_words_of_a_task_are_told_by_its_plan_with_what_helps() -> None:
    words = "x" * 4070 + ". Remedy: Mend it."
    waiting = objects.waits("MergeConflict", words, needs_person=True)
    stuck = task("n" * 40, TaskState.DONE, waiting=waiting)
    subject = objects.plan()

    found = stored(look(subject, stuck).status)

    assert objects.stalled_for(found.conditions) == "MergeConflict"
    assert found.waiting is not None
    assert parted(found.waiting.message)[1] == "Mend it."


def test_hundreds_of_tasks_that_failed_are_told() -> None:
    failed = [
        task(f"n{i}".ljust(40, "x"), TaskState.FAILED, attempt=4, history=[]) for i in range(400)
    ]
    subject = objects.plan()

    found = stored(look(subject, *failed).status)

    assert objects.stalled_for(found.conditions) == "TaskFailed"
    assert found.waiting is not None
    assert "400 Tasks" in found.waiting.message
