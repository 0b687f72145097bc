"""Where the operator's CPU goes at a restart beside Tasks that have ended long ago."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.cluster.progress import say
from tests.perf.bench import closed
from tests.perf.bench.closed import Size
from tests.perf.bench.samples import sampler
from tests.perf.bench.samples.stacks import Stack, Work, by_package, by_work
from tests.perf.bench.surroundings import Surroundings
from tests.perf.bench.table import Table

_LOOKS = r"^kube/reconcile:"
_LISTS = r"^kube/informer:|^kube/client:Client\.(watch|list)"
_PACKS, _UNPACKS = r"^kube/cache:Packing\.", r"^kube/cache:Packed\."
_TELLS = r"^controllers/caches/first_look:"
WORKS = (
    Work(sampler.LOADING, (rf"\A{sampler.LOADING}\Z",)),
    Work("lists: reading JSON", (_LISTS, r"\A(kube/answers/|library json)")),
    Work("lists: packing", (_LISTS, _PACKS)),
    Work("lists: what needs no look", (_LISTS, _TELLS)),
    Work("lists: all else", (_LISTS,)),
    Work("looks: unpacking", (_LOOKS, _UNPACKS)),
    Work("looks: reading as models", (_LOOKS, r"^(library pydantic|api)/")),
    Work("looks: deciding", (_LOOKS, r"^core/")),
    Work("looks: all else", (_LOOKS,)),
    Work("TLS", (r"^library (ssl|asyncio/sslproto):",)),
    Work("HTTP", (r"^library aiohttp/",)),
    Work("event loop", (r"^library (asyncio/|selectors:)",)),
)
"""The first that a stack belongs to counts."""
_COLUMN = "a restart"


async def restart(here: Surroundings, size: Size) -> list[Table]:
    """Tables by what it is used for, and by package, of each restart."""
    example, namespaces = await closed.example_of(here, size)
    await closed.copy(here, example, namespaces, size)
    runs: list[list[Stack]] = []
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "operator.samples")
        for number in range(size.runs):
            program = ("tests.perf.bench.samples.sampler", sampler.AT_ONCE, str(file))
            here.operator.start(program=program)
            seconds = here.operator.settle(size.seconds, reconciles=size.tasks)
            here.operator.stop()
            runs.append(sampler.read(file))
            say(f"  run {number + 1} of {size.runs}: settled after {seconds:.1f} s")
    what = f"CPU beside {size.tasks:,} Closed Tasks, by samples"
    own = {_COLUMN: runs}
    return [
        by_work(f"Operator's {what}", own, WORKS, 1),
        by_package(f"Operator's {what}, innermost", own, sampler.package, 1),
    ]
