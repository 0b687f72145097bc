"""Tokens to money, and what Tasks and Plans have spent."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.api.meta import UsageCounts
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import MAX_SETTLED, PlanTask
from bernstein.api.project import Price
from bernstein.api.session import AgentSession, Report
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task
from bernstein.core.money import pricing, spend
from bernstein.core.money.spending import Spending
from bernstein.core.plans.decide import decide
from tests.unit.core import objects
from tests.unit.core.money.reckoned import reckoned
from tests.unit.core.objects import project, session, with_session

MINE = Price(model="claude-opus", input="1", output="2")
TOKENS = UsageCounts(input=1_000_000, output=100_000, cache_read=10_000, cache_write=1000)


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("claude-opus", "claude-opus"),
        ("claude-opus-4-5", "claude-opus-4-5"),
        ("claude-opus-4-5-20270101", "claude-opus-4-5"),
        ("claude-opus-4-1", "claude-opus"),
        ("sonnet", "sonnet"),
        ("mystery", None),
        ("", None),
    ],
)
def test_the_exact_name_counts_then_the_longest_prefix(model: str, found: str | None) -> None:
    price = pricing.price_of(model)

    assert (price and price.model) == found


def test_the_projects_price_comes_before_a_longer_built_in_one() -> None:
    assert pricing.price_of("claude-opus-4-5", [MINE]) == MINE


def test_each_kind_of_token_has_its_price() -> None:
    price = pricing.price_of("sonnet")
    assert price is not None

    assert pricing.cost(TOKENS, price) == Decimal("4.50675")


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0", "0"), ("0.00001", "0"), ("1.50", "1.5"), ("0.12345", "0.1234"), ("100", "100")],
)
def test_money_is_a_plain_decimal_string(amount: str, text: str) -> None:
    assert pricing.money(Decimal(amount)) == text


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 10**12), min_size=8, max_size=8))
def test_more_tokens_never_cost_less(counts: list[int]) -> None:
    price = pricing.price_of("sonnet")
    assert price is not None
    names = ("input", "output", "cache_read", "cache_write")
    one = UsageCounts(**dict(zip(names, counts[:4], strict=True)))
    other = UsageCounts(**dict(zip(names, counts[4:], strict=True)))
    both = pricing.add(one, other)

    assert pricing.cost(both, price) == pricing.cost(one, price) + pricing.cost(other, price)
    assert float(pricing.money(pricing.cost(both, price))) >= 0


# --- of a session, and of the Plan that it belongs to --------------------------------------------


def working(number: int = 1, *, name: str = "work", uid: str | None = None) -> AgentSession:
    """A session at work that has reported $4.50675."""
    report = Report(usage=TOKENS).model_dump()
    return of_task(session(number, task=name, state=SessionState.WORKING, report=report), uid)


def over(
    number: int = 1, *, name: str = "work", uid: str | None = None, tokens: UsageCounts = TOKENS
) -> AgentSession:
    """A session that has ended, having cost as much."""
    usage = tokens.model_dump()
    return of_task(session(number, task=name, state=SessionState.DEAD, usage=usage), uid)


def of_task(found: AgentSession, uid: str | None) -> AgentSession:
    """Of that Task, which had the name once."""
    if uid is None:
        return found
    ref = found.spec.task_ref.model_copy(update={"uid": uid})
    meta = found.metadata.model_copy(update={"uid": f"{found.metadata.uid}-of-{uid}"})
    spec = found.spec.model_copy(update={"task_ref": ref})
    return found.model_copy(update={"metadata": meta, "spec": spec})


def row(name: str = "work", *, spent: str = "1", sessions: int = 1, uid: str = "") -> PlanTask:
    """What the Plan knows of a Task that had settled so many sessions."""
    uid = uid or f"uid-{name}"
    return PlanTask(name=name, stage="build", uid=uid, sessions=sessions, spend_usd=spent)


def spends(status: PlanStatus, *tasks: Task, sessions: Sequence[AgentSession] = ()) -> Decimal:
    spending, plan = Spending(), objects.plan(status=status, budget="9")
    for task in tasks:
        spending.put_task(task.metadata.name, None, task)
    for each in sessions:
        spending.put_session(None, each)
    found = spending.of(plan, project())
    assert found == reckoned(status, {t.metadata.name: t for t in tasks}, sessions, project())
    return found


def look(status: PlanStatus, *tasks: Task, sessions: Sequence[AgentSession] = ()) -> PlanStatus:
    """The Plan's next status."""
    begun = objects.plan(status=status)
    return decide(objects.plan_snapshot(begun, *tasks, sessions=sessions), objects.NOW).status


COST = Decimal("4.50675")
BUSY = with_session(TaskState.IN_PROGRESS, spend_usd="1")


def test_a_session_at_work_costs_what_it_reports_at_the_projects_price() -> None:
    cheap = project(budget={"prices": [{"model": "sonnet", "input": "1", "output": "1"}]})

    assert spend.cost_of(working(), project()) == COST
    assert spend.cost_of(working(), cheap) == Decimal("1.1")
    assert spend.cost_of(session(state=SessionState.STARTING), project()) == 0
    assert spend.cost_of(session(model="mystery", usage=TOKENS.model_dump()), None) == 0


def test_what_a_report_says_after_the_end_counts_no_more() -> None:
    late = session(state=SessionState.DEAD, report=Report(usage=TOKENS).model_dump())

    assert spend.cost_of(late, project()) == 0


def test_a_plan_has_spent_what_its_running_sessions_report() -> None:
    busy = objects.task(status=BUSY)

    assert spends(PlanStatus(), busy, sessions=[working()]) == 1 + COST
    assert spends(PlanStatus(), busy) == 1


