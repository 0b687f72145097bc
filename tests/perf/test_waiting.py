"""What a Task costs the operator beside others of its Project that wait for the only place.

The whole engine runs on a cluster in memory, in virtual time: a Task is new, then it starts and
goes all its way. What the operator's own functions are called for that is counted, and is the same
on any machine; figures are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import bernstein
from bernstein.api.pod import Changed
from bernstein.kube.resource import PODS, Key, Object
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.control_plane.objects import valid
from tests.model.cluster.job_controller import JobController
from tests.model.cluster.kubelet import Kubelets
from tests.model.cluster.programs import Programs, Run
from tests.model.cluster.store import NAMESPACE, Store
from tests.model.dice import Dice
from tests.model.loop import run
from tests.model.people import TARGET
from tests.model.replicas import Replica
from tests.model.scenario import RATES
from tests.model.trouble import Troubles
from tests.unit.core.simulation.remote import Remote

FEW, MANY = 100, 2_000
MOST_STEPS = 1_900
"""With those that pass as many as a Plan may have, or nearly."""
MOST = 1.5
"""So many times as much it may cost beside many as beside few."""
OURS = str(Path(bernstein.__file__).parent)


class Nobody:
    """Looks at no pod."""

    def started(self, _: Run) -> None: ...
    def pushed(self, _run: Run, _onto: str, _sha: str) -> None: ...
    def judged(self, _run: Run, _sha: str, _verdict: str) -> None: ...
    def made(self, _sha: str, _changed: Changed, _protected: frozenset[str]) -> None: ...


class Even(Dice):
    """All takes as long as it mostly does: else it is chance who else ends or starts meanwhile."""

    def draw(self, *_: object) -> float:
        return 0.5


class Costs:
    """Calls of our functions."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    @property
    def all(self) -> int:
        return self.calls.total()

    @contextmanager
    def counted(self) -> Iterator[None]:
        def note(frame: FrameType, event: str, _: object) -> None:
            code = frame.f_code
            if event == "call" and code.co_filename.startswith(OURS):
                self.calls[f"{code.co_filename[len(OURS) + 1 :]}:{code.co_name}"] += 1

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            yield
        finally:
            sys.setprofile(before)


class Cluster:
    """A Project with a single place for an agent, where nothing else is said."""

    def __init__(self, remote: Remote | None = None, **spec: Any) -> None:
        self.store = Store()
        dice, store = Even(1), self.store
        programs = Programs(store, remote or Remote(TARGET), dice, RATES["calm"].fates)
        programs.all_good, programs.witness = True, Nobody()
        self.kubelets = Kubelets(store, programs, dice, Nobody())
        JobController(store, dice)
        spec = {"limits": {"maxAgents": 1}, "gates": {"enabled": False}} | spec
        store.create(PROJECTS, valid("Project", NAMESPACE, "default", **spec))

    def waits(self, name: str, **spec: Any) -> None:
        self.store.create(TASKS, valid("Task", NAMESPACE, name, **spec))

    def plan(self, steps: int, behind: int = 0, **spec: Any) -> None:
        """A Plan of so many steps, of which none waits for another; so many others wait for the
        first stage of them."""
        stages = [
            {
                "name": f"stage {first}",
                "dependsOn": [],
                "steps": [{"title": f"Step {n}"} for n in range(first, min(first + 50, steps))],
            }
            for first in range(0, steps, 50)
        ]
        then = [{"title": f"Behind {n}"} for n in range(behind)]
        if then:
            stages.append({"name": "behind", "dependsOn": ["stage 0"], "steps": then})
        self.store.create(PLANS, valid("Plan", NAMESPACE, "web", stages=stages, **spec))

    def status(self, name: str) -> Object:
        found = self.store.find(TASKS, Key(NAMESPACE, name))
        status: Object = (found or {}).get("status", {})
        return status

    def pods_made(self) -> list[Object]:
        """Every pod that there was, as it was made."""
        return [change.object for change in self.store.log[PODS] if change.type == "ADDED"]

    def closed(self) -> int:
        return sum(task["status"].get("state") == "Closed" for task in self.store.all(TASKS))

    async def until(self, is_so: Callable[[], bool]) -> None:
        """And until nothing happens any more for that."""
        for _ in range(2_000):
            if is_so():
                await asyncio.sleep(5)
                return
            await asyncio.sleep(1)
        raise AssertionError("it does not come to pass")

    async def told(self) -> None:
        await self.until(
            lambda: all(
                task["status"].get("waiting") or task["status"].get("state") not in (None, "Open")
                for task in self.store.all(TASKS)
            )
        )


