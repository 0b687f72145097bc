"""A Plan whose Tasks fail for good, and people who give them another round, take what there is, or
ask for something else, whatever breaks."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api import plan, task
from bernstein.resources import PLANS, TASKS
from tests.model.loop import run
from tests.model.people import TARGET
from tests.model.scenario import Scenario
from tests.model.world import World

PROJECT: dict[str, Any] = {
    "gates": {"enabled": False},
    "protectedPaths": [],  # nobody is asked
    "limits": {"maxAgents": 2, "timeoutSeconds": {"small": 600, "medium": 600, "large": 600}},
}
STAGES = [{"name": "a", "steps": [{"title": "one"}, {"title": "two"}]}]
FAILS = [
    {"at": 0.0, "do": "fate", "job": "web-a-two-s", "role": "agent", "fate": "bad", "seconds": 10}
] * 4
WORK = {"at": 1.0, "do": "apply plan", "name": "web", "spec": {"name": "web", "stages": STAGES}}


def asks(kind: str, looks: int = 30) -> dict[str, Any]:
    """Somebody who waits until one of them has failed."""
    return {"at": 2.0, "do": "retry", "kind": kind, "looks": looks, "pick": 0.0}


def breaks(moment: int) -> list[dict[str, Any]]:
    """The operator dies at writes around the moment at which the round is asked for."""
    after = bool(moment % 2)
    crashes = [
        {"at": 60.0 + moment * 1.7 + n * 60.0, "do": "crash at write", "replica": 0, "after": after}
        for n in range(4)
    ]
    lag = {"at": 50.0, "do": "lag", "resource": "tasks", "seconds": 40.0 + moment}
    return [*crashes, lag]


def played(*events: dict[str, Any], replicas: int = 1, project: dict[str, Any] = PROJECT) -> World:
    ordered = tuple(sorted(events, key=lambda event: event["at"]))
    scenario = Scenario(seed=7, rates="calm", events=ordered, replicas=replicas, project=project)
    found: list[World] = []

    async def main() -> None:
        world = World(scenario)
        outcome = await world.play()
        assert [str(v) for v in outcome.violations] == []
        found.append(world)

    run(main())
    return found[0]


def succeeded(world: World) -> None:
    (found,) = (plan.parse(obj) for obj in world.store.all(PLANS))
    assert found.status.phase == "Succeeded"
    tasks = {t.metadata.name: t for t in (task.parse(obj) for obj in world.store.all(TASKS))}
    again = tasks["web-a-two"].status
    assert (again.attempt, again.round and again.round.number) == (5, 1)
    assert tasks["web-a-one"].status.round is None


@pytest.mark.parametrize("kind", ["plans", "tasks"])
def test_a_plan_that_failed_succeeds_in_another_round(kind: str) -> None:
    succeeded(played(WORK, *FAILS, asks(kind)))


@pytest.mark.parametrize("moment", range(8))
def test_it_does_though_the_operator_dies_and_caches_lag(moment: int) -> None:
    world = played(WORK, *FAILS, asks("plans"), *breaks(moment), replicas=1 + moment % 2)

    succeeded(world)
    (found,) = (plan.parse(obj) for obj in world.store.all(PLANS))
    assert [answer.answer for answer in found.status.requests or ()] == ["Done"]


def test_a_cancel_after_the_round_was_granted_ends_all() -> None:
    cancel = {"at": 300.0, "do": "cancel", "kind": "plans", "name": "web"}

    world = played(WORK, *FAILS * 2, asks("plans"), cancel)

    states = {obj["metadata"]["name"]: obj["status"]["state"] for obj in world.store.all(TASKS)}
    assert states["web-a-two"] in ("Cancelled", "Failed")


def asks_for_a_part(looks: int = 30) -> dict[str, Any]:
    """Somebody who waits until the Plan has ended, or stands still."""
    return {"at": 2.0, "do": "deliver partial", "looks": looks, "pick": 0.0}


def delivered_partially(world: World) -> None:
    (found,) = (plan.parse(obj) for obj in world.store.all(PLANS))
    assert found.status.phase == "DeliveredPartially"
    assert [answer.answer for answer in found.status.requests or ()] == ["Done"]
    delivered = found.status.delivery
    assert delivered is not None
    assert world.remote.contains(world.remote.refs[TARGET], delivered.sha or "")
    tasks = {t.metadata.name: t for t in (task.parse(obj) for obj in world.store.all(TASKS))}
    assert tasks["web-a-one"].status.delivery is not None
    landed = tasks["web-a-one"].status.delivery.sha
    assert world.remote.contains(world.remote.refs[TARGET], landed or "")


def test_what_is_closed_of_a_plan_that_failed_is_delivered() -> None:
    delivered_partially(played(WORK, *FAILS, asks_for_a_part()))


@pytest.mark.parametrize("moment", range(8))
def test_it_is_though_the_operator_dies_and_caches_lag(moment: int) -> None:
    push = {"at": 100.0, "do": "push", "pick": 0.5}

    world = played(WORK, *FAILS, asks_for_a_part(), push, *breaks(moment), replicas=1 + moment % 2)

    delivered_partially(world)


def test_it_is_though_the_plan_was_cancelled_before() -> None:
    fails = FAILS[0] | {"fate": "hangs"}
    cancel = {"at": 400.0, "do": "cancel", "kind": "plans", "name": "web"}

    world = played(WORK, fails, cancel, asks_for_a_part())

    delivered_partially(world)
    states = {obj["metadata"]["name"]: obj["status"]["state"] for obj in world.store.all(TASKS)}
    assert states == {"web-a-one": "Closed", "web-a-two": "Cancelled"}


@pytest.mark.parametrize("seconds", [0.0, 1.0, 3.0, 8.0])
def test_of_a_round_and_a_part_that_are_asked_for_at_once_one_is_given(seconds: float) -> None:
    """Whichever it is: nothing lands in the Plan's ref after it was delivered."""
    part = {"at": 2.0 + seconds, "do": "deliver partial", "looks": 30, "pick": 0.0}

    world = played(WORK, *FAILS, asks("tasks"), part)

    (found,) = (plan.parse(obj) for obj in world.store.all(PLANS))
    assert found.status.phase in ("Succeeded", "DeliveredPartially")


