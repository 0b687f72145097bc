"""A base is measured once: the Job that judges other work on it has no container for it."""

from __future__ import annotations

from itertools import count

from bernstein.api.encoding import dump
from bernstein.api.pod import CHECK
from bernstein.api.programs.comparing import Compared
from bernstein.checks.measures import Measured
from bernstein.checks.outputs import baseline
from bernstein.kube.resource import Object
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.gates import cache
from tests.control_plane.controllers.kubelet import Pod, ends, exited, works
from tests.control_plane.controllers.remote import sha
from tests.control_plane.controllers.world import World
from tests.control_plane.objects import TASKS

COVERAGE = {"name": "coverage_delta", "condition": "always"}
MEASURED = baseline.packed(Measured({"coverage": 80.0}, frozenset({"tests"}))) or ""


async def begin(world: World, **gates: object) -> None:
    """All work is worse than its base; each agent leaves another tree."""
    gates = {"pipeline": [COVERAGE], **gates}
    await world.project(gates=gates, network=cache.NETWORK)
    world.kubelet.images |= cache.IMAGES
    trees = count()

    async def leaves_another(pod: Pod) -> None:
        await works(tree=sha(f"tree {next(trees)}"))(pod)

    async def compares(pod: Pod) -> None:
        known = pod.config(CHECK).get("known")
        told = Compared("coverage_delta", "Failed", "WorseThanBase", "", "" if known else MEASURED)
        await ends("Succeeded", check=exited(0, dump(told)))(pod)

    world.kubelet.on("agent", leaves_another)
    world.kubelet.on("*-coverage-delta-*", compares)


async def judged(world: World, name: str, attempts: int = 1) -> list[Pod]:
    """The pods that compared the work of a new Task, once so many attempts have failed."""
    await world.task(name, title="Do it", maxRetries=attempts - 1)

    def is_over(task: Object) -> bool:
        now = task["status"]
        return bool(now.get("attempt") == attempts and now["state"] == "Failed")

    await world.until(TASKS, name, is_over)
    return [world.kubelet.pods[job] for job in world.kubelet.ran if is_of(job, name)]


def is_of(job: str, name: str) -> bool:
    return job.startswith(f"{name}-s") and "-coverage-delta-" in job


def containers(pod: Pod) -> list[str]:
    spec: Object = pod.obj["spec"]
    return [each["name"] for each in (*spec["initContainers"], *spec["containers"])]


ALL = ["checkout", "list-before", "list-head", "check"]
ON_WORK = ["checkout", "list-head", "check"]


async def test_the_second_attempt_on_a_base_measures_the_work_alone(world: World) -> None:
    await begin(world)
    await world.start()

    first, second = await judged(world, "one", attempts=2)

    assert (containers(first), containers(second)) == (ALL, ON_WORK)
    assert second.config(CHECK)["known"] == MEASURED


async def test_so_does_that_of_another_task_under_the_next_process(world: World) -> None:
    await begin(world)
    replica = await world.start()
    await judged(world, "one")
    kept = await cache.told(world)
    await replica.stop()
    await world.start()

    (pod,) = await judged(world, "two")

    assert containers(pod) == ON_WORK
    assert any(MEASURED in text for text in kept.values())


async def test_a_project_without_a_cache_measures_it_each_time(world: World) -> None:
    await begin(world, cacheEnabled=False)
    await world.start()

    pods = await judged(world, "one", attempts=2)

    assert [containers(pod) for pod in pods] == [ALL, ALL]


async def test_what_somebody_else_has_written_is_told_to_no_job(make_world: MakeWorld) -> None:
    real = await make_world()
    await begin(real)
    await real.start()
    await judged(real, "one")
    world = await make_world()
    await cache.forge(world, await cache.told(real))
    await begin(world)
    await world.start()

    (pod,) = await judged(world, "one")

    assert containers(pod) == ALL
