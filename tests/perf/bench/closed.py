"""What Tasks cost that have ended long ago: memory, a restart, and writes that nobody needs.

They are copies of one that really ran, with its session: written to etcd as the API server would
store them, because to run ten thousand of them takes more than an hour.
"""

from __future__ import annotations

import base64
import http.client
import json
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from tests.cluster import Cluster
from tests.cluster.control_plane.parts import LOOPBACK
from tests.cluster.processes import record as records
from tests.cluster.progress import say
from tests.control_plane.objects import AGENT_SESSIONS, TASKS
from tests.perf.bench import load
from tests.perf.bench.goals import OF_THEM
from tests.perf.bench.load import Place
from tests.perf.bench.moments import WRITES
from tests.perf.bench.operator import NO_WORK, RECONCILES, REQUESTS, writes
from tests.perf.bench.prometheus import Samples
from tests.perf.bench.surroundings import Surroundings
from tests.perf.bench.table import Table
from tests.perf.bench.throughput import SIGNAL

AT_ONCE = 100
"""Keys in one transaction; etcd takes 128."""
BYTES_AT_ONCE = 500_000
"""Of values in one transaction, before the last of them; etcd takes 1.5 MB."""
EXAMPLE = "example"
AGO_SECONDS = 7200
"""So long before the example the copies were made and ended: their Jobs and pods are gone."""
_MOMENT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Size:
    """How many Tasks there are, and how long it is looked at them."""

    tasks: int = 10_000
    projects: int = 25
    runs: int = 2
    rest: float = 30
    """Seconds without any change."""
    resync: float = 60
    """Seconds in which the operator looks at everything again, twice in a run."""
    seconds: float = 600
    """That one start may take."""


@dataclass(frozen=True)
class Run:
    """One life of the operator."""

    settled: float
    """Seconds from its start to its last work."""
    at_start: float
    """Writes."""
    at_rest: float
    at_resync: float
    memory: int
    """Bytes at rest."""
    most_memory: int
    """Bytes, of all looks."""
    lost: int
    """How often it lost its Lease."""
    asked: Mapping[str, float] = field(default_factory=dict)
    """Writes of this life by verb and resource."""


async def closed(here: Surroundings, size: Size) -> list[Table]:
    """A table of restarts beside so many Closed Tasks, and one beside none."""
    example, namespaces = await example_of(here, size)
    found = {0: [await _live(here, size, 1) for _ in range(size.runs)]}
    copied = await copy(here, example, namespaces, size)
    found[size.tasks] = [await _live(here, size, size.tasks) for _ in range(size.runs)]
    return [table(found, copied)]


async def example_of(here: Surroundings, size: Size) -> tuple[Place, Sequence[str]]:
    """A Task that has run, in the first of so many Projects' namespaces; and these."""
    here.operator.start()
    here.operator.settle(120)
    limits = {"limits": {"maxAgents": 50}}
    namespaces = await load.make_projects(here.admin, size.projects, "closed", **limits)
    example = Place(namespaces[0], EXAMPLE)
    await load.run_tasks(here.admin, [example], size.seconds, completionSignals=[SIGNAL])
    here.operator.settle(size.seconds)
    return example, namespaces


async def _live(here: Surroundings, size: Size, tasks: int) -> Run:
    """The operator starts, rests, and looks at everything again."""
    operator = here.operator
    operator.stop()
    before = operator.lost
    operator.start(f"--resync-seconds={size.resync}")
    settled = operator.settle(size.seconds, reconciles=tasks)
    memory = [operator.memory]
    at_start = _writes(here)
    time.sleep(size.rest)  # noqa: ASYNC251 - nothing else is to be done
    at_rest = _writes(here) - at_start
    memory.append(operator.memory)
    seen = 3 * tasks  # at the start, and twice again
    operator.wait(lambda s: s.total(RECONCILES, controller="task") >= seen, size.seconds)
    memory.append(operator.memory)
    at_resync = _writes(here) - at_start - at_rest
    lost = operator.lost - before
    say(f"  {tasks:,} Tasks: settled after {settled:.1f} s")
    asked = _asked(here)
    return Run(settled, at_start, at_rest, at_resync, memory[1], max(memory), lost, asked)


def _writes(here: Surroundings) -> float:
    return writes(_samples(here))


def _asked(here: Surroundings) -> dict[str, float]:
    found = _samples(here).by(REQUESTS, "method", "resource").items()
    return {f"{v} {what}": n for (v, what), n in found if v in WRITES and what not in NO_WORK}


def _samples(here: Surroundings) -> Samples:
    samples = here.operator.metrics()
    if samples is None:
        raise TimeoutError("the operator does not answer")
    return samples


