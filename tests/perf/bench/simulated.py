"""Where the operator's CPU goes for Tasks of four Jobs, by the profiler of Python's own library,
with a cluster in memory: `python -m tests.perf.bench.simulated`.

The engine is the real one, and so are its caches and decisions; there is no HTTP, and time is
virtual. The profiler makes calls dearer than other code: only the order counts, and how a figure
changes on one machine.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import pstats
import sys
import time
from collections import defaultdict
from functools import partial

from bernstein.api.programs.merge import LandResult
from bernstein.core import sanitise
from bernstein.core.actions import RunLand
from bernstein.observe import logging
from tests.model.loop import run
from tests.model.people import TARGET
from tests.model.replicas import Replica
from tests.model.trouble import Troubles
from tests.perf.bench.profile import OURS, Place, Stats
from tests.perf.bench.table import Table, as_text
from tests.perf.test_life_of_a_task import GATES
from tests.perf.test_waiting import Cluster
from tests.unit.core.simulation.remote import Remote

MOST_FUNCTIONS = 10
_LOG_LINE = 2000
"""Characters of a text in it."""


class Still(Remote):
    """A branch that nothing moves: else who lands second is judged a second time."""

    def land(self, wanted: RunLand) -> LandResult:
        return LandResult("Landed", wanted.sha)


async def life(tasks: int, profiler: cProfile.Profile) -> int:
    """So many Tasks from their creation to Closed, all at the same time; how many pods they had."""
    gates = {"extends": "Default", "pipeline": GATES, "timeoutSeconds": 60}
    cluster = Cluster(Still(TARGET), limits={"maxAgents": tasks}, gates=gates)
    replica = asyncio.create_task(Replica(0, cluster.store, Troubles(cluster.store), 0).run())
    await asyncio.sleep(120)  # the Project is probed
    before = len(cluster.pods_made())
    profiler.enable()
    for number in range(tasks):
        cluster.waits(f"work-{number}", files=[f"{number}.py"])
    await cluster.until(lambda: cluster.closed() == tasks)
    profiler.disable()
    cluster.kubelets.stop()
    replica.cancel()
    await asyncio.gather(replica, return_exceptions=True)
    return len(cluster.pods_made()) - before


def dearest(stats: Stats, pods: int) -> Table:
    """Our functions by their own time, with that of functions in C which they call."""
    own: defaultdict[Place, float] = defaultdict(float)
    for place, (_, _, seconds, _, callers) in stats.items():
        if OURS.search(place[0]):
            own[place] += seconds
        elif place[0] == "~":
            for by, its in callers.items():
                if OURS.search(by[0]):
                    own[by] += its[2]
    for place in own:  # what plays the cluster calls some of them, too
        others = sum(its[1] for by, its in stats[place][4].items() if "/tests/" in by[0])
        own[place] *= 1 - others / stats[place][1]
    table = Table("Our functions by their own time, a pod", ["own", "all", "calls"])
    for place, seconds in sorted(own.items(), key=lambda item: -item[1])[:MOST_FUNCTIONS]:
        file = OURS.search(place[0])
        assert file is not None
        _, calls, _, everything, _ = stats[place]
        cells = {"own": 1000 * seconds, "all": 1000 * everything, "calls": calls}
        figures = {name: (figure / pods,) for name, figure in cells.items()}
        table.add(f"{file[1]}:{place[2]}", "ms", figures)
    table.add("all of them", "ms", {"own": (1000 * sum(own.values()) / pods,)})
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.perf.bench.simulated")
    parser.add_argument("--tasks", type=int, default=100)
    tasks = parser.parse_args().tasks
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - it is no file
        logging.configure(sanitise=partial(sanitise.text, limit=_LOG_LINE), stream=nowhere)
        profiler = cProfile.Profile(time.thread_time)
        pods = run(life(tasks, profiler))
    stats: Stats = pstats.Stats(profiler).stats  # type: ignore[attr-defined] # untyped there
    sys.stdout.write(as_text([dearest(stats, pods)], {"Tasks": tasks, "pods": pods}))


if __name__ == "__main__":
    main()
