"""What many of the largest Tasks that the API takes, or the largest object of each other kind, cost
the operator's loop at once.

The whole engine runs on a cluster in memory, in virtual time, and each step of its loop is measured
alone, as CPU time: whatever is in one holds everything up, the Lease of the leader included. What
the cluster itself does counts for nothing, and garbage is not collected: most of what would be
walked over is the cluster. The figures are printed (``pytest -s``) for the
reference.
"""

from __future__ import annotations

import asyncio
import gc
from asyncio.events import Handle
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from time import process_time
from typing import Any, TypeVar, cast

import pytest

from bernstein.api.encoding import dump, load
from bernstein.api.pod import CHECK, RECORDER, RecorderResult
from bernstein.api.signals import MOST_PATTERN_CHARACTERS
from bernstein.api.task import MOST_EDGES, parse
from bernstein.controllers.caches.parsed import Parsed
from bernstein.crds.kinds import KINDS
from bernstein.kube.answers import WatchEvent
from bernstein.kube.client import Client, ObjectList
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Object, Resource
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.control_plane.objects import valid
from tests.model.cluster.job_controller import JobController
from tests.model.cluster.kubelet import Kubelets
from tests.model.cluster.programs import End, Programs, Run
from tests.model.cluster.store import NAMESPACE, Store
from tests.model.loop import run
from tests.model.people import TARGET
from tests.model.replicas import Replica
from tests.model.scenario import RATES
from tests.model.trouble import Troubles
from tests.perf import test_largest_approval as approvals
from tests.perf import test_largest_objects as plans
from tests.perf import test_largest_session as sessions
from tests.perf.pace import quickest
from tests.perf.roles import test_largest_role as roles
from tests.perf.test_largest_objects import LARGEST as PLANS_BY_KIND
from tests.perf.test_largest_objects import REFUSED
from tests.perf.test_largest_session import text
from tests.perf.test_waiting import Even, Nobody
from tests.unit.core.objects import ended
from tests.unit.core.simulation.remote import Remote

MOST_SECONDS = 0.2
"""Of one step."""
LOOKS = 100
"""Every 5 virtual seconds, until every Task says what it waits for."""
CLUSTER = ("get", "matching", "since", "create", "merge", "edit", "delete")
"""What the cluster in memory does in the loop of the engine."""

Make = Callable[[int], Object]
T = TypeVar("T")


def patterns(number: int) -> Object:
    """As many characters as a Task may have, of those that take longest to read."""
    texts = [f"{number}.{k}".ljust(12, "x") + "(|)" * 337 for k in range(8)]
    assert MOST_PATTERN_CHARACTERS - 1024 < sum(map(len, texts)) <= MOST_PATTERN_CHARACTERS
    signal = {"type": "file_contains", "path": "a", "regex": True}
    return {"completionSignals": [signal | {"contains": text} for text in texts]}


def texts(number: int) -> Object:
    """Of 1,024 characters, each meant as it stands."""
    signal = {"type": "file_contains", "path": "a"}
    return {
        "completionSignals": [
            signal | {"contains": f"{number}.{k}(".ljust(1024, "(")} for k in range(20)
        ]
    }


def globs(number: int) -> Object:
    """Half of them beside paths that they may name."""
    if number % 2:
        return {"files": [f"{'a' * 230}{number}.{k}" for k in range(40)]}
    return {"files": [f"{'*[0-9a-zA-Z]' * 20}{number}x{k}" for k in range(40)]}


def in_order(number: int) -> Object:
    return {"dependsOn": [name(k) for k in range(max(0, number - MOST_EDGES), number)]}


def in_circles(number: int) -> Object:
    return {"dependsOn": [name((number + k) % 2000) for k in range(1, MOST_EDGES + 1)]}


def project() -> Object:
    """A Project about as large as the API server's store takes one, 1.4 MB."""
    agents = [
        {
            "name": f"agent-{n}",
            "adapter": "generic",
            "image": f"agents/{n}:1",
            "command": [f"{n}.{k}".ljust(4096, "$") for k in range(18)],
        }
        for n in range(16)
    ]
    gates = [
        {"name": f"gate_{n}", "command": f"true {n} ".ljust(4096, "#"), "image": f"gates/{n}:1"}
        for n in range(32)
    ]
    block = {"ipBlock": {"cidr": "10.0.0.0/8"}}
    ports = [{"port": port} for port in range(1, 17)]
    rules = [{"to": [block] * 16, "ports": ports}] * 16
    prices = [{"model": f"model-{n}-", "input": "1", "output": "1"} for n in range(100)]
    return {
        "agents": agents,
        "gates": {"pipeline": gates},
        "network": {"git": rules, "checks": rules, "agents": rules},
        "budget": {"prices": prices},
    }


def nothing(_number: int) -> Object:
    return {}


