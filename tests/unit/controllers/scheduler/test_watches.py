"""Whose schedule is looked at again after an event."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.controllers.scheduler.watches import watches
from bernstein.kube.resource import Key, Object
from tests.unit.controllers.scheduler.changing import PROJECTS, Changing
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE


class Namespace(Changing):
    """One with several Projects and a Plan."""

    def __init__(self) -> None:
        super().__init__(lambda options: options[-1])
        for name in PROJECTS:
            self._put(self.caches.projects.informer, objects.project(name).whole.dump(), None)
        (self._watch,) = (
            w for w in watches(self.caches) if w.informer is self.caches.plans.informer
        )

    def is_now(self, plan: Plan) -> Object:
        """The Plan is this from now on."""
        informer = self.caches.plans.informer
        self._put(informer, plan.dump(), informer.get(Key(NAMESPACE, plan.metadata.name)))
        found = informer.get(Key(NAMESPACE, plan.metadata.name))
        assert found is not None
        return found

    def woken_by(self, plan: Object) -> set[str]:
        return {key.name for key in self._watch.keys(plan)}


def begun(**more: Any) -> Plan:
    pinned = PlanStatus(project="other", project_uid="uid-other")
    return objects.plan(status=pinned, **more)


async def test_a_plan_wakes_the_schedule_of_the_project_under_which_it_began() -> None:
    world = Namespace()
    before = world.is_now(objects.plan(status=PlanStatus(), begun=False))
    now = world.is_now(begun())

    assert world.woken_by(now) == {"other"}
    assert world.woken_by(before) == {"other"}


@pytest.mark.parametrize(
    "plan",
    [objects.plan(status=PlanStatus(project="other")), begun(deleting=True)],
    ids=["of an older release", "being deleted"],
)
async def test_a_plan_whose_tasks_may_be_anybodys_wakes_the_schedules_of_all(plan: Plan) -> None:
    world = Namespace()

    assert world.woken_by(world.is_now(plan)) == {*PROJECTS}


async def test_a_plan_that_is_gone_wakes_the_schedules_of_all() -> None:
    world = Namespace()
    last = world.is_now(begun())
    world.remove(world.caches.plans.informer, last)

    assert world.woken_by(last) == {*PROJECTS}
