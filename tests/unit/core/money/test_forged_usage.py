"""What an agent says of its tokens is written down in full sums, or cut: never refused for ever."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.meta import UsageCounts
from bernstein.api.money import MOST_DOLLARS
from bernstein.api.plan import PlanStatus
from bernstein.api.pod import FinalRecord, Usage
from bernstein.api.prices import Rate, rates
from bernstein.api.project import Price
from bernstein.api.session import AgentSession, AgentSessionStatus, Report
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import conditions
from bernstein.core.money import plausible, pricing, spend
from bernstein.core.plans.tally import tally
from bernstein.core.sessions import decide as sessions
from bernstein.core.tasks.attempts import settle
from tests.unit.core import objects
from tests.unit.core.objects import agent_pod, at, ended, job, session, told

INT64 = 2**63
FORGED = Usage(input=10**12, output=10**12, cache_read=10**12, cache_write=10**12)
DEAREST = Price(
    model="sonnet",
    input=f"{MOST_DOLLARS}",
    output=f"{MOST_DOLLARS}",
    cache_read=f"{MOST_DOLLARS}",
    cache_write=f"{MOST_DOLLARS}",
)
WORKING = SessionState.WORKING
counts = st.integers(-(2**70), 2**70)
usages = st.builds(Usage, input=counts, output=counts, cache_read=counts, cache_write=counts)


def over(
    usage: Usage,
    *,
    seconds: int = 60,
    retry_after: int | None = None,
    model: str = "sonnet",
    by_its_node: float = 0,
) -> AgentSession:
    """A session of the Task `work` whose recorder left this usage after so many seconds, by the
    clocks of leaders, or by its node's where that says more."""
    began = session(state=WORKING, job="work-s1", started_at=at(-seconds), model=model)
    said = objects.recorded(usage=usage, final=FinalRecord("RateLimited", retry_after=retry_after))
    agent = ended("agent", 1, after=by_its_node)
    pod = agent_pod(agent=agent, recorder=ended("recorder", said=said))
    found = sessions.decide(sessions.SessionSnapshot(began, job("work-s1", pod), True), at(0))
    status = AgentSessionStatus.model_validate(found.status.dump())
    return began.model_copy(update={"status": status})


def test_more_tokens_than_its_time_allows_are_cut_and_that_is_said() -> None:
    lied = over(FORGED, seconds=600)

    rate_ = plausible.rate_of(lied.spec.model)
    most = {kind: rate * 601 for kind, rate in rate_.model_dump().items()}
    assert lied.status.usage == UsageCounts(**most)
    assert told(lied.status.conditions)["UsageCut"] == ("True", "MoreThanPossible")
    cut = conditions.find(lied.status.conditions, "UsageCut")
    assert cut is not None
    assert "4,000,000,000,000 tokens" in cut.message


def test_a_leader_whose_clock_is_behind_cuts_no_tokens_of_an_honest_agent() -> None:
    """It took over from one whose clock was not: by both of them the session ran for no time."""
    honest = Usage(output=400 * 600)

    assert over(honest, seconds=-1800).status.usage == UsageCounts(output=400 * 121)
    assert over(honest, seconds=-1800, by_its_node=600).status.usage == UsageCounts(output=240_000)


def test_more_tokens_than_its_model_makes_in_its_time_are_cut() -> None:
    spent = {
        model: over(Usage(output=10**12), seconds=600, model=model).status.usage
        for model in ("opus", "claude-opus-4-5", "haiku", "own-model")
    }

    assert spent == {
        "opus": UsageCounts(output=400 * 601),
        "claude-opus-4-5": UsageCounts(output=400 * 601),
        "haiku": UsageCounts(output=800 * 601),
        "own-model": UsageCounts(output=plausible.RATE.output * 601),
    }


@pytest.mark.parametrize("row", rates())
def test_a_models_rate_is_below_that_of_all_and_above_that_of_one_busy_agent(row: Rate) -> None:
    found = plausible.rate_of(f"{row.model}-20270101")

    assert found.output in range(200, plausible.RATE.output)
    assert found.input in range(1000, plausible.RATE.input + 1)
    assert (found.cache_read, found.cache_write) == (
        plausible.RATE.cache_read,
        plausible.RATE.cache_write,
    )


def test_the_longest_name_that_a_model_begins_with_says_how_fast_it_is() -> None:
    slow, fast = (plausible.rate_of(model).output for model in ("gpt-5.1", "gpt-5-mini-2026"))

    assert slow < fast


def test_tokens_of_a_busy_agent_are_not_cut() -> None:
    honest = over(Usage(input=400_000, output=200_000, cache_read=60_000_000), seconds=1800)

    assert honest.status.usage == UsageCounts(input=400_000, output=200_000, cache_read=60_000_000)
    assert "UsageCut" not in told(honest.status.conditions)


def test_what_a_session_reports_while_it_works_is_bounded_by_the_servers_clock() -> None:
    much = UsageCounts(output=10**12)
    for seconds, most in ((600, 601), (0, plausible.LEAST_SECONDS + 1)):
        report = Report(usage=much, heartbeat_time=at(seconds))
        found = session(state=WORKING, started_at=at(0), report=report.model_dump())
        rate = plausible.rate_of(found.spec.model)
        assert spend.usage_of(found) == UsageCounts(output=rate.output * most)


def test_money_stays_at_the_most_that_a_status_holds() -> None:
    assert pricing.money(Decimal(10) ** 40) == "999999999.9999"
    assert pricing.money(Decimal("999999999.99999")) == "999999999.9999"


def test_a_provider_is_waited_for_a_day_at_most() -> None:
    outcome = over(Usage(), retry_after=10**30).status.outcome

    assert outcome is not None
    assert outcome.retry_after_seconds == 24 * 3600


@given(usage=usages, spent=st.sampled_from(["0", "999999999.9999"]), price=st.booleans())
def test_no_usage_makes_a_status_that_the_api_refuses(
    usage: Usage, spent: str, price: bool
) -> None:
    project = objects.project(
        budget={"prices": [DEAREST.model_dump(by_alias=True)]} if price else {}
    )
    found = over(usage)
    before = objects.with_session(TaskState.IN_PROGRESS, spend_usd=spent)
    at_work = objects.task("work", status=before)
    snapshot = objects.snapshot(at_work, project=project, sessions=(found,))

    settled = settle(snapshot, found, before, "RateLimited", "", counted=True)
    status = TaskStatus.model_validate(settled.dump())
    left = objects.plan_snapshot(objects.plan(), sessions=(found,), project=project)
    plan = PlanStatus.model_validate(tally(left).dump())

    assert plan.settled is not None
    for kept in (status.usage, plan.usage, plan.settled.usage, found.status.usage):
        assert kept is not None
        assert all(0 <= tokens < INT64 for tokens in kept.model_dump().values())