def any_agent(number: int) -> Object:
    return {"cli": f"agent-{number % 16}"}


def judged() -> Object:
    """A Project with as many gates as it may have, of which none keeps anything back, and people
    who are asked about everything."""
    gates = [
        {"name": f"gate_{n}".ljust(30, "x"), "command": f"make {n}", "required": False}
        for n in range(32)
    ]
    return {"gates": {"pipeline": gates, "maxParallel": 64}, "approval": {"result": "Always"}}


def signals(number: int) -> Object:
    """As many as a Task may have, with the longest names."""
    paths = [f"{number}.{k}".ljust(256, "x") for k in range(20)]
    return {"completionSignals": [{"type": "path_exists", "path": path} for path in paths]}


SAYS: Object = {
    "message": text(500),
    "text": text(2000),
    "low_confidence": text(64),
}
"""What an agent says at most at its end."""
PRINTS = text(1000)
"""What a check says of why it fails: more than is kept of it."""


class Talkers(Programs):
    """Agents and checks that say as much as they may."""

    async def _agent(self, run: Run, fate: str, seconds: float) -> End:
        end = await super()._agent(run, fate, seconds)
        said = next(each for each in end.containers if each["name"] == RECORDER)["state"]
        told = load(RecorderResult, said["terminated"]["message"])
        final = replace(told.final, **SAYS) if told.final is not None else None
        said["terminated"]["message"] = dump(replace(told, final=final))
        return end

    async def _check(self, run: Run, fate: str, seconds: float) -> End:
        await super()._check(run, fate, seconds)
        failed = ended(CHECK, 1, said=PRINTS)
        return End((ended("checkout"), failed), "Failed")


def at_work(store: Store) -> None:
    """Nodes on which all goes well."""
    dice, remote = Even(1), Remote(TARGET)
    programs = Talkers(store, remote, dice, RATES["calm"].fates)
    programs.all_good, programs.witness = True, Nobody()
    Kubelets(store, programs, dice, Nobody())
    JobController(store, dice)


@dataclass(frozen=True)
class Largest:
    number: int
    spec: Make
    reasons: set[str | None]
    """Why Tasks wait in the end; None: some have started."""
    agents: int = 1
    project: Callable[[], Object] = dict
    """What of the Project is large."""
    plan: str | None = None
    """Which of the largest Plans has these Tasks, in place of `spec`; None: they are of none."""
    ends: bool = False
    """Their agents end, and what they and the checks say is as long as it may be."""


OF_A_PLAN = {None, "MaxAgents", "DependencyPending"}
LARGEST = {
    "patterns": Largest(300, patterns, {None, "MaxAgents"}),
    "texts": Largest(300, texts, {None, "MaxAgents"}),
    "globs": Largest(300, globs, {None, "FileOverlap"}, agents=1000),
    "edges in order": Largest(2000, in_order, {None, "DependencyPending"}),
    "edges in circles": Largest(2000, in_circles, {"DependencyFailed"}),
    "Project": Largest(300, any_agent, {None, "MaxAgents"}, agents=100, project=project),
    "Plan with all edges": Largest(2000, nothing, OF_A_PLAN, plan="all edges"),
    "Plan with twenty signals": Largest(400, nothing, OF_A_PLAN, plan="twenty signals"),
    "Plan with as many patterns as are judged": Largest(
        28, nothing, OF_A_PLAN, plan="as many patterns as are judged"
    ),
    **{f"Plan with {kind}": Largest(0, nothing, set(), plan=kind) for kind in sorted(REFUSED)},
    "AgentSessions and Approvals": Largest(
        4, signals, {"AwaitingApproval"}, agents=100, project=judged, ends=True
    ),
}


def name(number: int) -> str:
    return f"task-{number:04}"


