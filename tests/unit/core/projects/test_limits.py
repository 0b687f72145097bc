"""What a forge has asked one Job to wait for, all Jobs that ask it wait for."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.projects.watching import PullRequestWatch
from bernstein.api.projects.workplace import Workplace, at
from bernstein.api.reasons import Reason
from bernstein.core.actions import RunClose, RunListen, RunPropose
from bernstein.core.projects import limits
from bernstein.core.projects.actions import RunWatch
from bernstein.core.projects.repositories import digest
from bernstein.core.projects.watching import WatchSnapshot, decide
from tests.unit.core import objects
from tests.unit.core.delivery.proposed.proposals import (
    FORGE,
    opened,
    project,
    proposing,
    seen,
    watched,
)
from tests.unit.core.delivery.proposed.test_closing import cancel
from tests.unit.core.objects import NOW, stalled_for
from tests.unit.core.objects import at as later
from tests.unit.core.projects.test_watching import HOUR, ONE, begun, job, limited

SOON, HOURS = later(600), later(2 * HOUR)


def told(until: datetime = SOON, **more: Any) -> PullRequestWatch:
    said = {"reason": "ForgeRateLimited", "message": "wait", "until": until, "remaining": 0}
    return PullRequestWatch.model_validate(said | more)


def step(watch: PullRequestWatch | None, now: datetime = NOW, **more: Any) -> Any:
    return decide(WatchSnapshot(project(watch), {}, **more), now)


def test_it_stays_known_though_nobody_waits_for_a_pull_request_any_more() -> None:
    watch, run = begun()
    met = decide(
        WatchSnapshot(project(watch), {run.job: job(run, limited(HOUR))}, (ONE,)), NOW
    ).status
    assert met is not None

    alone = step(met)
    assert alone.status is not None
    assert (alone.status.until, alone.status.reason) == (met.until, "ForgeRateLimited")
    assert (alone.status.pull_requests, alone.actions, alone.requeue_after) == ((), (), HOUR)
    back = step(alone.status, waits=(ONE,))
    assert back.actions == (), "the next Plan asks no sooner"
    assert step(alone.status, later(HOUR)).status is None


def test_no_pull_request_is_opened_before_its_end() -> None:
    waits = seen(proposing(), of=project(told()))
    assert (waits.actions, stalled_for(waits.status.conditions)) == ((), "ForgeRateLimited")
    assert waits.requeue_after == 600
    again = seen(waits.status, of=project(told()), now=1)
    assert (again.status, again.actions) == (waits.status, ()), "nothing is written anew"

    (propose,) = seen(waits.status, of=project(told()), now=601).actions
    assert isinstance(propose, RunPropose)
    assert seen(waits.status, of=project(None)).actions


def test_none_is_closed_and_a_cancel_does_not_wait_for_hours() -> None:
    held = cancel(opened(), of=project(told()))
    assert (held.actions, held.requeue_after) == ((), 600)
    (close,) = cancel(held.status, of=project(None)).actions
    assert isinstance(close, RunClose)

    left = cancel(held.status, of=project(told(HOURS))).status
    assert left.delivery is not None
    assert (left.phase, left.delivery.reason) == ("Cancelled", "ForgeRateLimited")
    assert left.delivery.until is None, "the Project knows it already"


def test_nothing_that_is_said_is_read() -> None:
    def said(**more: Any) -> Workplace:
        whole = watched("Open", **more)
        (row,) = whole.status.watches or (whole.status.watch,)
        assert row is not None
        rows = tuple(each.model_copy(update={"said": "d1"}) for each in row.pull_requests)
        return project(row.model_copy(update={"pull_requests": rows}), feedback=["Comments"])

    status: PlanStatus = opened()
    assert any(isinstance(each, RunListen) for each in seen(status, of=said()).actions)
    held = seen(status, of=said(remaining=0, until=SOON))
    assert (held.actions, held.requeue_after) == ((), 600)


def test_the_watch_learns_it_from_a_plan_or_a_task() -> None:
    learned = step(None, limited=SOON)
    assert learned.status is not None
    assert (learned.status.until, learned.status.reason) == (SOON, "ForgeRateLimited")
    assert limits.seconds_left(project(learned.status), NOW) == 600
    same = step(learned.status, limited=later(620))
    assert same.status == learned.status, "another Plan that was told the same writes nothing"
    assert step(learned.status, limited=HOURS).status.until == HOURS


@pytest.mark.parametrize("until", [None, later(-1), later(30 * HOUR)])
def test_a_time_that_is_over_or_too_far_away_is_no_limit(until: datetime | None) -> None:
    assert step(None, limited=until).status is None


def test_what_keeps_the_watch_otherwise_keeps_nobody_else() -> None:
    lost = told(reason=Reason.INFRASTRUCTURE_ERROR, remaining=None)
    assert limits.seconds_left(project(lost), NOW) == 0.0
    assert limits.seconds_left(project(told(at="elsewhere")), NOW) == 0.0


@pytest.mark.parametrize(
    ("url", "forge", "seconds"),
    [
        ("https://git.example/web.git", FORGE, 600),
        ("https://other.example/web.git", FORGE, 0),
        ("https://git.example/web.git", {**FORGE, "token": {"name": "o", "key": "token"}}, 0),
    ],
)
def test_the_same_token_of_the_same_forge_is_limited_in_every_repository(
    url: str, forge: dict[str, Any], seconds: float
) -> None:
    first = {"name": "app", "url": "https://git.example/app.git", "forge": FORGE}
    (plain,) = objects.project().spec.repositories
    rows = [{**plain.dump(), **first}, {**plain.dump(), "name": "web", "url": url, "forge": forge}]
    whole = objects.project(repositories=rows, merge={"strategy": "pr"}).whole
    met = told(repository="app", at=digest(whole.spec.repositories[0]))
    status = whole.status.model_copy(update={"watches": (met,)})
    web = at(whole.model_copy(update={"status": status}), "web")

    assert limits.seconds_left(web, NOW) == seconds
    runs = decide(WatchSnapshot(web, {}, (ONE,)), NOW).actions
    assert any(isinstance(each, RunWatch) for each in runs) is (seconds == 0)