@pytest.mark.parametrize("state", [TaskState.DONE, TaskState.OPEN, TaskState.CANCELLED])
def test_a_session_that_its_task_has_settled_counts_no_second_time(state: TaskState) -> None:
    settled = objects.task(status=with_session(state, spend_usd="4.5"))

    assert spends(PlanStatus(), settled, sessions=[over()]) == Decimal("4.5")


def test_a_plan_remembers_what_deleted_tasks_had_spent() -> None:
    known = PlanStatus(tasks=(row("gone", spent="2"), row("here", spent="1")))
    here = objects.task("here", status=objects.status(sessions=1, spend_usd="1.5"))

    assert spends(known, here) == Decimal("3.5")


# --- sessions whose Task was deleted -------------------------------------------------------------

GONE = PlanStatus(tasks=(row(),))
"""The Plan of a Task that was deleted while its second session was at work."""


def test_a_session_that_goes_on_without_its_task_still_spends_the_plans_budget() -> None:
    assert spends(GONE, sessions=[over(1), working(2)]) == 1 + COST


def test_a_session_at_work_is_not_settled_yet() -> None:
    found = look(GONE, sessions=[working(2)])

    assert (found.spend_usd, found.settled) == ("1", None)


@pytest.mark.parametrize("phase", [None, "Succeeded", "Cancelled"])
def test_a_plan_settles_a_session_whose_task_is_gone_once(phase: str | None) -> None:
    ended = objects.NOW if phase else None
    before = GONE.model_copy(update={"phase": phase, "ended_at": ended})

    found = look(before, sessions=[over(1), over(2)])

    assert found.settled is not None
    assert found.spend_usd == "5.5068"
    assert found.settled.sessions == ("uid-work-s2",)
    assert found.usage == TOKENS
    assert look(found, sessions=[over(1), over(2)]) == found
    assert spends(found, sessions=[over(1), over(2)]) == Decimal("5.5068")
    after = look(found)
    assert after.settled is not None
    assert (after.spend_usd, after.settled.sessions) == ("5.5068", ())
    assert look(after) == after


def test_what_a_task_settled_before_it_was_deleted_counts_though_the_plan_never_saw_it() -> None:
    found = look(GONE, sessions=[over(1), over(2), over(3)])

    assert found.spend_usd == "10.0136"
    assert found.settled is not None
    assert found.settled.sessions == ("uid-work-s2", "uid-work-s3")


def test_a_task_that_is_being_deleted_settles_nothing_any_more() -> None:
    leaving = objects.task(status=BUSY.model_copy(update={"sessions": 2, "session": "work-s2"}))
    meta = leaving.metadata.model_copy(update={"deletion_timestamp": objects.NOW})
    deleting = leaving.model_copy(update={"metadata": meta})
    both = [over(1), over(2)]

    assert look(GONE, leaving, sessions=both).settled is None
    found = look(GONE, deleting, sessions=both)
    assert found.spend_usd == "5.5068"
    assert look(found, deleting, sessions=both) == found
    assert spends(found, deleting, sessions=both) == Decimal("5.5068")
    assert look(found, deleting, sessions=both[:1]).spend_usd == "5.5068"


def test_a_new_task_of_the_same_name_is_told_from_the_deleted_one() -> None:
    again = objects.task(status=with_session(TaskState.IN_PROGRESS, spend_usd="0"))
    old = [over(1, uid="uid-old"), working(2, uid="uid-old")]
    before = PlanStatus(tasks=(row(uid="uid-old"),))
    assert spends(before, again, sessions=[*old, working(1)]) == 1 + 2 * COST

    found = look(before, again, sessions=[*old, working(1)])

    assert [(t.name, t.uid, t.sessions) for t in found.tasks] == [("work", "uid-work", 0)]
    assert found.settled is not None
    assert found.settled.sessions == (old[0].metadata.uid,), "it was counted by the row"
    assert (found.spend_usd, found.counts.total) == ("1", 1)
    assert spends(found, again, sessions=[*old, working(1)]) == 1 + 2 * COST
    ended = look(found, again, sessions=[old[0], over(2, uid="uid-old"), working(1)])
    assert ended.spend_usd == "5.5068"
    assert look(ended, again, sessions=[working(1)]).spend_usd == "5.5068"


def test_a_plan_settles_a_session_of_a_task_that_it_never_saw() -> None:
    found = look(PlanStatus(expanded=True), sessions=[over(1, name="unseen")])

    assert found.spend_usd == "4.5068"
    assert found.tasks == ()


def test_a_plan_settles_so_many_sessions_at_a_time_as_its_status_holds() -> None:
    token = UsageCounts(input=1_000_000)
    many = [over(1, name=f"gone-{i:03}", tokens=token) for i in range(MAX_SETTLED + 5)]

    found = look(PlanStatus(), sessions=many)
    assert found.settled is not None
    assert len(found.settled.sessions) == MAX_SETTLED
    assert spends(found, sessions=many) == 3 * len(many)
    assert look(found, sessions=many) == found
    left = [s for s in many if s.metadata.uid not in found.settled.sessions]
    assert look(found, sessions=left).spend_usd == str(3 * len(many))


def test_a_new_task_waits_for_its_row_until_there_is_room_for_the_sessions_of_the_old_one() -> None:
    old = [over(i + 1, uid="uid-old") for i in range(MAX_SETTLED + 1)]
    again = objects.task(status=objects.status(spend_usd="0"))
    before = PlanStatus(tasks=(row(uid="uid-old", spent="7", sessions=len(old)),))

    found = look(before, again, sessions=old)
    assert [t.uid for t in found.tasks] == ["uid-old"]
    after = look(found, again, sessions=old[1:])
    assert [t.uid for t in after.tasks] == ["uid-work"]
    assert (found.spend_usd, after.spend_usd) == ("7", "7")
