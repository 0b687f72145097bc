"""What the recorder tells the server, and what the server's answers do."""

from __future__ import annotations

import dataclasses
import json
import socket
import ssl
import time
from pathlib import Path

import pytest

from bernstein.api import encoding
from bernstein.api.pod import Callback, RecorderResult
from bernstein.pods.programs import recorder
from bernstein.pods.session.callback import Beat, CallbackClient, CallbackError
from bernstein.pods.worktree import packs
from tests.background import wait_for
from tests.programs.pods.agent_pod import write_whole
from tests.programs.pods.callback_server import Call, CallbackServer
from tests.programs.pods.git_server import certificate
from tests.programs.pods.programs.recorder.run import Run, line


def test_heartbeats_tell_what_is_going_on(
    run: Run, server: CallbackServer, callback: Callback
) -> None:
    run.start(callback=callback)
    run.say(line(type="start", model="sonnet") + line(type="message", text="thinking @all"))
    run.say(line(type="usage", input=1, output=2, cache_read=3, cache_write=4))
    write_whole(run.volumes.worktree, {"b.py": "1\n"})

    def whole() -> list[Call]:
        # The stream is read before the tree is looked at: a commit may be ahead of what was said.
        beats = server.of("heartbeat")
        return [c for c in beats if c.body["checkpoint"] and c.body["usage"]["output"]]

    wait_for(whole)
    call = whole()[0]
    record = run.latest()
    assert record is not None
    assert call.path == "/prefix/v1/sessions/demo/task-s1/heartbeat"
    assert call.token == "Bearer the-token"
    assert call.body["usage"] == {"input": 1, "output": 2, "cache_read": 3, "cache_write": 4}
    assert call.body["model"] == "sonnet"
    assert "@" not in call.body["progress"]
    assert call.body["checkpoint"] == record.sha
    assert abs(call.body["lastActivity"] - time.time()) < 30
    wait_for(lambda: len(server.of("heartbeat")) >= 4)
    numbers = [call.body["seq"] for call in server.of("heartbeat")]
    assert numbers == sorted(set(numbers))
    result = run.end()
    (told,) = server.of("result")
    assert encoding.load(RecorderResult, json.dumps(told.body)) == result


def test_the_token_is_read_again_for_every_call(
    run: Run, server: CallbackServer, callback: Callback
) -> None:
    run.start(callback=callback)
    wait_for(lambda: server.of("heartbeat"))
    Path(callback.token_file).write_text("renewed")
    wait_for(lambda: server.calls[-1].token == "Bearer renewed")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((200, b'{"stop":{"reason":"BudgetExceeded"}}'), "BudgetExceeded"),
        ((200, b'{"stop":{"reason":"Cancelled\\u001b[31m"}}'), "Cancelled"),
        ((409, b"{}"), "SessionOver"),
    ],
)
def test_the_server_stops_the_agent_softly(
    run: Run,
    server: CallbackServer,
    callback: Callback,
    answer: tuple[int, bytes],
    expected: str,
) -> None:
    server.answer = lambda _: answer
    run.start(callback=callback)
    wait_for(run.stop_file.exists)
    assert run.end().stopped == expected


def test_tls_needs_the_given_ca(
    run: Run, server: CallbackServer, callback: Callback, tmp_path: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    server.wrap(context)
    url = server.url.replace("http://127.0.0.1", "https://localhost")
    client = CallbackClient(dataclasses.replace(callback, url=url), "demo", "task-s1")
    with pytest.raises(CallbackError, match="certificate verify failed"):
        client.heartbeat(Beat())
    assert not server.calls
    ca_file = str(tmp_path / "ca.pem")
    trusting = dataclasses.replace(callback, url=url, ca_file=ca_file)
    assert CallbackClient(trusting, "demo", "task-s1").heartbeat(Beat()) is None
    assert len(server.calls) == 1


@pytest.mark.parametrize("answer", [(500, b""), (401, b"{}"), (200, b"<html>"), (200, b"[]")])
def test_no_other_answer_stops_it(
    run: Run, server: CallbackServer, callback: Callback, answer: tuple[int, bytes]
) -> None:
    server.answer = lambda _: answer
    run.start(callback=callback)
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(lambda: len(server.of("heartbeat")) >= 2 and run.latest())
    assert run.end().changed.files == 1
    assert not run.stop_file.exists()


def test_a_server_that_is_down_changes_nothing(run: Run, callback: Callback) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # and held, so that nobody else listens there
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        run.start(callback=dataclasses.replace(callback, url=url))
        write_whole(run.volumes.worktree, {"b.py": "1\n"})
        wait_for(run.latest)
        assert run.end().changed.files == 1
    assert not run.stop_file.exists()


def test_a_server_that_never_answers_delays_nothing(
    run: Run, callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "_LAST_CALL_SECONDS", 0.5)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        run.start(callback=dataclasses.replace(callback, url=url))
        for i in range(2):
            write_whole(run.volumes.worktree, {f"{i}.py": "1\n"})
            wait_for(lambda i=i: len(packs.numbers(run.volumes.packs)) > i, 8)  # type: ignore[misc]
        began = time.monotonic()
        assert run.end().changed.files == 2
        assert time.monotonic() - began < 8, "the call's own limit is ten"


def test_a_missing_token_changes_nothing(run: Run, callback: Callback) -> None:
    Path(callback.token_file).unlink()
    run.start(callback=callback)
    assert run.end().sha == run.base


def test_a_snapshot_that_fails_still_reports_the_usage(
    run: Run, server: CallbackServer, callback: Callback
) -> None:
    run.start(
        callback=dataclasses.replace(callback, heartbeat_seconds=60),
        checkpoint_seconds=60,
        stall_seconds=180,
    )
    wait_for(lambda: server.of("heartbeat"))
    run.say(line(type="usage", input=7, output=0, cache_read=0, cache_write=0))
    with (run.volumes.worktree / "big").open("wb") as file:
        file.truncate(1 << 40)
    assert run.fail().reason == "SnapshotTooLarge"
    assert server.of("heartbeat")[-1].body["usage"]["input"] == 7
    numbers = [call.body["seq"] for call in server.of("heartbeat")]
    assert numbers == sorted(set(numbers))
    assert not server.of("result")


def test_an_address_that_is_no_web_address_is_refused(run: Run, callback: Callback) -> None:
    run.start(callback=dataclasses.replace(callback, url="file:///etc"))
    assert run.fail().reason == "InvalidConfig"