class Steps:
    """The CPU seconds of the loop's steps, without those of the cluster in it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.longest = 0.0
        self.all = 0.0
        self.of_what = ""
        self._cluster = 0.0
        original = Handle._run

        def measured(handle: Handle) -> None:
            self._cluster = 0.0
            began = process_time()
            original(handle)
            taken = process_time() - began - self._cluster
            task = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
            running = getattr(task, "get_coro", str)()
            if getattr(running, "__name__", "") == play.__name__:
                return  # what the test itself makes and counts
            self.all += taken
            if taken > self.longest:
                self.longest, self.of_what = taken, repr(running)

        patch.setattr(Handle, "_run", measured)
        for verb in CLUSTER:
            patch.setattr(Store, verb, self._left_out(getattr(Store, verb)))

    def _left_out(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self._cluster += process_time() - began

        return timed


async def play(largest: Largest) -> Counter[str | None]:
    """The engine finds all of them there; how many wait for what when nothing changes any more."""
    store = Store()
    spec = {"limits": {"maxAgents": largest.agents}, **largest.project()}
    store.create(PROJECTS, valid("Project", NAMESPACE, "default", **spec))
    at_work(store)
    if largest.plan is not None:
        store.create(PLANS, valid("Plan", NAMESPACE, "p", stages=PLANS_BY_KIND[largest.plan]))
    for number in range(0 if largest.plan else largest.number):
        store.create(TASKS, valid("Task", NAMESPACE, name(number), **largest.spec(number)))
    replica = asyncio.create_task(Replica(0, store, Troubles(store), 0).run())
    for _ in range(LOOKS):
        await asyncio.sleep(5)
        found = told(store.all(TASKS))
        invalid = [plan for plan in store.all(PLANS) if plan["status"].get("phase") == "Invalid"]
        is_there = found.total() == largest.number and bool(largest.number or invalid)
        if is_there and set(found) <= largest.reasons:
            break
    assert set(found) == largest.reasons
    assert bool(invalid) is not bool(largest.number), "only what is refused has no Tasks"
    replica.cancel()
    await asyncio.gather(replica, return_exceptions=True)
    return found


def told(tasks: Iterable[Object]) -> Counter[str | None]:
    """How many wait for what; `new`: nobody has told them yet."""
    statuses = [task["status"] for task in tasks]
    return Counter(
        status.get("waiting", {}).get("reason")
        if "waiting" in status or status.get("state") not in (None, "Open")
        else "new"
        for status in statuses
    )


class Lists:
    """An API server with these Tasks, of which every list finds a later revision."""

    def __init__(self, number: int) -> None:
        self._number, self._revision = number, 0

    async def read(
        self, _: Resource, __: object, take: Callable[[Object], T], *___: object, **____: object
    ) -> tuple[list[T], str]:
        self._revision += 1
        listed = await asyncio.to_thread(self._made)
        return [take(obj) for obj in listed.items], listed.resource_version

    def _made(self) -> ObjectList:
        found = [valid("Task", NAMESPACE, name(k), **texts(k)) for k in range(self._number)]
        for task in found:
            task["metadata"] |= {"uid": "u", "resourceVersion": str(self._revision)}
        return ObjectList(found, str(self._revision))

    async def watch(self, *_: object, **__: object) -> AsyncIterator[WatchEvent]:
        await asyncio.Event().wait()
        yield WatchEvent("BOOKMARK", {})


async def list_again(number: int) -> None:
    """All Tasks have changed while the watch was away."""
    tasks = Parsed(Informer(cast("Client", Lists(number)), TASKS), parse)
    following = asyncio.create_task(tasks.informer.run())
    await tasks.informer.catch_up()
    told = tasks.by_name(NAMESPACE).values()
    assert [task.metadata.resource_version for task in told] == number * ["2"]
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


@pytest.fixture
def no_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()
    gc.collect()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("kind", LARGEST)
def test_no_step_of_the_loop_takes_200_ms_however_many_of_the_largest_objects_there_are(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []

    def measured() -> float:
        with monkeypatch.context() as patch:
            steps = Steps(patch)
            found = run(play(LARGEST[kind]))
        taken = f"{steps.longest * 1000:.0f} ms of {steps.all:.1f} s"
        told.append(f"{kind}: the longest step took {taken}: {steps.of_what}; {dict(found)}")
        print(f"\n{told[-1]}")
        return steps.longest

    longest, limit = quickest(measured, MOST_SECONDS)
    assert longest < limit, f"{limit * 1000:.0f} ms are allowed; {told}"


@pytest.mark.usefixtures("no_collection")
def test_a_list_of_many_tasks_is_no_step_in_which_all_are_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = Steps(monkeypatch)

    asyncio.run(list_again(2000))

    listed = Lists(2000)._made().items
    began = process_time()
    for obj in listed:
        parse(obj)
    parsing = process_time() - began
    shown = f"the longest step took {steps.longest * 1000:.0f} ms of {parsing * 1000:.0f} ms"
    print(f"\n2,000 Tasks that have changed are listed: {shown}")
    assert steps.longest < parsing / 3, f"{shown}: {steps.of_what}"


KINDS_MEASURED = {
    "AgentRole": roles.test_no_step_of_the_largest_role_takes_the_loop_200_ms,
    "AgentSession": sessions.test_no_step_of_the_largest_session_takes_the_loop_200_ms,
    "Approval": approvals.test_no_step_of_the_largest_approval_takes_the_loop_200_ms,
    "Plan": plans.test_no_step_of_the_largest_plans_takes_the_loop_200_ms,
    "Project": LARGEST["Project"].project,
    "Task": LARGEST["texts"].spec,
}
"""Where each is made largest."""


def test_the_largest_legal_object_of_every_kind_is_measured() -> None:
    assert KINDS_MEASURED.keys() == {kind.name for kind in KINDS}
