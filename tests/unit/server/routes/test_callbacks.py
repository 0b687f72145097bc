"""Heartbeats and results over HTTP: who may send them, and what is written."""

import asyncio
from typing import Any

import pytest

from bernstein.kube.resource import Object
from bernstein.observe.metrics import ServerMetrics
from bernstein.resources import SESSIONS
from tests.unit.kube.apiserver import Call
from tests.unit.server.conftest import HEARTBEAT, Callback, Clock, beat, problem
from tests.unit.server.session_api import NOW, SessionApi, proof, token


async def test_a_heartbeat_is_written_to_the_report_and_nowhere_else(
    api: SessionApi, recorder: Callback
) -> None:
    before = api.get(SESSIONS, "fix-s1", "team")
    response = await recorder.heartbeat()
    assert (response.status_code, response.json()) == (200, {"stop": None})

    (call,) = api.applied
    assert call.query == {"fieldManager": "bernstein-server", "force": "true"}
    assert set(call.body) == {"apiVersion", "kind", "metadata", "status"}
    assert set(call.body["status"]) == {"report"}
    after = api.get(SESSIONS, "fix-s1", "team")
    report = after["status"].pop("report")
    assert report["usage"] == {"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 1}
    assert report["progress"] == "reads the tests"
    assert after["status"] == before["status"]
    assert after["spec"] == before["spec"]


async def test_only_reviews_reads_and_the_report_reach_the_api_server(
    api: SessionApi, recorder: Callback
) -> None:
    await recorder.heartbeat()
    await recorder.result()
    assert {(call.verb, call.plural) for call in api.calls} == {
        ("POST", "tokenreviews"),
        ("GET", "agentsessions"),
        ("PATCH", "agentsessions"),
    }


async def test_the_answer_carries_the_stop_of_the_session(
    api: SessionApi, recorder: Callback
) -> None:
    api.stop("Cancelled")
    assert (await recorder.heartbeat()).json() == {"stop": {"reason": "Cancelled"}}


async def test_a_stop_is_answered_also_when_nothing_is_written(
    api: SessionApi, recorder: Callback
) -> None:
    await recorder.heartbeat(seq=5)
    api.stop("BudgetExceeded")
    assert (await recorder.heartbeat(seq=4)).json() == {"stop": {"reason": "BudgetExceeded"}}
    assert len(api.applied) == 1


async def test_repeated_and_quiet_heartbeats_are_not_written(
    api: SessionApi, recorder: Callback, clock: Clock
) -> None:
    for seq, seconds in ((1, 0), (1, 1), (2, 5), (3, 14), (4, 16)):
        clock.seconds = NOW + seconds
        assert (await recorder.heartbeat(seq=seq)).status_code == 200
    assert len(api.applied) == 2
    assert api.report()["seq"] == 4


async def test_a_result_finishes_the_report_once(api: SessionApi, recorder: Callback) -> None:
    await recorder.heartbeat()
    for _ in range(3):
        response = await recorder.result()
        assert (response.status_code, response.json()) == (200, {})
    assert api.report()["finished"] is True
    assert api.report()["checkpoint"] == "b" * 40
    assert len(api.applied) == 2


async def test_no_token_or_a_bad_one_is_401_and_reads_nothing(
    api: SessionApi, recorder: Callback
) -> None:
    without = await recorder.http.post(HEARTBEAT, json=beat())
    assert problem(without) == (401, "Unauthenticated")
    assert without.headers["www-authenticate"] == "Bearer"
    basic = await recorder.http.post(
        HEARTBEAT, json=beat(), headers={"Authorization": "Basic eDp5"}
    )
    assert problem(basic) == (401, "Unauthenticated")
    recorder.token = token("bad")
    assert problem(await recorder.heartbeat()) == (401, "Unauthenticated")
    assert api.count("GET", "agentsessions") == 0


async def test_only_the_pod_of_the_session_may_report(api: SessionApi, recorder: Callback) -> None:
    api.proofs[token()] = proof("team", "pod-2", "uid-2")
    response = await recorder.heartbeat()
    assert problem(response) == (403, "WrongPod")
    assert api.applied == []


async def test_the_same_name_in_another_namespace_is_another_session(
    api: SessionApi, recorder: Callback
) -> None:
    api.proofs[token()] = proof("other", "pod-1", "uid-1")
    assert problem(await recorder.heartbeat()) == (403, "WrongPod")
    assert api.count("GET", "agentsessions") == 0


async def test_a_pod_that_is_not_recorded_yet_is_told_to_come_again(
    api: SessionApi, recorder: Callback
) -> None:
    api.session(pod=None)
    response = await recorder.heartbeat()
    assert problem(response) == (403, "PodNotRecorded")
    assert response.headers["retry-after"] == "5"


async def test_a_session_that_is_not_there_is_404(recorder: Callback) -> None:
    assert problem(await recorder.heartbeat("gone-s1")) == (404, "SessionNotFound")


@pytest.mark.parametrize("call", ["heartbeat", "result"])
async def test_a_session_that_is_over_takes_nothing(
    api: SessionApi, recorder: Callback, call: str
) -> None:
    api.session(state="Dead")
    assert problem(await getattr(recorder, call)()) == (409, "SessionOver")
    assert api.applied == []


async def test_a_report_never_lands_on_a_namesake(api: SessionApi, recorder: Callback) -> None:
    await recorder.heartbeat()
    metadata = api.applied[0].body["metadata"]
    live = api.get(SESSIONS, "fix-s1", "team")["metadata"]
    assert metadata["uid"] == live["uid"]
    assert metadata["resourceVersion"]


async def test_a_write_of_the_operator_in_between_is_seen_and_kept(
    api: SessionApi, recorder: Callback
) -> None:
    def operator_writes(call: Call) -> None:
        if call.verb == "PATCH" and len(api.applied) == 1:
            api.session(job="fix-s1")

    api.fault = operator_writes
    assert (await recorder.heartbeat()).status_code == 200
    status = api.get(SESSIONS, "fix-s1", "team")["status"]
    assert status["job"] == "fix-s1"
    assert status["report"]["seq"] == 1


async def test_a_session_that_ends_in_between_is_not_written(
    api: SessionApi, recorder: Callback
) -> None:
    def operator_writes(call: Call) -> None:
        if call.verb == "PATCH":
            api.session(state="Dead")

    api.fault = operator_writes
    assert problem(await recorder.heartbeat()) == (409, "SessionOver")
    assert api.report() is None


async def test_heartbeats_at_the_same_time_leave_the_newest(
    api: SessionApi, recorder: Callback
) -> None:
    order = [3, 1, 5, 2, 4]
    answers = await asyncio.gather(
        *(recorder.heartbeat(seq=seq, usage={"input": seq}) for seq in order)
    )
    assert {answer.status_code for answer in answers} == {200}
    assert api.report()["seq"] == 5
    assert api.report()["usage"]["input"] == 5


async def test_a_session_that_is_always_written_by_others_is_given_up(
    api: SessionApi, recorder: Callback
) -> None:
    def operator_writes(call: Call) -> None:
        if call.verb == "PATCH":
            api.session(job=f"job-{len(api.applied)}")

    api.fault = operator_writes
    response = await recorder.heartbeat()
    assert problem(response) == (503, "Contended")
    assert response.headers["retry-after"] == "1"


@pytest.mark.parametrize("verb", ["GET", "PATCH"])
@pytest.mark.parametrize("fault", ["drop-before", 500, 429])
async def test_an_api_server_that_is_down_is_503_and_comes_back(
    api: SessionApi, recorder: Callback, verb: str, fault: Any
) -> None:
    api.fault = lambda call: fault if call.verb == verb else None
    response = await recorder.heartbeat()
    status, reason = problem(response)
    assert status == 503
    assert reason.startswith("ApiServer")
    assert int(response.headers["retry-after"]) >= 1
    api.fault = lambda _: None
    assert (await recorder.heartbeat()).status_code == 200
    assert api.report()["seq"] == 1


async def test_a_write_whose_answer_was_lost_can_be_repeated(
    api: SessionApi, recorder: Callback
) -> None:
    api.fault = lambda call: "drop-after" if call.verb == "PATCH" else None
    assert problem(await recorder.heartbeat()) == (503, "ApiServerUnreachable")
    api.fault = lambda _: None
    assert (await recorder.heartbeat()).status_code == 200
    assert len(api.applied) == 1


async def test_a_session_calls_once_a_second_on_average(
    api: SessionApi, recorder: Callback, clock: Clock
) -> None:
    for seq in range(20):
        assert (await recorder.heartbeat(seq=seq)).status_code == 200
    reads = api.count("GET", "agentsessions")
    response = await recorder.heartbeat(seq=21)
    assert problem(response) == (429, "TooManyRequests")
    assert response.headers["retry-after"] == "1"
    assert api.count("GET", "agentsessions") == reads
    clock.seconds += 1
    assert (await recorder.heartbeat(seq=22)).status_code == 200


async def test_heartbeats_every_15_seconds_cost_one_review_a_minute(
    api: SessionApi, recorder: Callback, clock: Clock
) -> None:
    for seq in range(60):
        clock.seconds += 15
        assert (await recorder.heartbeat(seq=seq)).status_code == 200
    assert api.count("POST", "tokenreviews") == 15


async def test_a_session_of_another_shape_is_our_mistake_and_says_so(
    api: SessionApi, recorder: Callback
) -> None:
    spec: Object = {"taskRef": "fix"}
    api.put(SESSIONS, "fix-s1", "team", spec=spec)
    assert problem(await recorder.heartbeat()) == (500, "SessionUnreadable")


async def test_outcomes_and_refusals_are_counted(
    api: SessionApi, recorder: Callback, metrics: ServerMetrics
) -> None:
    await recorder.heartbeat()
    await recorder.heartbeat()
    await recorder.result()
    api.session(state="Dead")
    await recorder.result()
    for kind, result in (
        ("heartbeat", "written"),
        ("heartbeat", "repeated"),
        ("result", "written"),
        ("result", "SessionOver"),
    ):
        labels = {"kind": kind, "result": result}
        assert metrics.registry.get_sample_value("bernstein_callbacks_total", labels) == 1
