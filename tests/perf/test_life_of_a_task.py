"""What one Task costs from its creation until it is Closed and all is at rest: writes, Events and
reconciles of the real engine on the model's cluster, counted.

Counts are the same on any machine; they are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from bernstein.api.pod import CHECK, INSPECT, LAND
from bernstein.core import labels
from bernstein.kube.resource import JOBS, Object
from bernstein.observe import series
from bernstein.resources import PROJECTS, TASKS
from tests.model.scenario import Event, Scenario
from tests.model.world import World, lived

WRITES = ("POST", "PATCH", "DELETE")
CONTROLLERS = ("project", "scheduler", "task", "agentsession")
SEEDS = (1, 2, 3)
"""They say how long everything takes; all goes well."""
GATES: list[dict[str, Any]] = [
    *({"name": name, "enabled": False} for name in ("pii_scan", "merge_conflict", "lint")),
    {"name": "unit", "command": "make check"},
]
WRITTEN = {
    # Claimed, InProgress, Done, verified, Landing, Closed: the first says that it was Open, too.
    ("PATCH", "tasks"): 6,
    ("POST", "agentsessions"): 1,
    # Working, with its Job and pod; Dead; how its work was judged.
    ("PATCH", "agentsessions"): 3,
    ("POST", "jobs"): 4,
    # The prompt; and what gates have said, which its Project writes once a minute at most.
    ("POST", "configmaps"): 2,
    # Its finalizer, once what it told is recorded.
    ("PATCH", "pods"): 1,
}
"""All that a Task of four Jobs costs but for its Events and the number of agents of its Project."""
AT_WORK = 60.0
"""When the Task is applied: the Project was probed by then."""


@dataclass(frozen=True)
class Cost:
    requests: Counter[tuple[str, str]]
    reconciles: Counter[str]

    def writes(self, kind: str) -> int:
        return sum(self.requests[verb, kind] for verb in WRITES)


def of(world: World) -> Cost:
    registry = world.replicas[0].metrics.registry
    counted: Counter[str] = Counter()
    for metric in registry.collect():
        for sample in metric.samples:
            if sample.name == series.RECONCILES.name:
                counted[sample.labels["controller"]] += int(sample.value)
    return Cost(Counter(world.troubles.asked), counted)


def play(seed: int, *events: Event, agents: int = 4) -> World:
    """The world in the end; every pod works for two seconds, and well."""
    project = {
        "gates": {"extends": "Default", "pipeline": GATES, "timeoutSeconds": 60},
        "protectedPaths": [],  # nobody is asked
        "limits": {"maxAgents": agents, "timeoutSeconds": {"small": 600, "medium": 600}},
    }
    good = {"at": 0.0, "do": "fate", "job": "", "fate": "good", "seconds": 2.0}
    told = (*(dict(good) for _ in range(100)), *events)
    world, outcome = lived(Scenario(seed=seed, rates="calm", events=told, project=project))
    assert outcome.violations == ()
    return world


def applied(name: str, **spec: Any) -> Event:
    said = {"title": name, "files": [f"{name}.py"], **spec}
    return {"at": AT_WORK, "do": "apply task", "name": name, "spec": said}


def cost(seed: int, *events: Event, agents: int = 4) -> tuple[Cost, World]:
    """What these events cost, beside what a Project costs that nobody uses."""
    before, world = of(play(seed, agents=agents)), play(seed, *events, agents=agents)
    after = of(world)
    return Cost(after.requests - before.requests, after.reconciles - before.reconciles), world


@pytest.mark.parametrize("seed", SEEDS)
def test_a_task_of_four_jobs_is_written_no_more_often_than_it_has_something_to_say(
    seed: int,
) -> None:
    found, world = cost(seed, applied("work"))

    (task,) = world.store.all(TASKS)
    assert task["status"]["state"] == "Closed"
    jobs = [job["metadata"]["labels"][labels.JOB] for job in world.store.all(JOBS)]
    print(f"seed {seed}: {dict(found.requests)}, {found.reconciles.total()} {found.reconciles}")
    assert Counter(jobs) >= Counter([CHECK, INSPECT, LAND])
    beside = ("events", "leases", "projects")
    assert {
        (verb, kind): number
        for (verb, kind), number in found.requests.items()
        if verb in WRITES and kind not in beside
    } == WRITTEN
    assert found.writes("projects") <= 2
    assert found.writes("events") == found.requests["POST", "events"] == 3, "the last three moves"
    assert found.requests["GET", "tasks"] == found.requests["LIST", "jobs"] == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_task_is_looked_at_when_something_that_it_reads_has_changed(seed: int) -> None:
    found, _ = cost(seed, applied("work"))
    assert found.reconciles.total() <= 45


@pytest.mark.parametrize("seed", SEEDS)
def test_every_move_is_in_the_history_though_two_share_a_write(seed: int) -> None:
    _, world = cost(seed, applied("work"))

    (task,) = world.store.all(TASKS)
    told: list[Object] = task["status"]["history"]
    moves = [(each.get("fromState"), each["toState"]) for each in told]
    states = ["Open", "Claimed", "InProgress", "Done", "Closed"]
    assert moves == list(zip([None, *states], states, strict=False))
    assert all(each["actor"] and each["reason"] and each["time"] for each in told)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_task_that_waits_says_so_with_its_first_write(seed: int) -> None:
    found, _ = cost(seed, applied("first"), applied("second", dependsOn=["first"]))

    # The second one is claimed by a write of its own.
    assert found.writes("tasks") == 6 + 7
    assert found.requests["POST", "events"] == 2 * 3 + 1, "and that it is in line"


@pytest.mark.parametrize("seed", SEEDS)
def test_how_many_agents_work_is_written_once_a_second_and_right_in_the_end(seed: int) -> None:
    names = [f"work-{number}" for number in range(4)]
    found, world = cost(seed, *(applied(name) for name in names))

    (project,) = world.store.all(PROJECTS)
    assert project["status"]["running"] == 0
    assert found.writes("projects") < 2 * len(names)
