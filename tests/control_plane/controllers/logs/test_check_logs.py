"""What failed checks printed is kept, where it can be read; verdicts never wait for it."""

from __future__ import annotations

import time

import pytest

from bernstein.core import labels
from bernstein.core.logs.packed import LOG_LINES, PACKED_BYTES
from bernstein.kube.resource import CONFIG_MAPS, JOBS, Object
from tests.control_plane.controllers.kubelet import Pod, ends, exited, run, succeed
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import World, stage
from tests.control_plane.node_logs import NodeLogs, text_of
from tests.control_plane.objects import PLANS, TASKS

FAILS = ends("Failed", check=exited(1, "the last lines"))
PRINTED = b"".join(b"\x1b[31mrow %04d\xff\n" % number for number in range(2000))
REPORT = "one-s1-lint-0-report"


@pytest.fixture
async def gated(world: World) -> World:
    """With the gate `lint`."""
    await world.project()
    return world


async def reports(world: World) -> dict[str, Object]:
    found = await world.all(CONFIG_MAPS)
    return {n: o for n, o in found.items() if labels.CHECK_LOG in o["metadata"].get("labels", {})}


async def tries(world: World, name: str) -> list[int]:
    """How every attempt to make this ConfigMap was answered."""
    found = [w for w in await world.writes() if (w.resource, w.name) == ("configmaps", name)]
    assert {w.verb for w in found} <= {"create"}
    return [w.code for w in found]


async def test_what_a_failed_check_printed_outlives_its_job_and_goes_with_its_task(
    gated: World, logs: NodeLogs
) -> None:
    gated.kubelet.on("*-lint-[0-9]", FAILS)
    logs.printed = PRINTED
    await gated.start()
    await gated.task("one", maxRetries=0)
    task = await gated.stalled(TASKS, "one", "GateFailed")

    report = await gated.get(CONFIG_MAPS, REPORT)

    assert text_of(report, PACKED_BYTES) == PRINTED
    assert report["immutable"] is True
    assert "annotations" in report["metadata"]
    assert labels.CUT not in report["metadata"]["annotations"]
    assert report["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "bernstein",
        "bernstein.dev/report": "one-s1-lint-0",
        "bernstein.dev/check": "lint",
        "bernstein.dev/task": "one",
    }
    (owner,) = report["metadata"]["ownerReferences"]
    assert owner["uid"] == task["metadata"]["uid"]
    pod = gated.kubelet.pods["one-s1-lint-0"].name
    ((asked, container, query),) = logs.asked
    assert (asked, container, query["tailLines"]) == (pod, "check", str(LOG_LINES))
    await gated.delete(JOBS, "one-s1-lint-0", "Foreground")
    await gated.gone(JOBS, "one-s1-lint-0")
    assert REPORT in await reports(gated)
    await gated.delete(TASKS, "one")
    await gated.gone(CONFIG_MAPS, REPORT)


async def test_it_is_read_and_written_once_whatever_comes_later(
    gated: World, logs: NodeLogs
) -> None:
    gated.kubelet.on("*-lint-[0-9]", FAILS)
    logs.printed = PRINTED
    first = await gated.start()
    await gated.task("one", maxRetries=0)
    await gated.stalled(TASKS, "one", "GateFailed")
    await gated.at_rest()
    await first.stop()
    position = len(await gated.writes())
    second = await gated.start(resync=0.2, lease="second")
    await second.reconciled(task=5)

    assert await tries(gated, REPORT) == [201]
    assert len(logs.asked) == 1
    assert (await gated.writes())[position:] == []


async def test_a_check_that_never_ends_is_read_before_it_is_stopped(
    gated: World, logs: NodeLogs
) -> None:
    gate = {"name": "lint", "command": "make lint", "timeoutSeconds": 1}
    await gated.project(gates={"extends": "Default", "pipeline": [gate]})
    gated.kubelet.on("*-lint-[0-9]", run)
    logs.printed = b"still at it\n"
    await gated.start()
    await gated.task("one", maxRetries=0)
    await gated.stalled(TASKS, "one", "GateFailed")
    await gated.gone(JOBS, "one-s1-lint-0")

    assert text_of(await gated.get(CONFIG_MAPS, REPORT), PACKED_BYTES) == b"still at it\n"


