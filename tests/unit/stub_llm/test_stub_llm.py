"""The scripted LLM endpoint answers as the script says."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.stub_llm import scenario
from tests.stub_llm.scenario import Script
from tests.stub_llm.server import Endpoint

SHELL = {
    "type": "function",
    "name": "exec_command",
    "parameters": {"properties": {"cmd": {"type": "string"}}},
}
PATCH = {"type": "custom", "name": "apply_patch"}
SCRIPT = """
require_key: sk-stub
scenarios:
  - name: work
    match: "[work]"
    turns:
      - {write: {path: a/b.txt, content: "x\\ny\\n"}, usage: {input: 7, output: 3, cache_read: 2}}
      - {run: ls, loop: 2}
      - {text: all done}
  - name: flaky
    match: "[flaky]"
    turns:
      - errors: [{status: 503, times: 2}, {status: 429, retry_after: 4, message: slow down}]
        text: fine
  - {name: dropped, match: "[dropped]", turns: [{errors: [{times: 1}], text: fine}]}
  - {name: broken, match: "[broken]", turns: [{stream_error: {code: server_error}, text: x}]}
  - {name: cut, match: "[cut]", turns: [{disconnect: true, text: x}]}
  - {name: hang, match: "[hang]", turns: [{hang: true, text: x}]}
  - {name: terse, match: "[who]", told: Be terse., turns: [{text: "yes"}]}
  - {name: anybody, match: "[who]", turns: [{text: "yes, of course"}]}
  - {name: other, turns: [{text: nothing matched}]}
"""


class Caller:
    """Talks to an endpoint as an agent does."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.http = httpx.Client(base_url=endpoint.url, timeout=10.0)

    def ask(
        self, prompt: str, turns: int = 0, *, prefix: str = "", key: str = "sk-stub", **more: Any
    ) -> httpx.Response:
        history: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
        for _ in range(turns):
            history += [{"type": "function_call"}, {"type": "function_call_output"}]
        body = {"model": "m", "input": history, "tools": [SHELL], **more}
        headers = {"Authorization": f"Bearer {key}"}
        return self.http.post(f"{prefix}/v1/responses", json=body, headers=headers)


@pytest.fixture
def caller() -> Iterator[Caller]:
    with Endpoint(("127.0.0.1", 0), scenario.parse(SCRIPT)) as endpoint:
        thread = threading.Thread(target=endpoint.serve_forever, args=(0.01,))
        thread.start()
        caller = Caller(endpoint)
        yield caller
        caller.http.close()
        endpoint.shutdown()
        thread.join()


def output(answer: httpx.Response) -> dict[str, Any]:
    (item,) = answer.json()["output"]
    return dict(item)


def test_the_turn_follows_from_the_history(caller: Caller) -> None:
    commands = [json.loads(output(caller.ask("[work]", n))["arguments"])["cmd"] for n in (0, 1, 2)]
    assert commands[0] == "mkdir -p a && printf %s 'x\ny\n' > a/b.txt"
    assert commands[1:] == ["ls", "ls"]
    assert output(caller.ask("[work]", 3))["content"][0]["text"] == "all done"
    assert output(caller.ask("[work]", 9))["content"][0]["text"] == "done"


def test_a_file_is_written_with_the_patch_tool_where_there_is_one(caller: Caller) -> None:
    item = output(caller.ask("[work]", tools=[SHELL, PATCH]))
    assert item["name"] == "apply_patch"
    assert item["input"] == "*** Begin Patch\n*** Add File: a/b.txt\n+x\n+y\n*** End Patch\n"


def test_usage_is_what_the_script_says(caller: Caller) -> None:
    usage = caller.ask("[work]").json()["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (7, 3)
    assert usage["input_tokens_details"] == {"cached_tokens": 2}


def test_errors_come_first_and_for_each_conversation_anew(caller: Caller) -> None:
    for prefix in ("/run-1", "/run-2"):
        answers = [caller.ask("[flaky]", prefix=prefix) for _ in range(4)]
        assert [a.status_code for a in answers] == [503, 503, 429, 200]
        assert answers[2].headers["Retry-After"] == "4"
        assert answers[2].json()["error"]["message"] == "slow down"


def test_a_connection_can_be_dropped(caller: Caller) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        caller.ask("[dropped]")
    assert caller.ask("[dropped]").status_code == 200


def test_what_the_model_is_told_may_choose_between_answers_to_the_same_question(
    caller: Caller,
) -> None:
    asked = [caller.ask("[who]", instructions=told) for told in ("Be terse.", "Be kind.")]

    said = [output(answer)["content"][0]["text"] for answer in asked]
    assert said == ["yes", "yes, of course"]


def test_a_stream_ends_with_the_whole_response(caller: Caller) -> None:
    answer = caller.ask("no match", stream=True)
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line[:6] == "data: "]
    assert [e["sequence_number"] for e in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"
    text = "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")
    assert text == "nothing matched"


