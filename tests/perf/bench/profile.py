"""Where the operator's CPU goes, by the profiler of Python's own library.

It makes calls dearer than other code, so that only the order counts: what is measured without it
says how much there is.
"""

from __future__ import annotations

import pstats
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from tests.perf.bench import load
from tests.perf.bench.surroundings import Surroundings
from tests.perf.bench.table import Table
from tests.perf.bench.throughput import SIGNAL, Size

MOST_FUNCTIONS = 45
Place = tuple[str, int, str]
"""File, line and name of a function, as the profiler tells them."""
Callers = Mapping[Place, tuple[int, int, float, float]]
"""The same as of a function, as far as it was called by each of these."""
Stats = Mapping[Place, tuple[int, int, float, float, Callers]]
"""Of each function: primitive calls, calls, seconds of its own, seconds with what it calls, and by
whom it was called."""
OURS = re.compile(r"/operator/bernstein/(.+)\.py$")
_LIBRARY = re.compile(r"/(?:site-packages|python3\.\d+)/(?!site-packages)(\w+)")


async def profile(here: Surroundings, size: Size, file: Path) -> list[Table]:
    """Tables of rooms and of functions, for each of so many Tasks of four Jobs."""
    agents = {"limits": {"maxAgents": max(size.tasks, 1)}}
    namespaces = await load.make_projects(here.admin, size.projects, "profile", **agents)
    here.operator.start(program=("tests.perf.bench.profiled", str(file)))
    here.operator.settle(120)
    wanted = load.places(namespaces, size.tasks, "work")
    await load.run_tasks(here.admin, wanted, size.seconds, completionSignals=[SIGNAL])
    here.operator.settle(size.seconds)
    here.operator.stop()
    stats: Stats = pstats.Stats(str(file)).stats  # type: ignore[attr-defined] # untyped there
    return [f(stats, size.tasks) for f in (rooms, functions, others)]


def room_of(place: Place) -> str:
    """The room of ours that a function is in, or the library."""
    file = place[0]
    if ours := OURS.search(file):
        return "/".join(ours[1].split("/")[:2])
    if library := _LIBRARY.search(file):
        return f"library {library[1]}"
    return "built in"


def rooms(stats: Stats, tasks: int) -> Table:
    """Seconds of their own, by room and library."""
    own: defaultdict[str, float] = defaultdict(float)
    for place, (_, _, seconds, _, _) in stats.items():
        if not _waits(place):
            own[room_of(place)] += seconds
    table = Table("Profile: time of their own, a Task", ["own"])
    for room, seconds in sorted(own.items(), key=lambda item: -item[1])[:MOST_FUNCTIONS]:
        table.add(room, "ms", {"own": (1000 * seconds / tasks,)})
    return table


def functions(stats: Stats, tasks: int) -> Table:
    """Functions of ours, by the time that they and what they call take."""
    table = Table("Profile: our functions with what they call, a Task", ["all", "own", "calls"])
    ours = [(place, found) for place, found in stats.items() if OURS.search(place[0])]
    ours.sort(key=lambda item: -item[1][3])
    for place, (_, calls, own, everything, _) in ours[:MOST_FUNCTIONS]:
        file = OURS.search(place[0])
        assert file is not None
        cells = {
            "all": (1000 * everything / tasks,),
            "own": (1000 * own / tasks,),
            "calls": (calls / tasks,),
        }
        table.add(f"{file[1]}:{place[2]}", "ms", cells)
    return table


def others(stats: Stats, tasks: int) -> Table:
    """Functions of libraries and of Python, by their own time."""
    table = Table("Profile: others' functions, a Task", ["own", "calls"])
    found = [
        (place, facts)
        for place, facts in stats.items()
        if not OURS.search(place[0]) and not _waits(place)
    ]
    found.sort(key=lambda item: -item[1][2])
    for place, (_, calls, own, _, _) in found[:MOST_FUNCTIONS]:
        name = f"{room_of(place)}: {place[2]}"
        table.add(name, "ms", {"own": (1000 * own / tasks,), "calls": (calls / tasks,)})
    return table


def _waits(place: Place) -> bool:
    """Whether it is where the loop waits for what comes next."""
    return "poll" in place[2] and "select" in place[2]
