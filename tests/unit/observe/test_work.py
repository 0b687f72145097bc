"""Whose work it was, and what became of it: labels are words of ours, whatever objects say."""

import pytest

from bernstein.api.project import Agent
from bernstein.core.routing.table import tier_of
from bernstein.observe.metrics import Metrics
from bernstein.observe.silence import SILENT_SECONDS, Heard, Silent
from bernstein.observe.work import Work
from tests.unit.observe.test_metrics import value


@pytest.mark.parametrize(
    ("role", "tier", "labels"),
    [
        ("backend", "haiku", {"role": "backend", "tier": "haiku"}),
        ("my own role", "gpt-9", {"role": "other", "tier": "other"}),
        ("", "", {"role": "other", "tier": "other"}),
    ],
)
def test_roles_and_tiers_that_are_not_ours_are_others(
    role: str, tier: str, labels: dict[str, str]
) -> None:
    metrics = Metrics(process=False)
    metrics.spent(Work("team", "shop", "demo", role=role, tier=tier), 1.0)

    of = {"namespace": "team", "project": "shop", "adapter": "demo", **labels}
    assert value(metrics, "bernstein_cost_usd_total", **of) == 1


def test_the_tier_is_that_whose_model_the_agent_has() -> None:
    agent = Agent.model_validate(
        {"name": "a", "adapter": "codex", "image": "i", "models": {"sonnet": "gpt-5"}}
    )
    assert tier_of("gpt-5", agent) == "sonnet"
    assert tier_of("opus", agent) == "opus"  # a tier without a model is called by its own name
    assert tier_of("gpt-9", agent) == "gpt-9"
    assert tier_of("haiku", None) == "haiku"


def test_closed_tasks_are_counted_by_the_attempts_that_they_took() -> None:
    metrics = Metrics(process=False)
    for attempts in (0, 1, 2, 4, 5, 90):
        metrics.closed_after("team", "shop", "qa", attempts)

    of = {"namespace": "team", "project": "shop", "role": "qa"}
    name = "bernstein_tasks_closed_total"
    counts = {a: value(metrics, name, **of, attempts=a) for a in ("1", "2", "3", "4", "more")}
    assert counts == {"1": 2, "2": 1, "3": None, "4": 1, "more": 2}


class Now:
    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


def session(state: str, heard: str | None, started: str | None = None) -> dict[str, object]:
    report = {"report": {"heartbeatTime": heard}} if heard else {}
    status = {"state": state, "startedAt": started, **report}
    return {"metadata": {"namespace": "team", "name": "s", "uid": "u"}, "status": status}


def silent(heard: Heard) -> float | None:
    (family,) = Silent(heard).collect()
    return family.samples[0].value if family.samples else None


def test_a_session_at_work_is_silent_a_minute_after_its_last_heartbeat() -> None:
    now = Now()
    heard, at_work = Heard(now), session("Working", "2027-01-15T08:00:00Z")  # that is now
    heard.changed(None, at_work)
    assert silent(heard) == 0
    now.seconds += SILENT_SECONDS
    assert silent(heard) == 0
    now.seconds += 1
    assert silent(heard) == 1

    again = session("Working", "2027-01-15T08:01:01Z")
    heard.changed(at_work, again)
    assert silent(heard) == 0


def test_one_that_has_never_been_heard_of_counts_from_its_start_and_only_while_it_works() -> None:
    now = Now()
    heard, never = Heard(now), session("Working", None, "2027-01-15T07:50:00Z")
    heard.changed(None, session("Starting", None))
    assert silent(heard) is None
    heard.changed(None, never)
    assert silent(heard) == 1
    heard.changed(never, session("Dead", None, "2027-01-15T07:50:00Z"))
    assert silent(heard) is None
    heard.changed(None, session("Working", "yesterday"))
    assert silent(heard) is None
