"""Where the operator's CPU goes for Tasks of four Jobs, and where the API server's goes for these
and for the same Jobs bare."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.progress import say
from tests.perf.bench import load, throughput
from tests.perf.bench.load import Chain, Place
from tests.perf.bench.samples import sampler, server
from tests.perf.bench.samples.stacks import Stack, by_package, by_work
from tests.perf.bench.surroundings import Surroundings
from tests.perf.bench.table import Table
from tests.perf.bench.throughput import BARE, SIGNAL, TASKS, Size

SPEC = {"completionSignals": [SIGNAL]}
KINDS = ("work", "bare")


async def samples(here: Surroundings, size: Size) -> list[Table]:
    """Tables by what it is used for, and by package, for each of so many Tasks."""
    agents = {"limits": {"maxAgents": max(size.tasks, 1)}}
    namespaces = await load.make_projects(here.admin, size.projects, "samples", **agents)
    of_server: dict[str, list[list[Stack]]] = {TASKS: [], BARE: []}
    of_operator: list[list[Stack]] = []
    here.operator.start()
    here.operator.settle(120)
    chain = await throughput.example(here, namespaces[0], "work", SPEC, size.seconds)
    here.operator.stop()
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "operator.samples")
        for number in range(size.runs):
            there = [load.places(namespaces, size.tasks, f"{kind}-{number}") for kind in KINDS]
            tasks, bare = await _run(here, size.seconds, chain, there, file)
            of_server[TASKS].append(tasks)
            of_server[BARE].append(bare)
            of_operator.append(sampler.read(file))
            say(f"  run {number + 1} of {size.runs} is done")
    what = f"CPU for each of {size.tasks} Tasks of four Jobs, by samples"
    own = {TASKS: of_operator}
    return [
        by_work(f"Operator's {what}", own, sampler.WORKS, size.tasks),
        by_package(f"Operator's {what}, innermost", own, sampler.package, size.tasks),
        by_work(f"API server's {what}", of_server, server.WORKS, size.tasks),
        by_package(f"API server's {what}, innermost", of_server, server.package, size.tasks),
    ]


async def _run(
    here: Surroundings, seconds: float, chain: Chain, there: Sequence[list[Place]], file: Path
) -> tuple[list[Stack], list[Stack]]:
    """The API server's stacks for Tasks, and for bare Jobs; the operator's are in the file."""
    operator, (for_tasks, for_bare) = here.operator, there
    operator.start(program=("tests.perf.bench.samples.sampler", str(file)))
    operator.settle(120)
    chains = {place: throughput.copies(chain, place.name, BARE) for place in for_bare}
    with server.profiled(here.connection) as bare:
        await load.run_chains(here.admin, chains, seconds)
        operator.settle(seconds)
    operator.send(sampler.BEGIN)
    with server.profiled(here.connection) as tasks:
        await load.run_tasks(here.admin, for_tasks, seconds, **SPEC)
        operator.settle(seconds)
    operator.stop()
    return tasks, bare
