"""Who may write Plans, Tasks and Events makes so many, or says something of others' pods.

Each is first seen to work where the protection is taken off.
"""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Iterator

import pytest

from bernstein.api.meta import Metadata
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import MOST_EDGES
from bernstein.checks import globs
from bernstein.controllers.caches import READ
from bernstein.core import diagnosis, pods
from bernstein.core.graph import Place, circle
from bernstein.core.scheduling import begin_turns, chain, dependencies
from bernstein.core.scheduling import edges as scheduling_edges
from bernstein.core.scheduling.file_overlap import HeldFiles
from bernstein.core.scheduling.starts import Capacity
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.retention import DELIVERED_BY, stands_alone
from bernstein.kube.cache import Cache
from tests.perf.test_file_overlap import tasks
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object, at, ended, job, pod, waiting
from tests.unit.core.scheduling import schedules
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import schedule, starts

# --- hundreds of Plans ----------------------------------------------------------------------------


def that_begin(plans: list[Plan]) -> int:
    """How many of them make a pod at once, where the Project may have 500 agents."""
    return len(begin_turns.turns(plans, 500))


def test_hundreds_of_plans_make_no_hundreds_of_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    status = PlanStatus.model_validate({"expanded": True, "beginning": "Asks"})
    plans = [objects.plan(f"p{number}", status=status, begun=False) for number in range(300)]

    with monkeypatch.context() as taken:
        taken.setattr(begin_turns, "MOST", 10**6)
        assert that_begin(plans) == 300, "without turns all of them begin"

    assert that_begin(plans) == 4


# --- what is hard to compare, and edges -----------------------------------------------------------


STARS, LONG = "*[0-9a-z]" * 20, "a" * 200


def compared(number: int, patch: pytest.MonkeyPatch) -> int:
    """How many paths are held to globs in one look at so many Tasks with files that are hard to
    compare; half of them are at work."""
    count, read = 0, globs.Glob._read

    def counted(glob: globs.Glob, path: str) -> int:
        nonlocal count
        count += 1
        return read(glob, path)

    with patch.context() as watched:
        watched.setattr(globs.Glob, "_read", counted)
        peers = tasks(number, lambda n, k: f"{LONG}{n}.{k}", lambda n, k: f"{STARS}{n}x{k}[xy]")
        schedules.obstacles(peers, Capacity(number, {}))
    return count


def test_files_that_are_hard_to_compare_are_compared_so_often_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as taken:
        taken.setattr(HeldFiles.__init__, "__defaults__", (10**12, None))
        few, more = compared(4, monkeypatch), compared(8, monkeypatch)
        assert more > 3 * few > 15_000, "twice as many Tasks are compared four times as often"

    assert compared(300, monkeypatch) < few


class Followed(tuple[str, ...]):
    """The Tasks that one depends on; it counts how often one of them is gone on to."""

    edges = 0

    def __iter__(self) -> Iterator[str]:
        for name in super().__iter__():
            Followed.edges += 1
            yield name


def followed(number: int, patch: pytest.MonkeyPatch) -> int:
    """Edges that one look goes along, of so many Tasks in circles, each with as many as it may."""
    edges = {
        f"t{n}": Followed(f"t{(n + k) % number}" for k in range(1, MOST_EDGES + 1))
        for n in range(number)
    }
    opened: Object = {"plan": None, "status": objects.status()}
    made = {name: objects.task(name, dependsOn=[*on], **opened) for name, on in edges.items()}
    snapshot = ProjectSnapshot(objects.project(), [*made.values()], {}, made)
    with patch.context() as watched:
        watched.setattr(scheduling_edges, "named_alone", lambda task: edges[task.metadata.name])
        watched.setattr(Followed, "edges", 0)
        waits = schedule(snapshot, NOW).waits
        assert {s.waiting.reason for _, s in waits if s.waiting} == {"DependencyFailed"}
        return Followed.edges


def test_the_edges_of_tasks_in_circles_are_followed_as_often_as_there_are_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def alone(snapshot: TaskSnapshot) -> Place:
        """Where a Task stands, found from this one on."""
        graph = {name: Followed(task.spec.depends_on) for name, task in snapshot.tasks.items()}
        return Place(circle(graph, snapshot.task.metadata.name)[:-1], 0)

    with monkeypatch.context() as taken:
        taken.setattr(dependencies, "_circle", alone)
        assert followed(100, monkeypatch) > 50 * 100 * MOST_EDGES, "each of all, for each Task"

    assert followed(100, monkeypatch) <= 3 * 100 * MOST_EDGES
    assert followed(400, monkeypatch) <= 3 * 400 * MOST_EDGES


# --- metadata -------------------------------------------------------------------------------------


