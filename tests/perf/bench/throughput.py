"""How fast Tasks go through, and what each costs, beside the Jobs that it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bernstein.api.pod import AGENT, LAND
from bernstein.core import labels
from bernstein.kube.resource import JOBS, Object
from tests.cluster.kwok.stages import UNCHANGED
from tests.cluster.progress import say
from tests.perf.bench import bare_jobs, load
from tests.perf.bench.goals import OTHERS
from tests.perf.bench.load import Chain, Place
from tests.perf.bench.moments import OPERATOR, WRITES, Asked, Span
from tests.perf.bench.operator import NO_WORK
from tests.perf.bench.surroundings import Surroundings
from tests.perf.bench.table import Table, Values, ratio

TASKS, BARE, MINIMAL = "Tasks", "bare Jobs", "minimal Jobs"
COLUMNS = (TASKS, BARE, MINIMAL)
SIGNAL = {"type": "path_exists", "path": "new.py"}
MOST_REQUESTS = 30
"""Rows of requests that are shown."""
READS = ("GET",)
_EVENT = ("POST", "events")
_PARTS = (
    ("API server", "kube-apiserver"),
    ("etcd", "etcd"),
    ("controller manager", "kube-controller-manager"),
    ("scheduler", "kube-scheduler"),
    ("KWOK", "kwok"),
    ("this bench", "bench"),
)


@dataclass(frozen=True)
class Size:
    """How much is done, and how often."""

    tasks: int = 100
    projects: int = 25
    runs: int = 2
    seconds: float = 600
    """That one run of one kind may take."""


@dataclass(frozen=True)
class Run:
    """One piece of load."""

    seconds: float
    """Until the last one had ended; the span goes on until all is quiet."""
    span: Span


@dataclass
class Found:
    """All runs of what one Task consists of."""

    pods: int
    """Of each piece of work."""
    runs: dict[str, list[Run]] = field(default_factory=lambda: {name: [] for name in COLUMNS})


async def throughput(here: Surroundings, size: Size) -> list[Table]:
    """Tables of Tasks with four Jobs each, and with one."""
    here.operator.start()
    here.operator.settle(120)
    agents = {"limits": {"maxAgents": max(size.tasks, 1)}}
    full = await load.make_projects(here.admin, size.projects, "full", **agents)
    quiet = await load.make_projects(
        here.admin, size.projects, "quiet", **agents, gates={"enabled": False}
    )
    tables = []
    for title, namespaces, prefix, spec in (
        ("Tasks of four Jobs", full, "work", {"completionSignals": [SIGNAL]}),
        ("Tasks of one Job", quiet, UNCHANGED, {"changes": "none"}),
    ):
        found = await _measured(here, size, namespaces, prefix, spec)
        what = f"{title}: {size.tasks} in {size.projects} Projects"
        tables += [costs(what, size.tasks, found), *asked(title, size.tasks, found)]
    return tables


async def _measured(
    here: Surroundings,
    size: Size,
    namespaces: Sequence[str],
    prefix: str,
    spec: Mapping[str, object],
) -> Found:
    chain = await example(here, namespaces[0], prefix, spec, size.seconds)
    found = Found(pods=sum(map(len, chain)))
    for number in range(size.runs):
        for kind in COLUMNS:
            wanted = load.places(namespaces, size.tasks, f"{prefix}-{kind[0].lower()}{number}")

            async def work(wanted: list[Place] = wanted, kind: str = kind) -> float:
                if kind == TASKS:
                    return await load.run_tasks(here.admin, wanted, size.seconds, **spec)
                chains = {place: copies(chain, place.name, kind) for place in wanted}
                return await load.run_chains(here.admin, chains, size.seconds)

            found.runs[kind].append(await _run(here, work, size.seconds))
            say(f"  {kind} of {found.pods} pods: {size.tasks / found.runs[kind][-1].seconds:.2f}/s")
    return found


async def _run(here: Surroundings, work: Callable[[], Awaitable[float]], seconds: float) -> Run:
    watch = here.watch()
    before = watch.now()
    took = await work()
    here.operator.settle(seconds)
    return Run(took, before.until(watch.now()))


async def example(
    here: Surroundings, namespace: str, prefix: str, spec: Mapping[str, object], seconds: float
) -> Chain:
    """The Jobs that the operator makes for one Task, in groups that ran side by side."""
    place = Place(namespace, f"{prefix}-example")
    await load.run_tasks(here.admin, [place], seconds, **spec)
    here.operator.settle(seconds)
    made = (await here.admin.list(JOBS, namespace)).items
    groups = {AGENT: 0, LAND: 2}
    of_group: dict[int, list[Object]] = {}
    for job in made:
        role = job["metadata"]["labels"][labels.JOB]
        of_group.setdefault(groups.get(role, 1), []).append(job)
    return [of_group[number] for number in sorted(of_group)]


def copies(chain: Chain, name: str, kind: str) -> Chain:
    """The same Jobs bare, or as many minimal ones, under names of their own."""
    made: list[list[Object]] = []
    for position, jobs in enumerate(chain):
        named = [(job, f"{name}-{position}-{number}") for number, job in enumerate(jobs)]
        made.append(
            [
                bare_jobs.bare(job, own, position)
                if kind == BARE
                else bare_jobs.minimal(own, position)
                for job, own in named
            ]
        )
    return made


# --- tables


def costs(title: str, count: int, found: Found) -> Table:
    """Rates and CPU of `count` pieces of work in each run; all but the rates for one of them."""
    table = Table(title, [*COLUMNS, "of bare", "of minimal"])

    def add(what: str, unit: str, of: Callable[[Run], float], *, alone: bool = False) -> None:
        shown = COLUMNS[:1] if alone else COLUMNS
        values = {name: tuple(of(run) for run in found.runs[name]) for name in shown}
        cells: dict[str, Values] = dict(values)
        if not alone:
            cells["of bare"] = ratio(values[TASKS], values[BARE])
            cells["of minimal"] = ratio(values[TASKS], values[MINIMAL])
        table.add(what, unit, cells)

    add("rate", "1/s", lambda run: count / run.seconds)
    add("pods", "1/s", lambda run: count * found.pods / run.seconds)
    pods = count * found.pods
    add("operator's CPU a pod", "ms", _cpu(OPERATOR, pods), alone=True)
    add("operator's CPU", "ms", _cpu(OPERATOR, count), alone=True)
    for what, name in _PARTS:
        add(f"{what}'s CPU", "ms", _cpu(name, count))
    add("requests to the API server", "", lambda run: run.span.api.total() / count)
    add("writes to the API server", "", lambda run: _writes(run.span.api) / count)
    add("operator's reads", "", lambda run: _asked(run, READS) / count, alone=True)
    add("operator's writes", "", lambda run: _asked(run, WRITES) / count, alone=True)
    add("operator's Events", "", lambda run: run.span.operator[_EVENT] / count, alone=True)
    add("reconciles", "", lambda run: run.span.reconciles / count, alone=True)
    add("Lease lost", "", lambda run: float(run.span.lost), alone=True)
    add(OTHERS, "%", lambda run: 100 * run.span.others)
    return table


def _asked(run: Run, verbs: Sequence[str]) -> int:
    """Requests of the operator, but for its Lease and its Events."""
    found = run.span.operator.items()
    return sum(n for (verb, what), n in found if verb in verbs and what not in NO_WORK)


def _cpu(process: str, pieces: int) -> Callable[[Run], float]:
    """Milliseconds for each of so many."""

    def of(run: Run) -> float:
        return 1000 * run.span.cpu[process] / pieces

    return of


def _writes(requests: Asked) -> int:
    """Events and Leases included."""
    return sum(n for (verb, _), n in requests.items() if verb in WRITES)


def asked(title: str, count: int, found: Found) -> list[Table]:
    """Requests by verb and resource for one piece of work, the most frequent first: of everybody,
    and of the operator, which does not tell subresources apart."""
    everybody = Table(f"{title}: requests to the API server, watches aside", COLUMNS)
    of_all = _most(run.span.api for runs in found.runs.values() for run in runs)
    for key in of_all:
        cells = {
            kind: tuple(run.span.api[key] / count for run in runs)
            for kind, runs in found.runs.items()
        }
        everybody.add(" ".join(key), "", cells)
    own = Table(f"{title}: requests of the operator", [TASKS])
    for key in _most(run.span.operator for run in found.runs[TASKS]):
        runs = tuple(run.span.operator[key] / count for run in found.runs[TASKS])
        own.add(" ".join(key), "", {TASKS: runs})
    return [everybody, own]


def _most(counted: Iterable[Asked]) -> list[tuple[str, str]]:
    everything: Asked = Counter()
    for each in counted:
        everything.update(each)
    return [key for key, _ in everything.most_common(MOST_REQUESTS)]