async def play(number: int, spec: Callable[[int], Object]) -> tuple[Costs, Costs]:
    """What a new Task costs beside so many that wait, and one that passes."""
    cluster = Cluster()
    made, passed = Costs(), Costs()
    cluster.waits("at-work", priority=1)
    replica = asyncio.create_task(Replica(0, cluster.store, Troubles(cluster.store), 0).run())
    await cluster.until(lambda: cluster.status("at-work").get("state") == "InProgress")
    for n in range(number):
        cluster.waits(f"waits-{n}", priority=3, **spec(n))
    await cluster.told()
    with made.counted():
        cluster.waits("passes", priority=1)
        await cluster.until(lambda: bool(cluster.status("passes").get("waiting")))
    with passed.counted():
        await cluster.until(lambda: cluster.status("passes").get("state") == "Closed")
    cluster.kubelets.stop()
    replica.cancel()
    await asyncio.gather(replica, return_exceptions=True)
    return made, passed


@asynccontextmanager
async def begun(steps: int, behind: int = 0, **spec: Any) -> AsyncIterator[Cluster]:
    """A Plan of which a Task is Closed, and the next ones are on their way."""
    cluster = Cluster()
    cluster.plan(steps, behind, **spec)
    replica = asyncio.create_task(Replica(0, cluster.store, Troubles(cluster.store), 0).run())
    await cluster.until(lambda: len(cluster.store.all(TASKS)) == steps + behind)
    await cluster.told()
    await cluster.until(lambda: cluster.closed() >= 1)
    yield cluster
    cluster.kubelets.stop()
    replica.cancel()
    await asyncio.gather(replica, return_exceptions=True)


async def play_plan(number: int, spec: Object) -> Costs:
    """What a Task costs that passes, of a Plan of which so many wait."""
    passed = Costs()
    async with begun(number + 2, **spec) as cluster:
        before = cluster.closed()
        with passed.counted():
            await cluster.until(lambda: cluster.closed() > before)
    return passed


async def play_stages(behind: int) -> tuple[int, int]:
    """How many Tasks of a stage have ended, though not all of it, and how often Tasks were written
    that wait for it."""
    async with begun(20, behind) as cluster:
        first, before = len(cluster.store.log[TASKS]), cluster.closed()
        await cluster.until(lambda: cluster.closed() >= before + 5)
        written = [change.object for change in cluster.store.log[TASKS][first:]]
        waits = [task for task in written if task["spec"].get("dependsOnStages")]
        return cluster.closed() - before, len(waits)


@pytest.fixture
def no_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()
    gc.collect()


@pytest.mark.usefixtures("no_collection")
def test_a_task_costs_no_more_beside_many_that_wait() -> None:
    few, many = (run(play(number, lambda _: {})) for number in (FEW, MANY))

    for what, beside_few, beside_many in zip(("new", "passes"), few, many, strict=True):
        print(
            f"\ncalls for a Task that {what}: {beside_few.all:,} beside {FEW} that wait, "
            f"{beside_many.all:,} beside {MANY:,}"
        )
        more = beside_many.calls - beside_few.calls
        print("  of which more: ", more.most_common(12))
        assert beside_many.all <= MOST * beside_few.all, more.most_common(5)


@pytest.mark.parametrize("spec", [{}, {"budget": "1000000"}], ids=["free", "with a budget"])
@pytest.mark.usefixtures("no_collection")
def test_a_task_of_a_plan_costs_no_more_beside_many_of_it_that_wait(spec: Object) -> None:
    few, many = (run(play_plan(number, spec)) for number in (FEW, MOST_STEPS))

    looks = [costs.calls["core/plans/decide.py:decide"] for costs in (few, many)]
    print(
        f"\ncalls for a Task of a Plan that passes: {few.all:,} beside {FEW} that wait, "
        f"{many.all:,} beside {MOST_STEPS:,}; looks at the Plan: {looks}"
    )
    more = many.calls - few.calls
    print("  of which more: ", more.most_common(12))
    assert looks[1] <= MOST * looks[0]
    assert many.all <= MOST * few.all, more.most_common(5)


def test_a_task_that_ends_rewrites_none_of_those_that_wait_for_others_of_its_stage() -> None:
    ended, written = run(play_stages(40))
    print(f"\n{ended} Tasks of a stage ended: {written} writes to 40 that wait for it")
    assert ended >= 5
    assert written == 0
