"""A Plan that stands still for money goes on as soon as it is given some."""

from __future__ import annotations

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import Settled
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.verification import Verification
from tests.unit.core import objects
from tests.unit.core.objects import BASE, project, stalled_for, status, told
from tests.unit.core.plans.decisions import look, task

PENDING = task("after", waiting=objects.waits("DependencyPending"))


def stalled(
    name: str, reason: str, state: TaskState = TaskState.OPEN, judged: Verification | None = None
) -> Task:
    waiting = objects.waits(reason, "because", needs_person=True)
    return objects.task(name, status=status(state, waiting=waiting, verification=judged))


NO_SECRET = stalled("probe", "SecretNotFound")
NO_MONEY = stalled("poor", "BudgetExceeded")
NO_JUDGE = stalled("judged", "BudgetExceeded", TaskState.DONE)
ASKED_MUCH = stalled(
    "judged",
    "BudgetExceeded",
    TaskState.DONE,
    Verification(base=BASE, sha=BASE, tree=BASE, ref="r", too_little_usd="1"),
)


def out_of_money(*tasks: Task) -> Plan:
    """A Plan whose budget of 5 US dollars is spent, and that stands still for it."""
    settled = Settled(spend_usd="5")
    before = objects.plan(budget="5", status=PlanStatus(settled=settled, observed_generation=1))
    stands = look(before, *tasks).status
    assert stalled_for(stands.conditions) == "BudgetExceeded"
    return objects.plan(budget="5", status=stands)


@pytest.mark.parametrize("tasks", [(NO_MONEY, PENDING), (NO_JUDGE, PENDING), (NO_MONEY, NO_SECRET)])
@pytest.mark.parametrize("budget", ["6", None])
def test_a_plan_that_gets_more_money_stands_still_no_more_before_its_tasks_have_looked(
    tasks: tuple[Task, ...], budget: str | None
) -> None:
    poor = out_of_money(*tasks).status

    found = look(objects.plan(budget=budget, generation=2, status=poor), *tasks).status

    assert (found.observed_generation, found.phase, found.waiting) == (2, "Running", None)
    assert stalled_for(found.conditions) is None
    assert told(found.conditions)["Reconciling"] == ("True", "Running")


@pytest.mark.parametrize("budget", ["4", "5"])
def test_a_plan_that_gets_too_little_stands_still_for_money_as_before(budget: str) -> None:
    poor = out_of_money(NO_MONEY).status

    found = look(objects.plan(budget=budget, generation=2, status=poor), NO_MONEY).status

    assert (found.observed_generation, found.phase) == (2, "Stalled")
    assert stalled_for(found.conditions) == "BudgetExceeded"


def test_more_money_for_a_plan_helps_no_task_that_the_project_has_limited() -> None:
    limited = project(limits={"modelsUsdPerTask": "1"})
    waiting = objects.waits("BudgetExceeded", "because", needs_person=True)
    dear = objects.task("judged", status=status(TaskState.DONE, waiting=waiting, models_usd="1"))
    poor = out_of_money(dear).status

    found = look(objects.plan(budget="6", status=poor), dear, project=limited).status

    assert stalled_for(found.conditions) == "BudgetExceeded"


@pytest.mark.parametrize(("budget", "reason"), [("6", "BudgetExceeded"), (None, None)])
def test_a_model_that_was_too_dear_is_asked_by_its_task_alone(
    budget: str | None, reason: str | None
) -> None:
    poor = out_of_money(ASKED_MUCH).status

    found = look(objects.plan(budget=budget, status=poor), ASKED_MUCH).status

    assert stalled_for(found.conditions) == reason
