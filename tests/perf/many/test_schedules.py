"""What a change costs the schedules of a namespace with one Project, and with hundreds.

What the operator's own functions are called for is counted, and is the same on any machine; figures
are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import asyncio
import copy

from bernstein.controllers.scheduler.boards import MOST_NOTED, Boards
from bernstein.kube.clock import REAL
from bernstein.kube.resource import Key
from tests.model.cluster.store import NAMESPACE
from tests.perf.many.test_projects import listed
from tests.perf.memory.test_closed import filled
from tests.perf.test_waiting import Costs
from tests.unit.core.objects import NOW

FEW, MANY = 1, 200
CHANGES = 20


async def costs(number: int) -> tuple[Costs, Costs]:
    """What it takes to note changes of a Task beside so many Projects that have been looked at, and
    what it takes to look at its own then."""
    caches = await filled(listed(number))
    boards, key, its = Boards(caches, REAL), Key(NAMESPACE, "works-0"), Key(NAMESPACE, "project-0")
    for n in range(number):
        assert boards.look(Key(NAMESPACE, f"project-{n}"), NOW) is not None
    task = caches.tasks.informer.get(key)
    assert task is not None
    noted, looked = Costs(), Costs()
    for change in range(CHANGES):
        task = copy.deepcopy(task)
        task["metadata"]["resourceVersion"] = str(10_000 + change)
        with noted.counted():
            caches.tasks.informer._cache.update(task)
        with looked.counted():
            assert boards.look(its, NOW) is not None
    return noted, looked


def test_a_change_costs_the_schedules_no_more_beside_many_projects() -> None:
    found = {number: asyncio.run(costs(number)) for number in (FEW, MANY)}
    for what, few, many in zip(("noted", "looked at"), found[FEW], found[MANY], strict=True):
        calls = few.all // CHANGES, many.all // CHANGES
        print(f"\ncalls until a change is {what}, beside {FEW} and {MANY} Projects: {calls}")
        more = many.calls - few.calls
        assert many.all <= 1.1 * few.all, more.most_common(5)
    assert CHANGES < MOST_NOTED
