"""What Plans have spent, kept between two looks."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.meta import UsageCounts
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask, Settled
from bernstein.api.session import AgentSession, Report
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task
from bernstein.core import owners
from bernstein.core.money import spend
from bernstein.core.money.spending import Spending
from tests.unit.core import objects
from tests.unit.core.money.reckoned import reckoned
from tests.unit.core.objects import project, with_session

TOKENS = UsageCounts(input=1_000_000, output=100_000)
NAMES = ("a", "b", "c")
PLANS = ("web", "shop")
PRICES = ({"model": "sonnet", "input": "1", "output": "2"},)


def older(session: AgentSession) -> AgentSession:
    """One that names no Plan."""
    spec = session.spec.model_copy(update={"plan_ref": None})
    return session.model_copy(update={"spec": spec})


def test_only_tasks_and_sessions_that_have_changed_are_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []
    settled_by, cost_of = spend.settled_by, spend.cost_of

    def noted(row: PlanTask | None, task: Task | None) -> Decimal:
        looked.append(task.metadata.name if task is not None else "gone")
        return settled_by(row, task)

    def noted_cost(session: AgentSession, *more: Any) -> Decimal:
        looked.append(session.metadata.name)
        return cost_of(session, *more)

    monkeypatch.setattr(spend, "settled_by", noted)
    monkeypatch.setattr(spend, "cost_of", noted_cost)
    rows = tuple(PlanTask(name=f"t{n}", stage="build") for n in range(50))
    plan, found = objects.plan(budget="9", status=PlanStatus(tasks=rows)), project()
    tasks = {
        row.name: objects.task(row.name, status=with_session(TaskState.CLAIMED)) for row in rows
    }
    spending = Spending()
    for name, task in tasks.items():
        spending.put_task(name, None, task)
    assert spending.of(plan, found) == 0
    assert sorted(looked) == sorted(tasks)

    looked.clear()
    moved = objects.task("t7", status=with_session(TaskState.IN_PROGRESS, spend_usd="1"))
    spending.put_task("t7", tasks["t7"], moved)
    report = Report(usage=TOKENS).model_dump()
    reported = objects.session(task="t7", state=SessionState.WORKING, report=report)
    spending.put_session(None, reported)
    kept = plan.status.tasks
    row = kept[9].model_copy(update={"spend_usd": "2"})
    status = plan.status.model_copy(update={"tasks": (*kept[:9], row, *kept[10:])})
    after = plan.model_copy(update={"status": status})

    assert spending.of(after, found) == 1 + Decimal("4.5")
    assert spending.of(after, found) == 1 + Decimal("4.5")
    assert sorted(looked) == ["t7", "t7-s1", "t9"]


def test_what_a_task_changes_that_costs_nothing_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan, found, spending = objects.plan(budget="9"), project(), Spending()
    before = objects.task(status=objects.status(spend_usd="3"))
    spending.put_task("work", None, before)
    assert spending.of(plan, found) == 3
    monkeypatch.setattr(spend, "settled_by", None)

    spending.put_task("work", before, objects.task(status=objects.status(attempt=2, spend_usd="3")))

    assert spending.of(plan, found) == 3


def test_one_without_a_budget_is_not_reckoned() -> None:
    spending = Spending()
    spending.put_task("work", None, objects.task(status=objects.status(spend_usd="3")))

    assert spending.of(objects.plan(), project()) == 0
    assert spending.of(None, project()) == 0
    assert spending.of(objects.plan(budget="9"), project()) == 3


def test_sessions_that_name_no_plan_count_by_their_task() -> None:
    plan, found = objects.plan(budget="9"), project(budget={"prices": [*PRICES]})
    unnamed = older(objects.session(state=SessionState.DEAD, usage=TOKENS.model_dump()))
    task = objects.task(status=with_session(TaskState.IN_PROGRESS))
    spending = Spending()
    spending.put_task("work", None, task)

    assert spending.of(plan, found) == 0
    spending.put_session(None, unnamed)
    assert spending.of(plan, found) > 1
    spending.put_session(unnamed, None)
    assert spending.of(plan, found) == 0


def test_a_plan_without_tasks_is_forgotten() -> None:
    plan, spending = objects.plan(budget="9"), Spending()
    task = objects.task(status=objects.status(spend_usd="3"))
    spending.put_task("work", None, task)
    assert spending.of(plan, project()) == 3

    spending.put_task("work", task, None)

    assert not spending._known
    assert not spending._tasks


class World:
    """Plans, Tasks and sessions of which anything may change; `pick` chooses."""

    def __init__(self, pick: Any) -> None:
        self.pick, self.spending = pick, Spending()
        self.plans = {name: objects.plan(name, budget="9") for name in PLANS}
        self.tasks: dict[str, Task] = {}
        self.sessions: dict[str, AgentSession] = {}
        self.project = project()

    def change(self) -> None:
        self.pick((self.task, self.task, self.session, self.session, self.plan, self.price))()

    def price(self) -> None:
        self.project = project(budget={"prices": [*self.pick(((), PRICES))]})

    def uid(self, name: str) -> str:
        """Of the Task that has the name, or had it."""
        return f"uid-{name}-{self.pick((1, 1, 2))}"

    def task(self) -> None:
        name = self.pick(NAMES)
        before, after = self.tasks.pop(name, None), None
        if self.pick((True, True, True, False)):
            state = self.pick((None, TaskState.IN_PROGRESS, TaskState.DONE))
            more = {"spend_usd": self.pick(("0", "2", "3")), "sessions": self.pick((0, 1, 2))}
            after = objects.task(
                name, plan=self.pick((*PLANS, None)), status=objects.status(state, **more)
            )
            meta = after.metadata.model_copy(update={"uid": self.uid(name)})
            after = self.tasks[name] = after.model_copy(update={"metadata": meta})
        self.spending.put_task(name, before, after)

    def session(self) -> None:
        of, number = self.pick(NAMES), self.pick((1, 2, 3))
        name = f"{of}-s{number}"
        before, after = self.sessions.pop(name, None), None
        if self.pick((True, True, False)):
            report = Report(usage=self.pick((TOKENS, UsageCounts()))).model_dump()
            state = self.pick((SessionState.WORKING, SessionState.DEAD))
            made = objects.session(
                number, task=of, state=state, report=report, usage=TOKENS.model_dump()
            )
            plan = self.pick((*PLANS, None))
            named = {"name": plan, "uid": objects.plan_uid(plan)} if plan else None
            spec = made.spec.model_dump()
            spec |= {"task_ref": {"name": of, "uid": self.uid(of)}, "plan_ref": named}
            after = AgentSession.model_validate(made.model_dump() | {"spec": spec})
            self.sessions[name] = after
        self.spending.put_session(before, after)

    def plan(self) -> None:
        name = self.pick(PLANS)
        rows = tuple(
            PlanTask(
                name=of,
                stage="build",
                uid=self.pick((None, self.uid(of))),
                sessions=self.pick((0, 1, 2)),
                spend_usd=self.pick(("0", "5")),
            )
            for of in NAMES
            if self.pick((True, True, False))
        )
        own = Settled(spend_usd=self.pick(("0", "7")), sessions=self.pick(((), ("uid-a-s1",))))
        budget = self.pick(("9", "9", None))
        status = PlanStatus(tasks=rows, settled=self.pick((None, own)))
        self.plans[name] = objects.plan(
            name, status=status, **({"budget": budget} if budget else {})
        )

    def anew(self, plan: Plan) -> Decimal:
        if plan.spec.budget is None:
            return Decimal(0)
        uid = plan.metadata.uid
        tasks = {name: task for name, task in self.tasks.items() if owners.plan_uid(task) == uid}
        uids = {task.metadata.uid for task in tasks.values()}
        sessions = [
            session
            for session in self.sessions.values()
            if spend.belongs(session, plan)
            or (session.spec.plan_ref is None and session.spec.task_ref.uid in uids)
        ]
        return reckoned(plan.status, tasks, sessions, self.project)


@given(data=st.data())
def test_what_is_kept_is_what_is_reckoned_anew(data: st.DataObject) -> None:
    def pick(options: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(options))

    world = World(pick)
    for _ in range(data.draw(st.integers(1, 25))):
        world.change()
        if pick((True, False)):
            for plan in world.plans.values():
                if any(owners.plan_uid(t) == plan.metadata.uid for t in world.tasks.values()):
                    assert world.spending.of(plan, world.project) == world.anew(plan)
