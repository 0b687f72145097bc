"""Where work lands, who is next, and on what tip."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Integration, PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core import conditions
from bernstein.core.delivery import queue
from tests.unit.core import objects
from tests.unit.core.objects import BASE, NOW, at, closed, done, plan, sha, snapshot


def queued(step: str | None = "Queued", **more: Any) -> Delivery:
    return Delivery.model_validate({"state": "Pending", "step": step} | more)


def task(name: str, delivery: Delivery | None = None, **spec: Any) -> Task:
    return objects.task(name, status=done(delivery=delivery), **spec)


def test_a_plans_tasks_land_in_its_integration_ref_others_in_the_branch() -> None:
    assert snapshot(task("a")).target_ref == "refs/bernstein/1111222233334444/integration"
    assert snapshot(task("a", plan=None)).target_ref == "refs/heads/main"


def test_the_refs_of_a_plans_tasks_are_beside_its_integration_ref() -> None:
    assert snapshot(task("a")).refs == "refs/bernstein/1111222233334444"
    assert snapshot(task("a", plan=None)).refs == "refs/bernstein/uida"


def test_a_plan_that_an_older_release_began_keeps_its_refs() -> None:
    ref = "refs/bernstein/11112222/integration"
    begun = Integration(ref=ref, target="refs/heads/main", target_sha=BASE)
    found = snapshot(task("a"), plan=plan(status=PlanStatus(integration=begun, expanded=True)))

    assert found.target_ref == ref
    assert found.refs == "refs/bernstein/11112222"


@pytest.mark.parametrize("step", ["Preparing", "Landing"])
@pytest.mark.parametrize("mine", [None, queued()])
def test_nobody_overtakes_a_task_that_is_landing(step: str, mine: Delivery | None) -> None:
    ahead = task("z", queued(step), priority=5)

    assert queue.waits_for(snapshot(task("a", mine, priority=1), others=(ahead,))) == "z"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"priority": 1}, {"priority": 2}),
        ({"created": at(-9)}, {"created": at(-8)}),
    ],
)
def test_the_queue_goes_by_priority_then_age(first: dict[str, Any], second: dict[str, Any]) -> None:
    one, other = task("b", queued(), **first), task("a", queued(), **second)

    assert queue.waits_for(snapshot(one, others=(other,))) is None
    assert queue.waits_for(snapshot(other, others=(one,))) == "b"


def test_who_comes_late_waits_for_those_in_the_queue() -> None:
    late = task("a", priority=1)

    assert queue.waits_for(snapshot(late, others=(task("b", queued(), priority=5),))) == "b"


def test_a_task_that_needs_a_person_blocks_nobody() -> None:
    stuck = task("b", queued("Preparing"))
    status = conditions.stalled(stuck.status, "GateErrored", "", NOW)
    stuck = objects.task("b", status=status)

    assert queue.waits_for(snapshot(task("a"), others=(stuck,))) is None


@pytest.mark.parametrize("plan_of_other", [None, "other"])
def test_each_ref_has_its_own_queue(plan_of_other: str | None) -> None:
    elsewhere = task("b", queued("Landing"), plan=plan_of_other)

    assert queue.waits_for(snapshot(task("a"), others=(elsewhere,))) is None


def test_the_queue_has_no_circle_whatever_its_order() -> None:
    lane = [
        task(n, queued() if n != "c" else None, priority=p)
        for n, p in (("a", 3), ("b", 1), ("c", 2))
    ]
    waits = {
        t.metadata.name: queue.waits_for(snapshot(t, others=tuple(o for o in lane if o is not t)))
        for t in lane
    }

    assert waits["b"] is None
    assert waits["a"] == "b"
    assert waits["c"] == "b"


def test_the_tip_is_where_the_last_one_landed() -> None:
    one = objects.task("b", status=closed(1, landed_at=at(-20)))
    other = objects.task("c", status=closed(2, landed_at=at(-10)))

    assert queue.known_tip(snapshot(task("a"), others=(one, other))) == sha(2)
    assert queue.known_tip(snapshot(task("a"))) == BASE
    assert queue.known_tip(snapshot(task("a"), plan=plan(begun=False))) is None
    assert queue.known_tip(snapshot(task("a", plan=None))) is None


def test_what_a_job_saw_is_newer_than_what_statuses_tell() -> None:
    landed = objects.task("b", status=closed(1))
    seen = task("a", queued(tip=sha(5)))

    assert queue.known_tip(snapshot(seen, others=(landed,))) == sha(5)
    assert landed.status.state is TaskState.CLOSED