async def test_a_secret_that_a_check_printed_stands_in_no_status_log_or_prompt(
    gated: World, logs: NodeLogs
) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    gate = {"name": "lint", "command": "make lint"}
    await gated.project(gates={"extends": "Default", "pipeline": [gate]})
    gated.kubelet.on("one-s?-lint-[0-9]", ends("Failed", check=exited(1, f"assert {token}")))
    logs.printed = f"export {token}\n".encode()
    await gated.start()
    await gated.task("one", maxRetries=1)
    task = await gated.stalled(TASKS, "one", "GateFailed")

    assert text_of(await gated.get(CONFIG_MAPS, REPORT), PACKED_BYTES) == b"export ***\n"
    (check,) = (c for c in task["status"]["verification"]["checks"] if c["name"] == "lint")
    assert check["excerpt"] == "exit code 1\nassert ***"
    prompts = [o for n, o in (await gated.all(CONFIG_MAPS)).items() if not n.endswith("-report")]
    assert any("assert ***" in str(prompt) for prompt in prompts)
    assert token not in str([task, prompts])


async def test_a_check_that_passes_or_could_not_start_is_not_asked(
    gated: World, logs: NodeLogs
) -> None:
    absent = ends("Failed", check=exited(128, "no such file", "StartError"))
    gated.kubelet.on("bad-s1-lint-[0-9]", absent)
    await gated.start()
    await gated.task("one")
    await gated.task("bad", maxRetries=0)
    await gated.task_in("one", "Closed")
    await gated.stalled(TASKS, "bad", "GateErrored")

    assert logs.asked == []
    assert await reports(gated) == {}


async def test_what_a_check_of_the_whole_plan_printed_is_the_plans(
    gated: World, logs: NodeLogs
) -> None:
    async def meanwhile(pod: Pod) -> None:
        pod.remote.commit(MAIN, pod.remote.refs[MAIN])
        await succeed(pod)

    gated.kubelet.on("shop-a-one-s1", meanwhile)
    gated.kubelet.on("shop-lint-[0-9]", FAILS)
    logs.printed = b"whole\n"
    await gated.start()
    await gated.plan("shop", [stage("a", "one")])
    plan = await gated.stalled(PLANS, "shop", "GateFailed")

    (report,) = (await reports(gated)).values()

    assert report["metadata"]["name"] == "shop-lint-0-report"
    assert report["metadata"]["labels"]["bernstein.dev/plan"] == "shop"
    assert report["metadata"]["ownerReferences"][0]["uid"] == plan["metadata"]["uid"]
    assert text_of(report, PACKED_BYTES) == b"whole\n"


async def recorded_once(world: World) -> None:
    """Every attempt's verdict, by one Job and one patch of the status."""
    task = await world.stalled(TASKS, "one", "GateFailed")
    assert task["status"]["attempt"] == 2
    lints = [job for job in world.kubelet.ran if "lint" in job]
    assert lints == ["one-s1-lint-0", "one-s1-lint-0b", "one-s2-lint-0", "one-s2-lint-0b"]
    moves = [m["toState"] for m in task["status"]["history"]]
    assert moves.count("Failed") == 2
    said = [p.get("verification") or {} for p in await world.patches("one")]
    assert [v["passed"] for v in said if "passed" in v] == [False, False]


async def test_a_node_that_cannot_be_asked_changes_no_verdict(gated: World) -> None:
    gated.kubelet.on("*-lint-[0-9]", FAILS)
    await gated.start()
    await gated.task("one", maxRetries=1)
    await recorded_once(gated)

    assert await reports(gated) == {}
    assert await tries(gated, REPORT) == []


async def test_a_node_that_never_answers_delays_a_verdict_by_seconds(
    gated: World, logs: NodeLogs
) -> None:
    gated.kubelet.on("*-lint-[0-9]", FAILS)
    logs.printed = None
    await gated.start()
    started = time.monotonic()
    await gated.task("one", maxRetries=1)
    await recorded_once(gated)

    assert time.monotonic() - started < 25
    assert len(logs.asked) == 2, "once for each attempt"
    assert await reports(gated) == {}


async def test_a_name_that_somebody_else_has_changes_no_verdict(
    gated: World, logs: NodeLogs
) -> None:
    theirs = {
        "metadata": {"name": REPORT, "namespace": gated.namespace},
        "data": {"mine": "yes"},
    }
    await gated.admin.create(CONFIG_MAPS, theirs)
    gated.kubelet.on("*-lint-[0-9]", FAILS)
    logs.printed = PRINTED
    await gated.start()
    await gated.task("one", maxRetries=1)
    await recorded_once(gated)

    assert set(await reports(gated)) == {"one-s2-lint-0-report"}
    assert await tries(gated, REPORT) == [409]
    assert (await gated.get(CONFIG_MAPS, REPORT))["data"] == theirs["data"]
