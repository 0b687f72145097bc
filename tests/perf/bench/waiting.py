"""What a Task costs the operator beside many others of its Project that wait for a place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.cluster.kwok.stages import HELD
from tests.cluster.progress import say
from tests.control_plane.objects import TASKS
from tests.perf.bench import load
from tests.perf.bench.goals import OTHERS
from tests.perf.bench.load import Place, Watched
from tests.perf.bench.moments import OPERATOR, Span
from tests.perf.bench.surroundings import Surroundings
from tests.perf.bench.table import Table, Values, ratio

T = TypeVar("T")

FIRST, NEXT, LAST = 1, 2, 5
"""Priorities: of Tasks that pass, of the one that takes the place after them, of all that wait."""


@dataclass(frozen=True)
class Size:
    """How many wait, and how much is done beside them."""

    waiting: Sequence[int] = (100, 2000)
    tasks: int = 10
    """That are made and pass, in each run."""
    runs: int = 2
    seconds: float = 900
    """That it may take until so many wait, or until these have passed."""


@dataclass
class Costs:
    """Of Tasks that were made, and that passed, one span for each run."""

    made: list[Span] = field(default_factory=list)
    passed: list[Span] = field(default_factory=list)


async def waiting(here: Surroundings, size: Size) -> list[Table]:
    """A table with a column for each number of Tasks that wait; the numbers must grow."""
    here.operator.start()
    here.operator.settle(120)
    (namespace,) = await load.make_projects(
        here.admin, 1, "waiting", limits={"maxAgents": 1}, gates={"enabled": False}
    )
    holder = Place(namespace, f"{HELD}-first")
    found: dict[int, Costs] = {}
    async with load.watched(here.admin, TASKS, namespaces=[namespace]) as tasks:
        await load.make_tasks(here.admin, [holder], priority=FIRST)
        await tasks.until(lambda: _states(tasks, [holder]) == ["InProgress"], size.seconds)
        there = 0
        for wanted in size.waiting:
            more = [Place(namespace, f"waits-{number}") for number in range(there, wanted)]
            await _made(here, tasks, more, size.seconds, LAST)
            there = wanted

            async def play(run: int, wanted: int = wanted) -> tuple[Span, Span]:
                nonlocal holder
                names = [f"passes-{wanted}-{run}-{number}" for number in range(size.tasks)]
                passing = [Place(namespace, name) for name in names]
                made = await _make(here, tasks, passing, size.seconds)
                after = Place(namespace, f"{HELD}-{wanted}-{run}")
                await _made(here, tasks, [after], size.seconds, NEXT)
                passed = await _pass(here, tasks, passing, holder, after, size.seconds)
                holder = after
                say(f"  {wanted:,} wait: run {run} of {size.runs} is done")
                return made, passed

            spans = await warmed_up(size.runs, play)
            found[wanted] = Costs([made for made, _ in spans], [passed for _, passed in spans])
    return [table(size, found)]


async def warmed_up(runs: int, play: Callable[[int], Awaitable[T]]) -> list[T]:
    """What so many rounds are, from number 1 on; round 0 is not counted: what is loaded and
    compiled at a first time is none of what others cost."""
    await play(0)
    return [await play(run) for run in range(1, runs + 1)]


def _states(tasks: Watched, wanted: Sequence[Place]) -> list[Any]:
    return [status.get("state") for status in tasks.states(wanted)]


async def _made(
    here: Surroundings, tasks: Watched, wanted: Sequence[Place], seconds: float, priority: int
) -> None:
    """Until all of them say why they wait."""
    await load.make_tasks(here.admin, wanted, priority=priority)
    await tasks.until_each(wanted, lambda status: bool(status.get("waiting")), seconds)
    here.operator.settle(seconds)


async def _make(
    here: Surroundings, tasks: Watched, wanted: Sequence[Place], seconds: float
) -> Span:
    """One after another, so that each is a change of its own."""
    watch = here.watch()
    before = watch.now()
    for place in wanted:
        await load.make_tasks(here.admin, [place], priority=FIRST)
        await tasks.until(lambda p=place: bool(tasks.states([p])[0].get("waiting")), seconds)  # type: ignore[misc]
    here.operator.settle(seconds)
    return before.until(watch.now())


async def _pass(
    here: Surroundings,
    tasks: Watched,
    passing: Sequence[Place],
    holder: Place,
    after: Place,
    seconds: float,
) -> Span:
    """The holder of the only place ends, these go one after another, then another one holds it."""
    watch = here.watch()
    before = watch.now()
    stop = {"spec": {"cancel": {"reason": "its place is wanted"}}}
    await here.admin.patch(TASKS, holder.name, holder.namespace, stop)

    def gone_by() -> bool:
        if "Failed" in _states(tasks, passing):
            raise load.WentWrongError(f"a Task of {holder.namespace} failed")
        done = all(state == "Closed" for state in _states(tasks, passing))
        return done and _states(tasks, [after]) == ["InProgress"]

    await tasks.until(gone_by, seconds)
    here.operator.settle(seconds)
    return before.until(watch.now())


def table(size: Size, found: dict[int, Costs]) -> Table:
    """Costs for each Task, and what they grow by; of Leases lost the most beside any number."""
    columns = [f"{wanted:,} wait" for wanted in size.waiting]
    made = Table(f"A Task beside others of its Project; {size.tasks} in a run", [*columns, "most"])
    rows: tuple[tuple[str, str, Callable[[Costs], Values]], ...] = (
        ("operator's CPU for a new Task", "ms", lambda c: _cpu(c.made, size.tasks)),
        ("operator's CPU for one that passes", "ms", lambda c: _cpu(c.passed, size.tasks)),
        ("reconciles for a new Task", "", lambda c: _reconciles(c.made, size.tasks)),
        ("reconciles for one that passes", "", lambda c: _reconciles(c.passed, size.tasks)),
    )
    for what, unit, of in rows:
        values = {column: of(found[n]) for column, n in zip(columns, size.waiting, strict=True)}
        most = {"most": ratio(values[columns[-1]], values[columns[0]])} if columns[1:] else {}
        made.add(what, unit, values | most)
    lost = {
        column: tuple(float(m.lost + p.lost) for m, p in zip(c.made, c.passed, strict=True))
        for column, c in zip(columns, (found[n] for n in size.waiting), strict=True)
    }
    most_lost = tuple(map(max, zip(*lost.values(), strict=True)))
    made.add("Lease lost", "", {**lost, "most": most_lost})
    others = {
        column: tuple(100 * span.others for span in (*found[n].made, *found[n].passed))
        for column, n in zip(columns, size.waiting, strict=True)
    }
    made.add(OTHERS, "%", others)
    return made


def _cpu(spans: Sequence[Span], count: int) -> Values:
    return tuple(1000 * span.cpu[OPERATOR] / count for span in spans)


def _reconciles(spans: Sequence[Span], count: int) -> Values:
    return tuple(span.reconciles / count for span in spans)
