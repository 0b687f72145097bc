"""What of the agent's output the recorder's own log shows."""

from __future__ import annotations

import json

import pytest

from tests.programs.pods.programs.recorder.run import Run, line


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
