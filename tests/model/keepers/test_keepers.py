"""A Task of a Plan that somebody deletes, and that something else keeps, whatever breaks."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from bernstein.api import plan
from bernstein.api.reasons import Reason
from bernstein.api.task import TaskStatus
from bernstein.core.fsm import is_final
from bernstein.core.plans import decide
from bernstein.resources import PLANS, TASKS
from tests.model.keepers.events import OFTEN
from tests.model.people import KEEPER
from tests.model.scenario import Event, Scenario, generate
from tests.model.violation import Violation
from tests.model.world import World, lived

PROJECT: dict[str, Any] = {
    "gates": {"enabled": False},
    "protectedPaths": [],  # nobody is asked
    "limits": {"maxAgents": 2, "timeoutSeconds": {"small": 600, "medium": 600, "large": 600}},
}
STAGES = [{"name": name, "steps": [{"title": name}]} for name in ("one", "two")]
WORK: Event = {
    "at": 1.0,
    "do": "apply plan",
    "name": "web",
    "spec": {"name": "web", "stages": STAGES},
}
KEPT = "web-two-two"


def takes(job: str, role: str, seconds: float) -> Event:
    fate = {"job": job, "role": role, "fate": "good", "seconds": seconds}
    return {"at": 0.0, "do": "fate"} | fate


FIRST = takes("web-one-one", "agent", 20.0)
AGENT = (WORK, FIRST, takes(KEPT, "agent", 250.0))
"""The agent of the second Task is at work from the 65th second to the 315th."""
LANDS = (WORK, FIRST, takes(KEPT, "agent", 20.0), takes(KEPT, "land", 200.0))
"""The second Task lands from the 85th second on, and has landed in the 190th."""
WORKS = pytest.mark.parametrize("work", [AGENT, LANDS], ids=["an agent", "a landing"])
LENGTHS = pytest.mark.parametrize("seconds", [20.0, 400.0])

CANCEL: Event = {"at": 160.0, "do": "cancel", "kind": "plans", "name": "web"}
PART: Event = {"at": 2.0, "do": "deliver partial", "looks": 30, "pick": 0.0}
"""Somebody who waits until the Plan has ended, or stands still."""


def keeps(seconds: float | None) -> Event:
    """While the second Task is at work."""
    kept = {"name": KEPT, "propagation": "Background", "seconds": seconds}
    return {"at": 150.0, "do": "keep"} | kept


def breaks(moment: int) -> list[Event]:
    """The operator dies at writes around the moments of deletion and letting go."""
    crash = {"do": "crash at write", "replica": 0, "after": bool(moment % 2)}
    crashes = [crash | {"at": 148.0 + moment * 1.7 + n * 20.0} for n in range(4)]
    lag = {"at": 140.0, "do": "lag", "resource": "tasks", "seconds": 30.0 + moment}
    return [*crashes, lag]


def played(*events: Event, replicas: int = 1) -> tuple[World, tuple[Violation, ...]]:
    ordered = tuple(sorted(events, key=lambda event: event["at"]))
    scenario = Scenario(seed=7, rates="calm", events=ordered, replicas=replicas, project=PROJECT)
    world, outcome = lived(scenario)
    return world, outcome.violations


def the_plan(*events: Event, replicas: int = 1) -> plan.PlanStatus:
    """How it stands at the end; nothing else was found."""
    world, violations = played(*events, replicas=replicas)
    assert [str(violation) for violation in violations] == []
    (found,) = (plan.parse(obj) for obj in world.store.all(PLANS))
    return found.status


@pytest.mark.parametrize(("work", "seconds"), [(AGENT, 20.0), (AGENT, 400.0), (LANDS, 20.0)])
def test_once_it_is_let_go_its_plan_has_failed(work: tuple[Event, ...], seconds: float) -> None:
    assert the_plan(*work, keeps(seconds)).phase == "Failed"


@pytest.mark.parametrize("moment", range(6))
def test_what_has_landed_before_it_is_let_go_is_part_of_its_plan(moment: int) -> None:
    found = the_plan(*LANDS, keeps(400.0), *breaks(moment), replicas=1 + moment % 2)

    assert found.phase == "Succeeded"


@WORKS
@LENGTHS
def test_once_it_is_let_go_its_plan_is_cancelled(work: tuple[Event, ...], seconds: float) -> None:
    assert the_plan(*work, keeps(seconds), CANCEL).phase == "Cancelled"


@pytest.mark.parametrize("moment", range(6))
def test_once_it_is_let_go_its_plan_is_delivered_without_it(moment: int) -> None:
    events = (*AGENT, keeps(50.0 + 50.0 * moment), PART, *breaks(moment))

    found = the_plan(*events, replicas=1 + moment % 2)

    assert found.phase == "DeliveredPartially"
    assert [answer.answer for answer in found.requests or ()] == ["Done"]


@pytest.mark.parametrize("more", [(), (CANCEL,), (PART,)], ids=["whole", "cancelled", "in part"])
def test_while_it_is_kept_its_plan_says_so(more: tuple[Event, ...]) -> None:
    found = the_plan(*AGENT, keeps(None), *more)

    assert found.ended_at is None
    assert found.waiting is not None
    assert found.waiting.reason == Reason.DELETION_HELD
    assert KEEPER in found.waiting.message


def test_it_is_found_that_a_plan_ends_while_it_still_lands() -> None:
    def is_over(status: TaskStatus, most: int) -> bool:
        """As if who lands, and is kept, would do no more."""
        lands = status.delivery is not None and status.delivery.step == "Landing"
        return lands or is_final(status, most)

    with patch.object(decide, "is_final", is_over):
        world, violations = played(*LANDS, keeps(400.0), CANCEL)

    assert [violation.what for violation in violations] == ["an end is an end"]
    assert violations[0].text.endswith("lands, but its Plan has ended")
    assert [obj["metadata"]["name"] for obj in world.store.all(TASKS)] == ["web-one-one", KEPT]


def test_the_part_of_the_seeds_in_which_something_keeps_tasks_is_as_it_is_said() -> None:
    seeds = range(1, 401)
    kept = [any(event["do"] == "keep" for event in generate(seed).events) for seed in seeds]

    assert abs(sum(kept) / len(seeds) - OFTEN) < 0.06
