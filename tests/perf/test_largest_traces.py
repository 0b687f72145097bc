"""Who begins to lead and sends traces looks at all that goes on, and keeps the loop from nothing
else meanwhile, however much that is."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import pytest

from bernstein.api.states import TaskState
from bernstein.api.task import MOST_MOVES
from bernstein.api.verification import MOST_CHECKS
from bernstein.controllers.caches import Caches
from bernstein.controllers.traces.collector import Taken
from bernstein.controllers.traces.otlp import encoded
from bernstein.controllers.traces.tracer import Tracer
from bernstein.core.traces.span import Span
from bernstein.kube.client import Client, ObjectList
from bernstein.kube.clock import Clock
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Object
from bernstein.observe.metrics import Metrics
from tests.background import eventually
from tests.perf.pace import quickest
from tests.perf.test_largest_sets import MOST_SECONDS, Steps, no_collection
from tests.unit.core import objects
from tests.unit.core.objects import at, status, verification
from tests.unit.core.traces.histories import check, ended_plan, moves

__all__ = ["no_collection"]
"""A fixture."""
AT_WORK, NEVER_RAN = 200, 2000


class Encoding:
    """A collector that is as much work for the loop as one that is asked by HTTP."""

    def __init__(self) -> None:
        self.names: Counter[str] = Counter()

    async def send(self, spans: Sequence[Span]) -> Taken:
        encoded(spans)
        self.names.update(span.name for span in spans)
        return Taken()


def at_work() -> dict[str, Any]:
    """As much has ended of it as a Task tells."""
    states = (*(TaskState.CLAIMED, TaskState.OPEN) * (MOST_MOVES // 2),)
    checks = [check(f"gate_{n}".ljust(63, "x"), ended_at=at(0)) for n in range(MOST_CHECKS)]
    judged = verification(passed=False, checks=checks)
    return objects.task(
        status=status(TaskState.OPEN, history=moves(*states), verification=judged)
    ).dump()


def never_ran() -> dict[str, Any]:
    return objects.task(status=status(TaskState.OPEN)).dump()


def shown(informer: Informer, found: dict[str, Any], name: str) -> None:
    """The cache has this object."""
    meta = found["metadata"] | {
        "name": name,
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "creationTimestamp": at(-60).isoformat(),
    }
    if informer.resource.kind == "Plan":
        meta["uid"] = objects.PLAN_UID
    obj: Object = {"spec": found["spec"], "status": found["status"], "metadata": meta}
    informer.take(ObjectList([obj], "1"))


def filled() -> Caches:
    """A Plan that has failed, many Tasks of it that never ran, and some about which all is said."""
    caches = Caches(cast("Client", None))
    shown(caches.plans.informer, ended_plan("Failed").dump(), "web")
    for kind, number, made in (("w", AT_WORK, at_work()), ("n", NEVER_RAN, never_ran())):
        for each in range(number):
            shown(caches.tasks.informer, made, f"{kind}-{each}")
    return caches


async def lead(caches: Caches, collector: Encoding) -> None:
    clock = Clock(now=lambda: at(60), sleep=lambda _: asyncio.sleep(0))
    await Tracer(caches, collector, Metrics(process=False), clock).run()


async def play() -> Counter[str]:
    """How many spans of each name were sent."""
    collector = Encoding()
    leading = asyncio.create_task(lead(filled(), collector))
    await eventually(lambda: collector.names["task"] >= AT_WORK + NEVER_RAN)
    leading.cancel()
    await asyncio.gather(leading, return_exceptions=True)
    return collector.names


@pytest.mark.usefixtures("no_collection")
def test_no_step_of_who_begins_to_lead_takes_200_ms_with_a_collector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = []

    def measured() -> float:
        with monkeypatch.context() as patch:
            steps = Steps(patch)
            names = asyncio.run(play())
        assert names["verify"] == AT_WORK
        taken = f"{steps.longest * 1000:.0f} ms of {steps.all:.1f} s"
        told.append(f"the longest step took {taken}: {steps.of_what}; {names.total()} spans")
        print(f"\n{told[-1]}")
        return steps.longest

    longest, limit = quickest(measured, MOST_SECONDS)
    assert longest < limit, f"{limit * 1000:.0f} ms are allowed; {told}"
