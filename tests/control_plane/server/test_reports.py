"""What recorders tell becomes the session's report, and answers reach them."""

from __future__ import annotations

import asyncio

from bernstein.api import pod
from bernstein.kube.resource import key_of
from tests.control_plane.objects import AGENT_SESSIONS
from tests.control_plane.server.agent import TIP, Agent, beat, result


async def test_the_recorder_reports_and_the_operator_sees_it(agent: Agent) -> None:
    before = (await agent.live())["status"]
    recorder = agent.recorder()
    assert await asyncio.to_thread(recorder.heartbeat, beat()) is None

    after = (await agent.live())["status"]
    report = after.pop("report")
    assert after == before
    assert report.pop("heartbeatTime").endswith("Z")
    assert report.pop("seq") > 1_750_000_000
    assert report == {
        "lastActivityTime": "2025-06-15T15:06:40Z",
        "usage": {"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 1},
        "model": "sonnet-4",
        "progress": "reads the tests",
        "checkpoint": TIP,
    }


async def test_the_server_owns_the_report_and_nothing_else(agent: Agent) -> None:
    await asyncio.to_thread(agent.recorder().heartbeat, beat())
    await asyncio.to_thread(agent.recorder().heartbeat, beat(progress="writes"))
    entries = (await agent.live())["metadata"]["managedFields"]
    (owned,) = (entry for entry in entries if entry["manager"] == "bernstein-server")
    assert (owned["operation"], owned["subresource"]) == ("Apply", "status")
    assert set(owned["fieldsV1"]) == {"f:status"}
    assert set(owned["fieldsV1"]["f:status"]) == {"f:report"}


async def test_what_the_operator_writes_in_between_stays(agent: Agent) -> None:
    recorder = agent.recorder()
    await asyncio.to_thread(recorder.heartbeat, beat())
    await agent.status(state="Idle")
    await asyncio.to_thread(recorder.heartbeat, beat(progress="writes"))
    status = (await agent.live())["status"]
    assert (status["state"], status["report"]["progress"]) == ("Idle", "writes")


async def test_a_repeated_heartbeat_does_not_touch_the_object(agent: Agent) -> None:
    assert (await agent.heartbeat(seq=5)).status_code == 200
    before = await agent.live()
    for seq in (5, 4, 6):  # the last one brings nothing but a sign of life
        assert (await agent.heartbeat(seq=seq)).status_code == 200
    assert await agent.live() == before


async def test_heartbeats_at_once_leave_the_newest_and_the_largest(agent: Agent) -> None:
    beats = [agent.heartbeat(seq=seq, usage={"input": seq}) for seq in (3, 1, 5, 2, 4)]
    assert {answer.status_code for answer in await asyncio.gather(*beats)} == {200}
    report = (await agent.live())["status"]["report"]
    assert (report["seq"], report["usage"]["input"]) == (5, 5)


async def test_a_soft_stop_reaches_the_recorder(agent: Agent) -> None:
    stop = {"spec": {"stop": {"reason": "BudgetExceeded"}}}
    key = key_of(agent.session)
    await agent.operator.patch(AGENT_SESSIONS, key.name, key.namespace, stop)
    reason = await asyncio.to_thread(agent.recorder().heartbeat, beat())
    assert reason == "BudgetExceeded"


async def test_a_result_may_be_repeated_and_ends_the_report(agent: Agent) -> None:
    recorder = agent.recorder()
    await asyncio.to_thread(recorder.heartbeat, beat(checkpoint=None))
    await asyncio.to_thread(recorder.result, result())
    finished = await agent.live()
    assert finished["status"]["report"]["finished"] is True
    assert finished["status"]["report"]["checkpoint"] == TIP
    assert finished["status"]["report"]["usage"]["input"] == 100
    await asyncio.to_thread(recorder.result, result(usage=pod.Usage(input=10**6)))
    await asyncio.to_thread(recorder.heartbeat, beat(progress="still here"))
    assert await agent.live() == finished


async def test_a_session_that_is_over_tells_its_recorder(agent: Agent) -> None:
    await agent.status(state="Dead")
    reason = await asyncio.to_thread(agent.recorder().heartbeat, beat())
    assert reason == pod.SESSION_OVER
    assert "report" not in (await agent.live())["status"]