def kept(cache: Cache) -> int:
    """Bytes of what the operator has in memory of a hundred Tasks with large annotations."""
    for number in range(100):
        task = objects.task(f"t{number}").dump()
        meta: Object = {"name": f"t{number}", "namespace": "team", "uid": f"u{number}"}
        meta |= {"resourceVersion": "1", "annotations": {"mine": "x" * 200_000}}
        cache.update({**task, "metadata": meta})
    return sum(len(json.dumps(obj)) for obj in cache.objects())


def unheard(*_: Object | None) -> None:
    """A handler that nobody listens to."""


def test_annotations_of_256_kib_take_no_memory() -> None:
    assert kept(Cache({}, unheard)) > 20_000_000, "whatever is there is kept"

    assert kept(Cache({}, unheard, READ)) < 1_000_000


LARGE = 256 * 1024
LARGEST: dict[str, Object] = {
    "labels": {"labels": {f"l{number}": "" for number in range(55_000)}},
    "owners": {
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": f"{number}"}
            for number in range(25_000)
        ]
    },
    "finalizers": {"finalizers": [f"x.example/{number}" for number in range(50_000)]},
    "an annotation that begins as ours": {"annotations": {"bernstein.dev/x": "x" * LARGE}},
    "an annotation of a tool": {"annotations": {"argocd.argoproj.io/tracking-id": "x" * LARGE}},
    "an owner of a long name": {"ownerReferences": [{"name": "x" * LARGE, "uid": "y" * LARGE}]},
}


def held(cache: Cache, metadata: Object) -> int:
    """Bytes that a Task with such metadata takes of the operator's memory."""
    meta: Object = {"name": "t", "namespace": "team", "uid": "u", "resourceVersion": "1"}
    came = json.dumps({**objects.task("t").dump(), "metadata": meta | metadata})
    gc.collect()
    tracemalloc.start()
    try:
        cache.update(json.loads(came))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("what", LARGEST)
def test_what_nobody_reads_of_metadata_takes_no_memory(what: str) -> None:
    small = held(Cache({}, unheard, READ), {})
    assert held(Cache({}, unheard), LARGEST[what]) > 200_000, "whatever is there is kept"

    assert held(Cache({}, unheard, READ), LARGEST[what]) < small + 8_000


def test_a_task_that_a_tool_has_delivered_is_known_among_thousands_of_labels() -> None:
    for name in DELIVERED_BY:
        cache, meta = Cache({}, unheard, READ), objects.task("t").dump()["metadata"]
        many = {f"l{number}": "" for number in range(1000)} | {name: "x"}
        task = {**objects.task("t").dump(), "metadata": {**meta, "labels": many}}
        cache.update({**task, "metadata": task["metadata"] | {"resourceVersion": "1"}})
        seen = Metadata.model_validate(cache.objects()[0]["metadata"] | {"ownerReferences": []})
        assert not stands_alone(seen), name


def test_a_task_that_anything_owns_is_nobodys_to_delete_however_many_own_it() -> None:
    cache, meta = Cache({}, unheard, READ), objects.task("t").dump()["metadata"]
    cache.update({"metadata": {**meta, **LARGEST["owners"], "resourceVersion": "1"}})
    assert not stands_alone(Metadata.model_validate(cache.objects()[0]["metadata"]))


# --- words about others ---------------------------------------------------------------------------


def test_an_event_that_somebody_made_up_ends_no_pod_that_has_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agents = pod(ended("checkout"), waiting("agent", "PodInitializing"), phase="Pending", age=60)
    agents["spec"]["volumes"] = [{"name": "key", "secret": {"secretName": "model"}}]
    made_up = {"reason": "FailedMount", "message": 'secret "model" not found'}
    held = job("work-s1", agents, events=(made_up,))

    with monkeypatch.context() as taken:
        taken.setattr(pods, "has_ever_run", lambda _: False)
        found = diagnosis.diagnose_waiting(held, NOW)
        assert found is not None
        assert found.reason == "SecretNotFound", "it would be given up, and others held with it"

    assert diagnosis.diagnose_waiting(held, NOW) is None


def test_a_task_under_the_name_of_another_starts_nothing_of_a_plan_that_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = objects.plan(status=PlanStatus(observed_generation=1, phase="Failed", ended_at=at(-60)))
    waits = objects.task("left", status=objects.status(), dependsOn=["first"])
    guest = objects.task("first", plan=None, status=objects.closed(1))
    tasks = {"left": waits, "first": guest}
    snapshot = ProjectSnapshot(objects.project(), [waits], {"left": over}, tasks)

    with monkeypatch.context() as taken:
        for links in ("CHAIN", "OTHERS"):
            without = tuple(x for x in getattr(chain, links) if x is not chain.plan_ended)
            taken.setattr(chain, links, without)
        assert starts(schedule(snapshot, NOW)) == ["left"], "an agent works for a dead Plan"

    found = schedule(snapshot, NOW)
    assert starts(found) == []
    ((task, status),) = found.waits
    assert (task.metadata.name, status.state) == ("left", TaskState.OPEN)
    assert status.waiting is not None
    assert status.waiting.reason == "PlanEnded"