def test_a_stream_can_fail_or_be_cut(caller: Caller) -> None:
    assert '"response.failed"' in caller.ask("[broken]", stream=True).text
    with pytest.raises(httpx.RemoteProtocolError):
        caller.ask("[cut]", stream=True)


def test_a_hanging_stream_is_released_by_reset(caller: Caller) -> None:
    timer = threading.Timer(0.2, caller.http.post, ["/__stub/reset"])
    timer.start()
    with pytest.raises(httpx.RemoteProtocolError):
        caller.ask("[hang]", stream=True)
    timer.join()


def test_another_key_is_refused(caller: Caller) -> None:
    assert caller.ask("[work]", key="sk-other").status_code == 401


def test_what_was_asked_can_be_read_back(caller: Caller) -> None:
    caller.ask("[work] please", prefix="/run-7")
    (row,) = caller.http.get("/__stub/requests").json()
    assert (row["prefix"], row["scenario"], row["turn"]) == ("run-7", "work", 0)
    assert row["messages"] == ["[work] please"]
    assert row["key"] == "stub"


def test_a_request_without_a_fitting_tool_is_an_error(caller: Caller) -> None:
    answer = caller.ask("[work]", 1, tools=[])
    assert answer.status_code == 400
    assert "no shell tool" in answer.json()["error"]["message"]


def test_a_websocket_is_sent_to_plain_http(caller: Caller) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket"}
    assert caller.http.get("/v1/responses", headers=headers).status_code == 426


def test_scenarios_can_be_replaced(caller: Caller) -> None:
    document = {"scenarios": [{"name": "new", "turns": [{"text": "new"}]}]}
    assert caller.http.post("/__stub/scenarios", json=document).status_code == 200
    assert output(caller.ask("x", key="any"))["content"][0]["text"] == "new"
    assert caller.http.post("/__stub/scenarios", content="- 1").status_code == 400
    assert caller.http.get("/__stub/healthz").status_code == 200


@pytest.mark.parametrize(
    "text",
    [
        "scenarios: [{name: a, turns: [{tekst: x}]}]",
        "scenarios: [{name: a, turn: []}]",
        "scenarios: [{name: a, turns: [{calls: [{fly: x}]}]}]",
        "scenario: []",
    ],
)
def test_a_misspelt_script_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unknown keys|not an action"):
        scenario.parse(text)


def test_an_empty_script_says_done() -> None:
    played, _ = Script().choose(["x"])
    assert played.turn(0).text == "done"


@pytest.mark.parametrize(
    ("path", "body", "header", "told"),
    [
        (
            "/run-1/v1/messages",
            {"messages": [{"role": "user", "content": "[plain]"}]},
            {"x-api-key": "sk-stub"},
            lambda a: (a["content"][0]["text"], a["usage"]["input_tokens"]),
        ),
        (
            "/run-1/v1/chat/completions",
            {"messages": [{"role": "user", "content": "[plain]"}]},
            {"authorization": "Bearer sk-stub"},
            lambda a: (a["choices"][0]["message"]["content"], a["usage"]["prompt_tokens"]),
        ),
        (
            "/run-1/v1beta/models/some:generateContent",
            {"contents": [{"role": "user", "parts": [{"text": "[plain]"}]}]},
            {"x-goog-api-key": "sk-stub"},
            lambda a: (
                a["candidates"][0]["content"]["parts"][0]["text"],
                a["usageMetadata"]["promptTokenCount"],
            ),
        ),
    ],
    ids=["messages", "chat", "gemini"],
)
def test_a_question_is_answered_in_its_own_format(
    caller: Caller, path: str, body: dict[str, Any], header: dict[str, str], told: Any
) -> None:
    document = {
        "require_key": "sk-stub",
        "scenarios": [
            {
                "name": "plain",
                "match": "[plain]",
                "turns": [{"text": "yes", "usage": {"input": 7}, "errors": [{"status": 529}]}],
            }
        ],
    }
    caller.http.post("/__stub/scenarios", json=document)

    assert caller.http.post(path, json=body).status_code == 401
    busy = caller.http.post(path, json=body, headers=header)
    assert (busy.status_code, busy.json()["error"]["message"]) == (529, "stub error 529")
    assert told(caller.http.post(path, json=body, headers=header).json()) == ("yes", 7)
    rows = caller.http.get("/__stub/requests").json()
    assert [(row["prefix"], row["status"]) for row in rows] == [
        ("run-1", 401),
        ("run-1", 529),
        ("run-1", 200),
    ]
