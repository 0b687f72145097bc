"""A tally that is kept says what a new one would, whatever has happened in between."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.states import TaskState
from bernstein.core.delivery import ledger
from bernstein.core.plans.tally import Tally
from bernstein.kube.resource import Key
from tests.unit.controllers.scheduler.changing import PLANS, TASKS, Changing
from tests.unit.controllers.scheduler.test_boards import Namespace
from tests.unit.core import objects
from tests.unit.core.objects import BASE, NAMESPACE, sha


class Landing(Changing):
    """One in which Tasks land, too, and what was tallied is written."""

    def land(self) -> None:
        """A Task is Merged, on some commit that another one left, or on one that nobody knows."""
        informer, pick = self.caches.tasks.informer, self._pick
        live = informer.get(Key(NAMESPACE, pick(TASKS)))
        if live is None:
            return
        number = pick((1, 2, 3))
        status = objects.closed(number)
        assert status.verification is not None
        assert isinstance(status.delivery, Delivery)
        ref = pick(("refs/bernstein/1111222233334444/integration", "refs/heads/main"))
        update = {
            "verification": status.verification.model_copy(
                update={"base": pick((BASE, sha(1), sha(2), sha(66)))}
            ),
            "delivery": status.delivery.model_copy(update={"onto": ref}),
            "round": pick((None, {"number": 1, "since": 0})),
            "spend_source": pick((None, "Reported", "Unpriced", "Unreported")),
        }
        dumped = type(status).model_validate(status.model_dump() | update).dump()
        self._put(informer, live | {"status": dumped}, live)

    def note(self, plan: Plan, status: PlanStatus) -> None:
        """The Plan's status is written."""
        informer = self.caches.plans.informer
        live = informer.get(Key(NAMESPACE, plan.metadata.name))
        if live is not None:
            self._put(informer, live | {"status": status.dump()}, live)


def anew(cluster: Changing, plan: Plan) -> Tally:
    caches = cluster.caches
    owned = caches.tasks.of_plan(plan.metadata).values()
    return Tally.of(plan, owned, caches.sessions.of_plan(plan.metadata).values())


def changed(cluster: Landing, data: st.DataObject, pick: Callable[..., Any]) -> None:
    """Changes, looks and what they tally, in any order."""
    for _ in range(data.draw(st.integers(1, 40))):
        (cluster.land if pick((True, False, False)) else cluster.anything)()
        if pick((True, False)):
            continue
        for name in PLANS:
            plan = cluster.caches.plans.get(Key(NAMESPACE, name))
            if plan is None:
                continue
            project = cluster.caches.projects.get(Key(NAMESPACE, "default"))
            look = cluster.caches.tallies.look(plan, project)
            fresh = anew(cluster, plan)
            assert look.tallied == fresh.look(project)
            assert (look.tasks, look.strangers) == (fresh.members, fresh.strangers)
            owned = cluster.caches.tasks.of_plan(plan.metadata)
            assert look.tasks == ledger.members(plan.status, owned)
            if plan.status.integration is not None:
                ref = plan.status.integration.ref
                assert cluster.caches.tallies.tip(plan, ref) == ledger.read(plan.status, owned).tip
            if pick((True, False)):
                cluster.note(plan, look.tallied.status)


@given(data=st.data())
def test_a_kept_tally_is_that_of_a_look_at_everything(data: st.DataObject) -> None:
    def pick(options: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(options))

    async def life() -> None:
        changed(Landing(pick), data, pick)

    asyncio.run(life())


async def test_of_a_plan_that_has_ended_no_tally_is_kept() -> None:
    world = Namespace()
    world.plan("web", "Running", "a")
    world.task("a", TaskState.OPEN, plan="web")
    plan = world.caches.plans.get(Key(NAMESPACE, "web"))
    assert plan is not None
    model = weakref.ref(world.caches.tallies.look(plan, None).tasks["a"])
    world.task("another", TaskState.OPEN)  # the caches keep what the last event was about
    gc.collect()
    assert model() is not None

    world.task("a", TaskState.CLOSED, plan="web")
    world.task("another", TaskState.DONE)
    gc.collect()
    assert model() is not None, "the tally has it until it is looked at"
    world.plan("web", "Succeeded", "a")
    del plan
    gc.collect()

    assert model() is None
