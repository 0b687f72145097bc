"""What an agent logged in an attempt that came to nothing is kept with its session."""

from __future__ import annotations

import pytest

from bernstein.core.logs.agents import PACKED_BYTES
from bernstein.kube.resource import CONFIG_MAPS, JOBS
from tests.control_plane.controllers.kubelet import ends, exited, works
from tests.control_plane.controllers.world import World
from tests.control_plane.node_logs import NodeLogs, text_of
from tests.control_plane.objects import AGENT_SESSIONS, TASKS

REJECTS = ends("Failed", check=exited(1, "the last lines"))
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
PRINTED = f"2026-11-26T10:00:00Z I cannot do it with {TOKEN}\n".encode()
KEPT = b"2026-11-26T10:00:00Z I cannot do it with ***\n"


@pytest.fixture
def logs(logs: NodeLogs) -> NodeLogs:
    logs.printed = PRINTED
    return logs


async def agents_logs(world: World) -> set[str]:
    return {name for name in await world.all(CONFIG_MAPS) if name.endswith("-log")}


async def test_it_outlives_the_pod_of_a_run_that_failed_and_goes_with_its_session(
    world: World, logs: NodeLogs
) -> None:
    await world.project()
    world.kubelet.on("one-s1", works(outcome="AgentFailed", message="I gave up"))
    await world.start()
    await world.task("one", maxRetries=0)
    await world.stalled(TASKS, "one", "AgentFailed")

    kept = await world.get(CONFIG_MAPS, "one-s1-log")

    assert text_of(kept, PACKED_BYTES) == KEPT
    assert kept["immutable"] is True
    assert kept["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "bernstein",
        "bernstein.dev/session": "one-s1",
    }
    ((pod, container, query),) = logs.asked_of_agents
    assert (pod, container) == (world.kubelet.pods["one-s1"].name, "agent")
    assert query["timestamps"] == "true"
    await world.delete(JOBS, "one-s1", "Foreground")
    await world.gone(JOBS, "one-s1")
    assert await agents_logs(world) == {"one-s1-log"}
    await world.delete(TASKS, "one")
    await world.gone(AGENT_SESSIONS, "one-s1")
    await world.gone(CONFIG_MAPS, "one-s1-log")


async def test_that_of_rejected_work_is_read_once_that_of_verified_work_never(
    world: World, logs: NodeLogs
) -> None:
    await world.project()
    world.kubelet.on("bad-s1-lint-[0-9]", REJECTS)
    first = await world.start()
    await world.task("good")
    await world.task_in("good", "Closed")
    await world.task("bad", maxRetries=0)
    await world.stalled(TASKS, "bad", "GateFailed")
    await world.at_rest()
    await first.stop()
    second = await world.start(resync=0.2, lease="second")
    await second.reconciled(task=5)

    assert await agents_logs(world) == {"bad-s1-log"}
    assert len(logs.asked_of_agents) == 1


@pytest.mark.parametrize(
    ("which", "kept"), [("Never", set()), ("Always", {"good-s1-log", "bad-s1-log"})]
)
async def test_the_project_says_of_which_attempts(
    world: World, logs: NodeLogs, which: str, kept: set[str]
) -> None:
    await world.project(retention={"agentLogs": which})
    world.kubelet.on("bad-s1-lint-[0-9]", REJECTS)
    await world.start()
    await world.task("good")
    await world.task("bad", maxRetries=0)
    await world.task_in("good", "Closed")
    await world.stalled(TASKS, "bad", "GateFailed")
    await world.at_rest()

    assert await agents_logs(world) == kept
    assert bool(logs.asked_of_agents) == bool(kept)


async def test_a_node_that_never_answers_costs_no_outcome(world: World, logs: NodeLogs) -> None:
    await world.project()
    logs.printed = None
    world.kubelet.on("one-s1", works(outcome="AgentFailed", message="I gave up"))
    await world.start()
    await world.task("one", maxRetries=0)

    task = await world.stalled(TASKS, "one", "AgentFailed")

    assert task["status"]["attempt"] == 1
    assert await agents_logs(world) == set()
