"""The recorder beside an agent that the test plays."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bernstein import agents
from bernstein.agents.demo import DemoParser
from bernstein.api import pod
from bernstein.api.pod import Callback, CommitText, FinalRecord, RecorderResult
from bernstein.pods import packs, recorder
from bernstein.pods.callback import Beat, CallbackError, Client
from bernstein.pods.errors import PodError
from tests.background import wait_for
from tests.programs.pods.agent_pod import Volumes, git, write
from tests.programs.pods.callback_server import Call, CallbackServer
from tests.programs.pods.git_server import certificate

BASE: dict[str, bytes | str] = {"a.py": "a = 1\n", "README.md": "read me\n"}


FAST: Any = 0.1
"""Seconds; whole numbers in a real configuration."""


def line(**record: object) -> str:
    return json.dumps(record) + "\n"


class Run:
    """A recorder in a thread; the test writes worktree and stream."""

    def __init__(self, folder: Path) -> None:
        self.volumes = Volumes(folder)
        self.base = self.volumes.start_from(BASE)
        self.config = self.volumes.recorder_config(checkpoint_seconds=0)
        self.ended = threading.Event()
        self.snapshots = 0
        self.outcome: RecorderResult | BaseException | None = None
        self.thread: threading.Thread | None = None

    def start(self, **changes: Any) -> None:
        self.config = dataclasses.replace(self.config, **changes)
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        parser = agents.get(self.config.adapter).parser()
        try:
            beside = recorder.Recorder(self.config, parser)
            try:
                self._count_snapshots(beside)
                self.outcome = beside.run(self.ended)
            finally:
                beside.close()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            self.outcome = error

    def _count_snapshots(self, beside: recorder.Recorder) -> None:
        checkpoint = beside._checkpoint

        def counted() -> None:
            checkpoint()
            self.snapshots += 1

        beside._checkpoint = counted  # type: ignore[method-assign]

    def end(self) -> RecorderResult:
        """As the kubelet ends it; returns the result."""
        self.stop()
        assert isinstance(self.outcome, RecorderResult), repr(self.outcome)
        return self.outcome

    def fail(self) -> PodError:
        self.stop()
        assert isinstance(self.outcome, PodError), repr(self.outcome)
        return self.outcome

    def stop(self) -> None:
        self.ended.set()
        if self.thread is not None:
            self.thread.join(60)
            assert not self.thread.is_alive()

    def say(self, text: str) -> None:
        with (self.volumes.stream / "stdout.log").open("a") as file:
            file.write(text)

    def latest(self) -> packs.Record | None:
        found = packs.latest(self.volumes.packs)
        return found[1] if found else None

    @property
    def stop_file(self) -> Path:
        return self.volumes.control / "stop"


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_POLL_SECONDS", 0.02)
    monkeypatch.setattr(recorder, "_LAST_CALL_SECONDS", 1.0)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    run = Run(tmp_path / "pod")
    yield run
    run.stop()


@pytest.fixture
def server() -> Iterator[CallbackServer]:
    server = CallbackServer()
    yield server
    server.close()


@pytest.fixture
def callback(server: CallbackServer, tmp_path: Path) -> Callback:
    (tmp_path / "token").write_text("the-token\n")
    return Callback(server.url + "/prefix/", str(tmp_path / "token"), heartbeat_seconds=FAST)


def wait_for_snapshots(run: Run, count: int) -> None:
    """Until that many have been taken from now on."""
    seen = run.snapshots
    wait_for(lambda: run.snapshots > seen + count)


# --- work ---------------------------------------------------------------------------------------


def test_the_work_is_one_commit_and_the_stream_is_summed_up(run: Run) -> None:
    run.start()
    write(run.volumes.worktree, {"src/new.py": "n = 1\n", "tests/test_new.py": ""})
    (run.volumes.worktree / "README.md").unlink()
    run.say(line(type="start", model="sonnet"))
    run.say(line(type="usage", input=10, output=20, cache_read=30, cache_write=40))
    run.say(line(type="result", text="All done."))
    result = run.end()
    assert result.base == run.base
    assert result.changed == pod.Changed(files=3, python=True, tests=True, deps=False)
    assert result.usage == pod.Usage(10, 20, 30, 40)
    assert result.model == "sonnet"
    assert result.final == FinalRecord("Succeeded", "The agent reports success.", "All done.")
    assert result.stopped is None
    record = run.latest()
    assert record is not None
    assert (record.base, record.sha, record.tree) == (result.base, result.sha, result.tree)
    assert record.final
    assert_commit(run, record, {"a.py", "src/new.py", "tests/test_new.py"})


def assert_commit(run: Run, record: packs.Record, files: set[str]) -> None:
    """The pack alone, on the base, holds the commit with these files."""
    folder = run.volumes.root / f"look-{record.sha}"
    git(run.volumes.root, "clone", "-q", "--bare", str(run.volumes.base_git_dir), str(folder))
    assert record.pack is not None
    git(folder, "unpack-objects", "-q", input=(run.volumes.packs / record.pack).read_bytes())
    git(folder, "fsck", "--strict", "--connectivity-only", record.sha)
    parents = git(folder, "rev-list", "--parents", "-n1", record.sha).decode().split()
    assert parents == [record.sha, record.base]
    listed = git(folder, "ls-tree", "-r", "--name-only", record.sha).decode().split()
    assert set(listed) == files


def test_nothing_changed_is_the_base_itself(run: Run) -> None:
    run.start()
    result = run.end()
    record = run.latest()
    assert record is not None
    assert result.sha == record.sha == run.base
    assert record.pack is None
    assert record.final
    assert result.changed == pod.Changed()
    assert result.final.outcome == "NoFinalRecord"


def test_checkpoints_come_only_when_the_tree_changes(run: Run) -> None:
    run.start()
    write(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(run.latest)
    first = run.latest()
    assert first is not None
    assert not first.final
    (run.volumes.worktree / "b.py").touch()
    os.utime(run.volumes.worktree / "b.py")
    write(run.volumes.worktree, {"b.py": "1\n"})
    wait_for_snapshots(run, 3)
    assert packs.numbers(run.volumes.packs) == [1]
    write(run.volumes.worktree, {"c.py": "2\n"})
    wait_for(lambda: packs.numbers(run.volumes.packs) == [1, 2])
    result = run.end()
    last = run.latest()
    assert last is not None
    assert (last.final, last.sha) == (True, result.sha)
    assert last.pack == "2.pack", "the end made no new commit of the same tree"
    assert_commit(run, last, {"a.py", "README.md", "b.py", "c.py"})


def test_undone_work_goes_back_to_the_base(run: Run) -> None:
    run.start()
    write(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(run.latest)
    (run.volumes.worktree / "b.py").unlink()
    wait_for(lambda: packs.numbers(run.volumes.packs) == [1, 2])
    result = run.end()
    assert result.sha == run.base
    record = run.latest()
    assert record is not None
    assert record.pack is None


def test_what_is_left_out_is_counted_in_result_and_trailer(run: Run) -> None:
    run.start()
    write(run.volumes.worktree, {"b.py": "1\n", "git~1": "x"})
    os.mkfifo(run.volumes.worktree / "fifo")
    result = run.end()
    assert result.skipped == 2
    raw = git(run.volumes.recorder / "repo.git", "cat-file", "commit", result.sha).decode()
    assert raw.endswith("Add a thing\n\nTask: one\nBernstein-Tree-Files-Skipped: 2\n")


def test_a_message_without_trailers_gets_a_paragraph_of_them(run: Run) -> None:
    run.start(commit=CommitText("Ada", "a@b.c", "Subject: with a colon"))
    write(run.volumes.worktree, {"b.py": "1\n", "git~1": "x"})
    result = run.end()
    raw = git(run.volumes.recorder / "repo.git", "cat-file", "commit", result.sha).decode()
    assert raw.endswith("\n\nSubject: with a colon\n\nBernstein-Tree-Files-Skipped: 1\n")


def test_refused_contents_do_not_cost_the_rest(run: Run) -> None:
    run.start()
    bad = '[submodule "x"]\n\tpath = x\n\turl = -uhostile\n'
    write(run.volumes.worktree, {".gitmodules": bad, "sub/.gitattributes": "x" * 3000, "b": "b"})
    result = run.end()
    assert result.skipped == 2
    record = run.latest()
    assert record is not None
    assert_commit(run, record, {"a.py", "README.md", "b"})


def test_any_number_of_refused_contents_does_not_cost_the_rest(run: Run) -> None:
    hostile = '[submodule "x"]\n\tpath = x{}\n\turl = -uhostile\n'
    run.start()
    write(run.volumes.worktree, {f"d{i}/.gitmodules": hostile.format(i) for i in range(25)})
    write(run.volumes.worktree, {"b": "b"})
    result = run.end()
    assert result.skipped == 25
    record = run.latest()
    assert record is not None
    assert_commit(run, record, {"a.py", "README.md", "b"})


def test_the_last_state_is_handed_over_before_the_rest_of_the_output_is_read(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[packs.Record | None] = []
    feed = DemoParser.feed

    def look(self: DemoParser, line: bytes) -> str:
        seen.append(run.latest())
        return feed(self, line)

    monkeypatch.setattr(DemoParser, "feed", look)
    run.say(line(type="usage", input=1) + line(type="result", text="Done."))
    write(run.volumes.worktree, {"b.py": "1\n"})
    run.ended.set()
    run.start()
    result = run.end()
    assert result.usage.input == 1
    assert result.final.text == "Done."
    assert [record and record.final for record in seen] == [True, True]


def test_too_large_a_tree_is_the_outcome_and_the_last_checkpoint_stays(run: Run) -> None:
    run.start(limits=pod.SnapshotLimits(file_bytes=1000))
    write(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(run.latest)
    before = run.latest()
    write(run.volumes.worktree, {"big": "x" * 1001})
    failure = run.fail()
    assert failure.reason == "SnapshotTooLarge"
    assert failure.message.startswith("big: ")
    record = run.latest()
    assert before is not None
    assert record == dataclasses.replace(before, aborted=True)


def test_a_too_large_tree_that_is_tidied_up_again_is_fine(run: Run) -> None:
    run.start(limits=pod.SnapshotLimits(file_bytes=1000))
    write(run.volumes.worktree, {"big": "x" * 1001})
    wait_for_snapshots(run, 2)
    (run.volumes.worktree / "big").unlink()
    write(run.volumes.worktree, {"b.py": "1\n"})
    assert run.end().changed.files == 1


def test_large_files_that_come_and_go_do_not_fill_the_volume(run: Run) -> None:
    run.start(limits=pod.SnapshotLimits(total_bytes=300_000))
    for i in range(4):
        (run.volumes.worktree / "big").write_bytes(os.urandom(200_000))
        wait_for(lambda i=i: packs.numbers(run.volumes.packs)[-1:] == [i + 1])  # type: ignore[misc]
    used = sum(f.stat().st_size for f in run.volumes.recorder.rglob("*") if f.is_file())
    assert used < 900_000
    assert len(list(run.volumes.packs.glob("*.pack"))) <= 3
    result = run.end()
    record = run.latest()
    assert record is not None
    assert record.sha == result.sha
    assert_commit(run, record, {"a.py", "README.md", "big"})


def test_a_restarted_recorder_goes_on(run: Run) -> None:
    run.start()
    write(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(run.latest)
    run.stop()
    again = Run.__new__(Run)
    again.__dict__ |= run.__dict__ | {"ended": threading.Event()}
    again.start()
    write(run.volumes.worktree, {"c.py": "1\n"})
    result = again.end()
    assert packs.numbers(run.volumes.packs)[-1] > 2
    assert result.changed.files == 2


def test_the_agents_words_fit_the_termination_message(run: Run) -> None:
    run.start()
    run.say(
        line(type="result", text="\U0001f600" * 5000, error={"kind": "x", "message": "ü" * 900})
    )
    result = run.end()
    assert len(pod.dump(result)) <= pod.TERMINATION_LIMIT
    assert result.final.message
    assert result.final.text


def test_the_agents_words_are_harmless(run: Run) -> None:
    run.start()
    run.say(line(type="start", model="\x1b[31mred\u202e"))
    run.say(line(type="result", text="ask @admin \x1b]0;title\x07 now\u202e"))
    result = run.end()
    assert result.model == "red"
    assert not {"\x1b", "\u202e", "@"} & set(result.final.text)


def test_a_parser_that_raises_costs_no_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, line: bytes) -> None:
        raise RuntimeError

    monkeypatch.setattr("bernstein.agents.demo.DemoParser.feed", broken)
    run.start()
    run.say("x\n" * 10)
    write(run.volumes.worktree, {"b.py": "1\n"})
    assert run.end().changed.files == 1


# --- the log ------------------------------------------------------------------------------------


def test_the_log_tells_what_the_agent_says_and_nothing_else_of_its_output(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run.start()
    run.say(line(type="message", text="I look at\n\x1b[31mthe tests @all\u202e"))
    run.say(line(type="tool", text="the key") + "the key\n" + line(type="usage", input=1))
    run.say(line(type="message", text="I mend them."))
    with (run.volumes.stream / "stderr.log").open("a") as file:
        file.write("the key\n")
    run.end()
    events = [json.loads(row) for row in capsys.readouterr().err.splitlines()]
    said = [event["text"] for event in events if event["event"] == "said"]
    assert said == ["I look at\nthe tests ＠all", "I mend them."]  # noqa: RUF001
    assert "the key" not in repr(events)


# --- the server ---------------------------------------------------------------------------------


def test_heartbeats_tell_what_is_going_on(
    run: Run, server: CallbackServer, callback: Callback
) -> None:
    run.start(callback=callback)
    run.say(line(type="start", model="sonnet") + line(type="message", text="thinking @all"))
    run.say(line(type="usage", input=1, output=2, cache_read=3, cache_write=4))
    write(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(lambda: any(call.body["checkpoint"] for call in server.of("heartbeat")))
    call = next(call for call in server.of("heartbeat") if call.body["checkpoint"])
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
    assert pod.load(RecorderResult, json.dumps(told.body)) == result


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
    client = Client(dataclasses.replace(callback, url=url), "demo", "task-s1")
    with pytest.raises(CallbackError, match="certificate verify failed"):
        client.heartbeat(Beat())
    assert not server.calls
    ca_file = str(tmp_path / "ca.pem")
    trusting = dataclasses.replace(callback, url=url, ca_file=ca_file)
    assert Client(trusting, "demo", "task-s1").heartbeat(Beat()) is None
    assert len(server.calls) == 1


@pytest.mark.parametrize("answer", [(500, b""), (401, b"{}"), (200, b"<html>"), (200, b"[]")])
def test_no_other_answer_stops_it(
    run: Run, server: CallbackServer, callback: Callback, answer: tuple[int, bytes]
) -> None:
    server.answer = lambda _: answer
    run.start(callback=callback)
    write(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(lambda: len(server.of("heartbeat")) >= 2 and run.latest())
    assert run.end().changed.files == 1
    assert not run.stop_file.exists()


def test_a_server_that_is_down_changes_nothing(run: Run, callback: Callback) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    run.start(callback=dataclasses.replace(callback, url=f"http://127.0.0.1:{port}"))
    write(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(run.latest)
    assert run.end().changed.files == 1
    assert not run.stop_file.exists()


def test_a_server_that_never_answers_delays_nothing(run: Run, callback: Callback) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        run.start(callback=dataclasses.replace(callback, url=url))
        for i in range(2):
            write(run.volumes.worktree, {f"{i}.py": "1\n"})
            wait_for(lambda i=i: len(packs.numbers(run.volumes.packs)) > i, 8)  # type: ignore[misc]
        began = time.monotonic()
        assert run.end().changed.files == 2
        assert time.monotonic() - began < 4


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


# --- stalls -------------------------------------------------------------------------------------


def test_an_agent_that_does_nothing_is_stopped(run: Run) -> None:
    run.start(stall_seconds=FAST * 5)
    began = time.monotonic()
    wait_for(run.stop_file.exists)
    assert time.monotonic() - began >= 0.5
    assert run.end().stopped == "Stalled"


@pytest.mark.parametrize("sign", ["stdout", "stderr", "tree", "too large a tree", "ignored folder"])
def test_any_sign_of_life_is_enough(run: Run, sign: str) -> None:
    write(run.volumes.worktree, {".gitignore": "build\n"})
    (run.volumes.worktree / "build").mkdir()
    if sign == "too large a tree":
        write(run.volumes.worktree, {"a-big": "x" * 1001})
    run.start(stall_seconds=FAST * 6, limits=pod.SnapshotLimits(file_bytes=1000))
    began = time.monotonic()
    i = 0
    while time.monotonic() - began < 1.2:
        i += 1
        if sign in ("tree", "too large a tree"):
            write(run.volumes.worktree, {"b.py": f"{i}\n"})
        elif sign == "ignored folder":
            write(run.volumes.worktree, {f"build/{i}": ""})
        else:
            with (run.volumes.stream / f"{sign}.log").open("a") as file:
                file.write("x")
        time.sleep(0.05)
    assert not run.stop_file.exists()
    (run.volumes.worktree / "a-big").unlink(missing_ok=True)
    assert run.end().stopped is None


def test_the_first_reason_to_stop_is_kept(
    run: Run, server: CallbackServer, callback: Callback
) -> None:
    def after_the_stall(_: Call) -> tuple[int, bytes]:
        return (200, b'{"stop":{"reason":"Cancelled"}}' if run.stop_file.exists() else b"{}")

    server.answer = after_the_stall
    run.start(stall_seconds=FAST * 3, callback=callback)
    wait_for(run.stop_file.exists)
    count = len(server.calls)
    wait_for(lambda: len(server.calls) >= count + 2)
    assert run.end().stopped == "Stalled"
