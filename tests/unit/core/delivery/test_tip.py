"""Where work lands, and on what tip."""

from __future__ import annotations

from typing import Any

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Integration, PlanStatus
from bernstein.api.task import Task, TaskStatus
from bernstein.core.delivery import tip
from tests.unit.core import objects
from tests.unit.core.objects import BASE, at, closed, done, plan, sha, snapshot


def queued(step: str | None = "Queued", **more: Any) -> Delivery:
    return Delivery.model_validate({"state": "Pending", "step": step} | more)


def on(base: str, status: TaskStatus) -> TaskStatus:
    """The status of one whose commit stands on this one."""
    assert status.verification is not None
    judged = status.verification.model_copy(update={"base": base})
    return status.model_copy(update={"verification": judged})


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


def test_the_tip_is_where_the_last_one_landed_on_the_one_before() -> None:
    one = objects.task("b", status=closed(1, landed_at=at(-10)))
    other = objects.task("c", status=on(sha(1), closed(2, landed_at=at(-20))))

    assert tip.known_tip(snapshot(task("a"), others=(one, other))) == sha(2)
    assert tip.known_tip(snapshot(task("a"), others=(other,))) == BASE, "on what nobody landed"
    assert tip.known_tip(snapshot(task("a"))) == BASE
    assert tip.known_tip(snapshot(task("a"), plan=plan(begun=False))) is None


def test_of_a_plans_ref_the_ledger_says_it_and_of_a_branch_a_job() -> None:
    seen = queued(tip=sha(5))

    assert tip.known_tip(snapshot(task("a", seen))) == BASE
    assert tip.known_tip(snapshot(task("a", seen, plan=None))) == sha(5)
    assert tip.known_tip(snapshot(task("a", plan=None))) is None
