"""How long the Jobs of checks stay after their end: as long as something is to be read of them."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api import task
from bernstein.core import labels
from bernstein.kube.resource import CONFIG_MAPS, JOBS, Key, Object, Resource
from bernstein.resources import TASKS
from tests.model.cluster.store import NAMESPACE
from tests.model.loop import run
from tests.model.scenario import Scenario
from tests.model.test_rounds import ALONE, OFF, PROJECT
from tests.model.world import World

SHORTEST = 300
"""Seconds that finished Jobs stay where a Project says as little as it may."""
LONG = 3 * SHORTEST
FATE = {"at": 0.0, "do": "fate"}
GOOD = FATE | {"job": "alone-s1", "role": "agent", "fate": "good"}


def fate(check: str, how: str, seconds: float) -> list[dict[str, Any]]:
    """Whatever is asked of the commit before, and when the check is run again."""
    return [
        FATE | {"job": f"alone-s1-{check}-", "role": "check", "fate": how, "seconds": seconds}
    ] * 20


def gate(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "command": f"make {name}", "timeoutSeconds": 2 * LONG, **more}


def played(execution: str, pipeline: list[dict[str, Any]], *fates: dict[str, Any]) -> World:
    off = [{"name": name, "enabled": False} for name in OFF]
    gates = {"extends": "Default", "execution": execution, "pipeline": [*pipeline, *off]}
    project = {"gates": gates, "limits": PROJECT["limits"]}
    project["retention"] = {"podsSeconds": SHORTEST}
    alone = ALONE | {"spec": ALONE["spec"] | {"maxRetries": 0}}
    events = (GOOD, *fates, alone)
    found: list[World] = []

    async def main() -> None:
        world = World(Scenario(seed=7, rates="calm", events=events, project=project))
        reader = Reader(world)
        world.store.hooks.append(reader.changed)
        outcome = await world.play()
        assert [str(v) for v in outcome.violations] == []
        assert reader.late == []
        found.append(world)

    run(main())
    return found[0]


class Reader:
    """Sees whether what a check printed is kept while its Job is there."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.late: list[str] = []

    def changed(self, resource: Resource, old: Object | None, new: Object | None) -> None:
        if resource == CONFIG_MAPS and old is None and new is not None:
            of_job = new["metadata"]["labels"].get(labels.CHECK_LOG)
            if of_job is not None and self._world.store.find(JOBS, Key(NAMESPACE, of_job)) is None:
                self.late.append(of_job)


def ran(world: World, check: str) -> list[str]:
    return [run.job for run in world.kubelets.runs.values() if f"-{check}-" in run.job]


@pytest.mark.parametrize("execution", ["Parallel", "Sequential"])
def test_a_failed_checks_job_stays_until_its_log_is_kept_however_short_the_retention(
    execution: str,
) -> None:
    """It is kept with the verdict, when the last check of the round has ended."""
    pipeline = [gate("unit", required=False), gate("slow"), gate("slower")]

    world = played(
        execution,
        pipeline,
        *fate("unit", "bad", 5.0),
        *fate("slow", "good", LONG),
        *fate("slower", "good", LONG + 200),
    )

    (found,) = (task.parse(obj) for obj in world.store.all(TASKS))
    assert found.status.state == "Closed"
    assert ran(world, "unit") == ["alone-s1-unit-0"]
    assert ran(world, "slow") == ["alone-s1-slow-0"]
    kept = [obj["metadata"]["labels"].get(labels.CHECK_LOG) for obj in world.store.all(CONFIG_MAPS)]
    assert "alone-s1-unit-0" in kept