def table(found: Mapping[int, Sequence[Run]], copied: int) -> Table:
    """A column for each number of Tasks. `copied`: bytes of one Task with its session in etcd."""
    columns = [f"{count:,} more" for count in found]
    title = f"Closed Tasks with their sessions, {copied:,} bytes each in etcd"
    made = Table(title, columns)
    rows: tuple[tuple[str, str, Callable[[Run], float]], ...] = (
        ("memory at rest", "MB", lambda run: run.memory / MEGABYTE),
        ("most memory seen", "MB", lambda run: run.most_memory / MEGABYTE),
        ("restart until settled", "s", lambda run: run.settled),
        ("Lease lost", "", lambda run: run.lost),
        ("writes at a restart", "", lambda run: run.at_start),
        ("writes at rest", "", lambda run: run.at_rest),
        ("writes when it looks at all again", "", lambda run: run.at_resync),
    )
    for what, unit, of in rows:
        cells = {
            column: tuple(float(of(run)) for run in runs)
            for column, runs in zip(columns, found.values(), strict=True)
        }
        made.add(what, unit, cells)
    for what in sorted({what for runs in found.values() for run in runs for what in run.asked}):
        cells = {
            column: tuple(run.asked.get(what, 0.0) for run in runs)
            for column, runs in zip(columns, found.values(), strict=True)
        }
        made.add(f"{OF_THEM}{what}", "", cells)
    return made


# --- copies


async def copy(here: Surroundings, example: Place, namespaces: Sequence[str], size: Size) -> int:
    """So many copies of the example and its session, made while the operator is stopped; the bytes
    that one takes."""
    here.operator.stop()
    task = await here.admin.get(TASKS, example.name, example.namespace)
    session = str(task["status"]["session"])
    owned = await here.admin.get(AGENT_SESSIONS, session, example.namespace)
    etcd = Etcd.of(here.cluster)
    stored = {
        (resource.plural, name): etcd.read(_key(resource.plural, example.namespace, name))
        for resource, name in ((TASKS, example.name), (AGENT_SESSIONS, session))
    }
    uids = [str(obj["metadata"]["uid"]) for obj in (task, owned)]
    pairs = copies(stored, example, uids, load.places(namespaces, size.tasks, "copy"))
    etcd.write(pairs)
    here.rest(size.seconds)
    return sum(map(len, stored.values()))


def _earlier(moment: str) -> str:
    then = datetime.fromisoformat(moment) - timedelta(seconds=AGO_SECONDS)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def _key(plural: str, namespace: str, name: str) -> str:
    return f"/registry/{TASKS.group}/{plural}/{namespace}/{name}"


def copies(
    stored: Mapping[tuple[str, str], str],
    example: Place,
    uids: Sequence[str],
    wanted: Iterable[Place],
) -> Iterator[tuple[str, str]]:
    """Keys and values in etcd: what is stored of the example by plural and name, under other names,
    namespaces and uids, and older: of what ended a moment ago a new leader is not sure."""
    for place in wanted:
        for (plural, name), text in stored.items():
            made = text.replace(example.namespace, place.namespace)
            for uid in uids:
                made = made.replace(uid, str(uuid.uuid5(uuid.UUID(uid), f"{place}")))
            for moment in set(_MOMENT.findall(made)):
                made = made.replace(moment, _earlier(moment))
            own = place.name + name.removeprefix(example.name)
            yield _key(plural, place.namespace, own), made.replace(example.name, place.name)


class Etcd:
    """etcd's own API in JSON."""

    def __init__(self, port: int) -> None:
        self._port = port

    @classmethod
    def of(cls, cluster: Cluster) -> Etcd:
        """Of a cluster whose components are processes."""
        record = records.load(Path(cluster.status().folder) / "record.json")
        assert record is not None
        return cls(record.ports["etcd"])

    def read(self, key: str) -> str:
        """KeyError when there is no such key."""
        answer = self._ask("range", {"key": _packed(key)})
        for pair in answer.get("kvs", ()):
            return base64.b64decode(pair["value"]).decode()
        raise KeyError(key)

    def write(self, pairs: Iterable[tuple[str, str]]) -> None:
        """All of them, some in each transaction."""
        some: list[dict[str, object]] = []
        size = 0
        for key, value in pairs:
            some.append({"requestPut": {"key": _packed(key), "value": _packed(value)}})
            size += len(value)
            if len(some) == AT_ONCE or size >= BYTES_AT_ONCE:
                self._ask("txn", {"success": some})
                some, size = [], 0
        if some:
            self._ask("txn", {"success": some})

    def _ask(self, what: str, body: Mapping[str, object]) -> dict[str, list[dict[str, str]]]:
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=60)
        try:
            connection.request("POST", f"/v3/kv/{what}", json.dumps(body))
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise OSError(f"etcd answered {answer.status}: {text[:500]!r}")
        found: dict[str, list[dict[str, str]]] = json.loads(text)
        return found


def _packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
