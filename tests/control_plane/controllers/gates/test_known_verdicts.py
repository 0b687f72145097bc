"""A gate has no Job where its verdict on the same tree is known, by whatever Task or process."""

from __future__ import annotations

from typing import Any

from bernstein.kube.errors import NotFound
from bernstein.kube.resource import Object
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.gates import cache
from tests.control_plane.controllers.kubelet import ends, exited, waits, works
from tests.control_plane.controllers.remote import sha
from tests.control_plane.controllers.world import World
from tests.control_plane.objects import PROJECTS, TASKS

LINT = {"name": "lint", "command": "make lint"}
ASKS = {"result": "Always"}
"""Nothing lands by itself, so that all work has the same base."""


async def begin(world: World, *gates: Object, **spec: Any) -> None:
    """A Project with these gates alone, on a node that tells of its images; each agent leaves the
    same tree."""
    await world.project(gates={"pipeline": [LINT, *gates]}, network=cache.NETWORK, **spec)
    world.kubelet.images |= cache.IMAGES
    world.kubelet.on("agent", works(tree=sha("the same")))


async def judged(world: World, name: str) -> Object:
    """The verdict on lint of a new Task, once people are asked about it."""
    await world.task(name, title="Do it", maxRetries=0)
    return lint(await world.task_in(name, "PendingApproval"))


def lint(task: Object) -> Object:
    checks = task["status"]["verification"]["checks"]
    found: Object = next(check for check in checks if check["name"] == "lint")
    return found


def linted(world: World) -> list[str]:
    return [job for job in world.kubelet.ran if "-lint-" in job]


async def kept(world: World) -> set[str]:
    try:
        return {*await cache.told(world)} - {"images"}
    except NotFound:
        return set()


async def test_a_gate_is_not_run_for_the_tree_of_another_task(world: World) -> None:
    await begin(world, approval=ASKS)
    replica = await world.start()

    ran, known = await judged(world, "one"), await judged(world, "two")

    assert sorted(world.kubelet.ran) == ["one-s1", "one-s1-inspect-0", "one-s1-lint-0", "two-s1"]
    assert (ran["verdict"], ran.get("cached")) == ("Passed", None)
    assert (known["verdict"], known["cached"]) == ("Passed", True)
    assert (known["image"], known["endedAt"]) == (cache.IMAGES["toolchain:dev"], ran["endedAt"])
    assert len(await kept(world)) == 2, "of lint, and of what looks for comments that silence it"
    counted = {"namespace": world.namespace, "gate": "lint"}
    value = replica.metrics.registry.get_sample_value
    assert value("bernstein_gate_cache_hits_total", counted) == 1


async def test_the_next_process_knows_it_too(world: World) -> None:
    await begin(world, approval=ASKS)
    first = await world.start()
    await judged(world, "one")
    await first.stop()
    await world.start()

    known = await judged(world, "two")

    assert known["cached"] is True
    assert linted(world) == ["one-s1-lint-0"]


async def test_only_the_gate_that_was_changed_is_run_again(world: World) -> None:
    own = {"name": "own", "command": "make own", "image": "own:0"}
    await begin(world, own)
    world.kubelet.on("*-own-0", waits("check", "ErrImagePull", "no such image"))
    await world.start()
    await world.task("one", title="Do it", maxRetries=0)
    await world.until(TASKS, "one", lambda t: t["status"]["waiting"]["reason"] == "GateErrored")

    await world.change(PROJECTS, "default", gates={"pipeline": [LINT, own | {"image": "own:1"}]})

    task = await world.task_in("one", "Closed")
    assert lint(task)["cached"] is True
    assert linted(world) == ["one-s1-lint-0"]


async def test_a_request_to_verify_runs_it(world: World, user: str) -> None:
    own = {"name": "own", "command": "make own", "image": "own:1"}
    await begin(world, own)
    world.kubelet.on("*-own-[0-9]", ends("Failed", check=exited(1, "it is red")))
    await world.start()
    await world.task("one", title="Do it", maxRetries=0)
    task = await world.stalled(TASKS, "one", "GateFailed")
    before = linted(world)
    assert len(await kept(world)) >= 1

    asked = {"id": "r-1", "verb": "Verify", "by": user, "reason": "it is mended"}
    await world.change(TASKS, "one", requests=[asked])

    task = await world.until(TASKS, "one", lambda t: t["status"]["requests"][0]["answer"] == "Done")
    assert lint(task).get("cached") is None
    assert len(linted(world)) == len(before) + 1
    assert task["status"]["verification"]["uncached"] is True


async def test_what_belongs_to_nobody_is_not_believed(make_world: MakeWorld) -> None:
    """The same words, read from an object of ours, would have been."""
    real = await make_world()
    await begin(real, approval=ASKS)
    await real.start()
    await judged(real, "one")
    told = await cache.told(real)
    world = await make_world()
    await cache.forge(world, told)
    await begin(world, approval=ASKS)
    await world.start()

    verdict = await judged(world, "one")

    assert verdict.get("cached") is None
    assert linted(world) == ["one-s1-lint-0"]
    assert await cache.told(world) == told
