"""A Plan that has spent its budget asks no model about work until it may spend more."""

from __future__ import annotations

from bernstein.api.pod import CheckVerdict
from bernstein.api.task import TaskStatus
from bernstein.core.actions import RunInspect, RunJudge, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.tasks.decide import decide
from bernstein.core.waiting import is_stalled
from tests.unit.core import objects
from tests.unit.core.objects import NOW
from tests.unit.core.verification.asked_models import EXISTS, REVIEW, judged, project, said, task
from tests.unit.core.verification.asked_models import read as inspected

READ = inspected("work-s1-inspect-0", CheckVerdict("signal-1", "Passed"))


def look(
    *jobs: JobView, budget: str | None = "10", spent: str = "10", status: TaskStatus | None = None
) -> TaskDecision:
    plan = objects.plan(budget=budget)
    of_now = plan.status.model_copy(update={"spend_usd": spent})
    return decide(
        objects.snapshot(
            task(REVIEW, EXISTS, status=status),
            jobs=jobs,
            project=project(),
            plan=plan.model_copy(update={"status": of_now}),
        ),
        NOW,
    )


def test_what_asks_nobody_is_judged_all_the_same() -> None:
    decision = look()

    assert [type(action) for action in decision.actions] == [RunInspect]
    assert decision.status.waiting is None


def test_then_it_stands_still_and_says_why() -> None:
    status = look(READ).status

    assert is_stalled(status)
    assert status.waiting is not None
    assert status.waiting.reason == "BudgetExceeded"
    assert "budget of $10.00 is spent" in status.waiting.message
    assert status.verification is not None
    assert status.verification.passed is None
    assert look(READ, status=status).actions == ()


def test_a_greater_budget_lets_it_go_on() -> None:
    stood = look(READ).status

    decision = look(READ, budget="11", status=stood)

    assert [type(action) for action in decision.actions] == [RunJudge]
    assert decision.status.waiting is None


def test_without_a_budget_and_with_money_left_models_are_asked() -> None:
    for found in (look(READ, budget=None), look(READ, spent="9.99")):
        assert [type(action) for action in found.actions] == [RunJudge]


def test_a_job_that_is_at_work_is_not_ended_and_its_answer_counts() -> None:
    answered = judged(said(CheckVerdict("signal-0", "Failed", "Unmet")))

    status = look(READ, answered).status

    assert status.verification is not None
    assert status.verification.passed is False