# --- other things that people ask for -------------------------------------------------------------


def of_a_task(verb: str, *, at: float = 2.0, twice: bool = False) -> dict[str, Any]:
    """Somebody who waits until that makes sense."""
    event = {"at": at, "do": "ask of a task", "verb": verb, "looks": 40, "pick": 0.0}
    return event | {"twice": twice}


ALONE: dict[str, Any] = {"at": 1.0, "do": "apply task", "name": "alone", "spec": {"title": "alone"}}
WAITS = {"at": 0.0, "do": "fate", "job": "alone-s", "role": "agent", "fate": "blocked"}
HANGS = WAITS | {"fate": "hangs"}
OFF = ("lint", "pii_scan", "merge_conflict", "dlp_scan", "lint_suppression")
GATE = [
    {"name": "own", "command": "make check"},
    *({"name": name, "enabled": False} for name in OFF),
]


def the_task(world: World) -> task.Task:
    (found,) = (task.parse(obj) for obj in world.store.all(TASKS))
    return found


@pytest.mark.parametrize("moment", range(8))
def test_a_killed_agent_is_followed_by_another_one_whatever_breaks(moment: int) -> None:
    kill = of_a_task("Kill", at=60.0, twice=moment % 2 == 0)

    found = the_task(played(ALONE, HANGS, kill, *breaks(moment), replicas=1 + moment % 2)).status

    assert (found.state, found.attempt) == ("Closed", 1)
    assert ("Orphaned", "ann") in [(move.to_state, move.actor) for move in found.history]
    answers = [answer.answer for answer in found.requests or ()]
    assert answers.count("Done") == 1


@pytest.mark.parametrize("moment", range(4))
def test_a_blocked_task_goes_on_when_somebody_says_so(moment: int) -> None:
    asked = of_a_task("Unblock", twice=True)

    found = the_task(played(ALONE, WAITS, asked, *breaks(moment))).status

    assert (found.state, found.attempt) == ("Closed", 1)
    assert [answer.answer for answer in found.requests or ()] == ["Done", "Refused"]


@pytest.mark.parametrize("moment", range(4))
def test_work_that_has_failed_is_judged_for_who_asks_and_stays_failed(moment: int) -> None:
    judges = {"gates": {"extends": "Default", "pipeline": GATE}, "limits": PROJECT["limits"]}
    spec = {"title": "alone", "maxRetries": 0}
    bad = WAITS | {"role": "check", "fate": "bad"}
    first = (ALONE | {"spec": spec}, WAITS | {"fate": "good"}, bad)

    world = played(*first, of_a_task("Verify", at=90.0), *breaks(moment), project=judges)

    found = the_task(world).status
    assert found.state == "Failed"
    assert [(answer.verb, answer.answer) for answer in found.requests or ()] == [("Verify", "Done")]
    assert found.verification is not None
    assert found.verification.passed is True
