"""What of the agent's output the recorder shows to those who look on."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import pytest

from bernstein import agents
from bernstein.agents.adapter import PROGRESS_LIMIT
from bernstein.api.pod import Callback
from bernstein.pods.programs import recorder
from bernstein.pods.session import stream
from bernstein.pods.session.live import LINE_CHARACTERS
from bernstein.pods.session.messages import harmless, harmless_line
from tests.background import wait_for
from tests.programs.pods.callback_server import CallbackServer
from tests.programs.pods.programs.recorder.run import Run, line
from tests.unit.agents import examples


def shown(run: Run) -> str:
    path = run.volumes.control / "output.log"
    return path.read_text() if path.exists() else ""


def progress(server: CallbackServer) -> list[Any]:
    """Of every heartbeat."""
    return [call.body["progress"] for call in server.of("heartbeat")]


def test_what_the_agent_says_is_shown_while_it_works(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run.start()
    run.say(line(type="message", text="I look at\n\x1b[31mthe tests @all\u202e"))
    run.say(line(type="tool", text="a token") + line(type="usage", input=1))
    run.say("a warning of the CLI\n")
    wait_for(lambda: shown(run).endswith("CLI\n"))
    with (run.volumes.stream / "stderr.log").open("a") as file:
        file.write("on stderr\n")
    wait_for(lambda: shown(run).endswith("stderr\n"))
    assert shown(run).splitlines() == [
        "I look at",
        "the tests ＠all",  # noqa: RUF001
        "a warning of the CLI",
        "on stderr",
    ]
    run.end()
    assert "the tests" not in capsys.readouterr().err, "its own log tells its own events"


def says(run: Run, before: int, rows: list[str]) -> bool:
    """Whether exactly this is shown after so many characters."""
    return shown(run)[before:].splitlines() == rows


def does(server: CallbackServer, what: str) -> bool:
    return progress(server)[-1:] == [what]


@pytest.mark.parametrize("name", agents.names())
def test_output_of_every_adapter_is_heard_as_it_comes(
    name: str, run: Run, server: CallbackServer, callback: Callback
) -> None:
    """Each line of its own example is shown, and what it does is told, before the next is there."""
    parser = agents.get(name).parser()
    run.start(adapter=name, callback=callback)
    heard = 0
    for each in examples.of_adapter(name).succeeds.stdout.splitlines(keepends=True):
        rows = harmless(parser.feed(each.rstrip(b"\n")), LINE_CHARACTERS).splitlines()
        before = len(shown(run))
        run.say(each.decode())
        if rows:
            heard += 1
            wait_for(partial(says, run, before, rows))
        wait_for(partial(does, server, harmless_line(parser.progress, PROGRESS_LIMIT)))
    assert heard
    assert not (run.volumes.control / "output-end").exists(), "the agent is still at work"
    wait_for(lambda: server.of("heartbeat")[-1].body["usage"] == asdict(parser.usage))
    run.end()


def test_the_end_is_told_when_all_is_shown_that_the_agent_wrote(run: Run) -> None:
    run.start(adapter="generic")
    run.say("whole line\nlast words without a line end")
    end = run.volumes.control / "output-end"
    wait_for(lambda: shown(run))
    assert not end.exists()
    (run.volumes.stream / "exit.json").write_text('{"exitCode": 0}')
    wait_for(end.exists)
    assert shown(run) == "whole line\nlast words without a line end\n"
    run.end()


def test_a_line_that_is_too_long_is_left_out_and_that_is_said(run: Run) -> None:
    run.start(adapter="generic")
    run.say("x" * (2 << 20) + "\nshort\n")
    wait_for(lambda: "bernstein" in shown(run))
    run.end()
    assert shown(run).splitlines() == [
        "short",
        "[bernstein: lines of more than 1048576 bytes are left out]",
    ]


def test_a_talkative_agents_last_words_and_result_are_read_to_their_end(run: Run) -> None:
    said = line(type="usage", input=1) * 2 + line(type="message", text="y" * 20)
    run.say(said * 20_000 + line(type="result", text="all of it is done") + "last words")
    (run.volumes.stream / "exit.json").write_text('{"exitCode": 0}')
    run.start()
    wait_for((run.volumes.control / "output-end").exists)
    told = shown(run)
    left_out = [int(row.split()[1]) for row in told.splitlines() if "are left out here" in row]
    rows = [row for row in told.splitlines() if not row.startswith("[bernstein: ")]
    assert len(rows) + sum(left_out) == 20_000 + 2
    result = run.end()
    assert result.final.outcome == "Succeeded"
    assert result.final.text == "all of it is done"
    assert result.usage.input == 40_000


def test_what_there_is_no_time_to_show_is_counted_and_read_all_the_same(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "_LAST_WORDS_SECONDS", 0.0)
    said = "y" * 59 + "\n"
    run.say(said * 60_000 + line(type="usage", input=7) + line(type="result", text="done"))
    (run.volumes.stream / "exit.json").write_text('{"exitCode": 0}')
    run.start()
    end = run.volumes.control / "output-end"
    wait_for(end.exists)
    (note,) = [row for row in shown(run).splitlines() if "no time for them" in row]
    assert int(note.split()[3]) > 20_000 * len(said)
    rows = (row for row in shown(run).splitlines() if not row.startswith("[bernstein: "))
    assert set(rows) == {said.strip()}, "no line is broken"
    result = run.end()
    assert (result.final.outcome, result.usage.input) == ("Succeeded", 7)


@pytest.mark.parametrize("looks", ["once", "to the end"])
def test_so_many_last_lines_hide_a_result_only_where_one_look_is_all(
    run: Run, monkeypatch: pytest.MonkeyPatch, looks: str
) -> None:
    if looks == "once":
        monkeypatch.setattr(stream.Tail, "rest", stream.Tail.lines)
    run.say(line(type="usage", input=1) * 60_000 + line(type="result", text="all of it is done"))
    (run.volumes.stream / "exit.json").write_text('{"exitCode": 0}')
    run.ended.set()
    run.start()
    result = run.end()
    assert (result.final.text == "all of it is done") is (looks == "to the end")
    assert (result.usage.input == 60_000) is (looks == "to the end")


@pytest.mark.parametrize("cut", [True, False])
def test_a_record_is_read_in_two_only_where_what_has_come_of_a_line_is_taken_for_one(
    run: Run, monkeypatch: pytest.MonkeyPatch, cut: bool
) -> None:
    monkeypatch.setattr(recorder, "_LAST_WORDS_SECONDS", 0.0)
    if cut:
        monkeypatch.setattr(stream.Tail, "behind", 0)
    run.say(line(type="usage", input=1) * 60_000)
    (run.volumes.stream / "exit.json").write_text('{"exitCode": 0}')
    run.start()
    wait_for((run.volumes.control / "output-end").exists)
    assert run.end().usage.input == 60_000 - cut


def test_no_line_of_a_key_is_the_progress(
    run: Run, server: CallbackServer, callback: Callback
) -> None:
    run.start(adapter="generic", callback=callback)
    run.say("at work\n")
    wait_for(lambda: "at work" in progress(server))
    before = len(progress(server))
    run.say("-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n")
    wait_for(lambda: "private key" in shown(run))
    seen = len(progress(server))
    wait_for(lambda: len(progress(server)) > seen + 2)
    assert set(progress(server)[before:]) == {"at work"}
    run.say("-----END PRIVATE KEY-----\nDB_PASSWORD=hunter2\n")
    wait_for(lambda: progress(server)[-1] == "DB_PASSWORD=[redacted]")
