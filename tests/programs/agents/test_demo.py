"""The demo adapter, on the output of the real demo agent."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from bernstein.agents import RunSettings, get
from bernstein.agents.demo import DemoParser
from bernstein.api.pod import FinalRecord, Usage

SCRIPT = Path(__file__).parents[3] / "images/agent-demo/demo-agent"
PROMPT = "You work on a project.\n\nTask: Do it\nAttempt: {}\nRole: backend\n"


class Demo:
    """Plays attempts of a task in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workdir = folder / "workspace"
        self.workdir.mkdir()

    def scenario(self, *attempts: dict[str, Any]) -> None:
        tasks = [{"title": "Do it", "attempts": list(attempts)}]
        (self.folder / "scenario.yaml").write_text(yaml.safe_dump({"tasks": tasks}))

    def start(self, attempt: int = 1) -> subprocess.Popen[bytes]:
        run = RunSettings("", "sonnet", config_dir=str(self.folder), workdir=str(self.workdir))
        program, *arguments = get("demo").invocation(run).argv
        assert program == SCRIPT.name
        process = subprocess.Popen(
            [sys.executable, SCRIPT, *arguments],
            cwd=self.workdir,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        process.stdin.write(PROMPT.format(attempt).encode())
        process.stdin.close()
        process.stdin = None
        return process

    def play(self, attempt: int = 1) -> tuple[DemoParser, FinalRecord]:
        with self.start(attempt) as process:
            out, err = process.communicate(timeout=30)
        parser = DemoParser()
        for line in out.splitlines():
            parser.feed(line)
        return parser, parser.finish(process.returncode, err)


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    return Demo(tmp_path)


def test_it_does_what_the_scenario_says(demo: Demo) -> None:
    (demo.workdir / "old.txt").write_text("a planned thing\n")
    (demo.workdir / "gone.txt").write_text("x")
    demo.scenario(
        {
            "steps": [
                {"say": "I do {task}, attempt {attempt}."},
                {"usage": {"input": 100, "output": 20, "cache_write": 50}},
                {"write": {"path": "src/new.txt", "content": "new\n"}},
                {"replace": {"path": "old.txt", "old": "planned", "new": "real"}},
                {"remove": "gone.txt"},
                {"run": "echo ran > ran.txt; exit 3"},
                {"usage": {"input": 10, "output": 2, "cache_read": 50}},
            ],
            "text": "Done with {task}.",
        }
    )
    parser, final = demo.play()
    files = {p.name: p.read_text() for p in demo.workdir.rglob("*") if p.is_file()}
    assert files == {"new.txt": "new\n", "old.txt": "a real thing\n", "ran.txt": "ran\n"}
    assert final == FinalRecord("Succeeded", "The agent reports success.", "Done with Do it.")
    assert parser.usage == Usage(input=110, output=22, cache_read=50, cache_write=50)
    assert parser.model == "sonnet"


def test_the_attempt_chooses_and_the_last_one_is_repeated(demo: Demo) -> None:
    demo.scenario({"text": "I lie."}, {"text": "I work."})
    assert [demo.play(n)[1].text for n in (1, 2, 3)] == ["I lie.", "I work.", "I work."]


def test_it_can_say_that_nothing_had_to_be_changed(demo: Demo) -> None:
    demo.scenario({"no_change": True})
    assert demo.play()[1].no_change


def test_it_can_end_with_zero_and_an_error_record(demo: Demo) -> None:
    demo.scenario({"error": {"kind": "max_turns", "message": "20 turns"}, "exit": 0})
    _, final = demo.play()
    assert (final.outcome, final.message) == ("MaxTurns", "20 turns")


def test_it_can_run_into_a_usage_limit(demo: Demo) -> None:
    error = {"kind": "usage_limit", "message": "come back later", "retry_after": 3600}
    demo.scenario({"error": error})
    _, final = demo.play()
    assert (final.outcome, final.retry_after) == ("UsageLimited", 3600)


def test_it_can_crash_without_a_record(demo: Demo) -> None:
    demo.scenario({"result": False, "exit": 7})
    _, final = demo.play()
    assert final.outcome == "NoFinalRecord"
    assert "exit code 7" in final.message


def test_it_can_hang_and_ignore_polite_signals(demo: Demo) -> None:
    demo.scenario({"steps": [{"hang": True}]})
    with demo.start() as process:
        assert process.stdout is not None
        while b"hangs" not in (line := process.stdout.readline()):
            assert line, "it ended"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_an_unknown_task_is_an_error(demo: Demo) -> None:
    (demo.folder / "scenario.yaml").write_text("tasks: [{title: Other, attempts: [{}]}]")
    _, final = demo.play()
    assert final.outcome == "NoFinalRecord"
    assert "no task 'Do it'" in final.message


def test_a_misspelt_step_is_an_error_before_anything_is_done(demo: Demo) -> None:
    demo.scenario({"steps": [{"run": "touch ran"}, {"writ": {}}]})
    _, final = demo.play()
    assert "unknown keys: writ" in final.message
    assert not (demo.workdir / "ran").exists()
