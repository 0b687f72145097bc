"""What of the agent's output the recorder shows to those who look on."""

from __future__ import annotations

import pytest

from tests.background import wait_for
from tests.programs.pods.programs.recorder.run import Run, line


def shown(run: Run) -> str:
    path = run.volumes.control / "output.log"
    return path.read_text() if path.exists() else ""


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
