"""The command line against the running product: a Plan of two stages from a file to the branch."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bernstein.api.pod import AGENT
from bernstein.core import labels
from tests.answer import Answer
from tests.background import wait_for
from tests.e2e.conftest import (
    LIE,
    OPERATOR,
    PROGRAM,
    MakeWorld,
    Object,
    World,
    does,
    state,
    writing,
)

SECONDS = 300
PLAN = """\
name: Small plan
description: Two stages, one of them with a liar
budget: "$5"
stages:
  - name: code
    steps:
      - title: Add the parser
        role: backend
        scope: small
        completion_signals:
          - {type: path_exists, path: parser.py}
  - name: docs
    steps:
      - title: Describe the parser
        role: docs
        scope: small
        completion_signals:
          - {type: file_contains, path: parser.md, contains: "parser.py"}
"""
HANGING = """\
name: Endless plan
stages:
  - name: only
    steps:
      - title: Hang
        scope: small
"""
LOUD = """\
def test_loud() -> None:
    for number in range(300):
        print(f"row {number:03d}")
    assert number < 0
"""
"""A test that fails, and prints more than a verdict's excerpt holds."""
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class CommandLine:
    here: World
    folder: Path

    def __call__(self, *arguments: str) -> Answer:
        return self.here.bernstein(*arguments)

    @contextmanager
    def following(self, *arguments: str) -> Iterator[Path]:
        """The file to which the program writes while the block runs, and until it ends by
        itself."""
        told = self.folder / "followed"
        with told.open("w") as out:
            process = subprocess.Popen(
                self._command(*arguments), stdout=out, env=self.here.stack.environment
            )
        try:
            yield told
            assert process.wait(timeout=SECONDS) == 0
        finally:
            process.kill()
            process.wait()

    def on_terminal(self, *arguments: str, columns: int = 100) -> tuple[int, str]:
        """Exit code and all that a terminal of this width got."""
        ours, theirs = pty.openpty()
        size = {"COLUMNS": str(columns), "LINES": "40", "TERM": "xterm-256color"}
        process = subprocess.Popen(
            self._command(*arguments),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=self.here.stack.environment | size,
        )
        os.close(theirs)
        shown = b"".join(_read(ours, time.monotonic() + SECONDS))
        os.close(ours)
        return process.wait(timeout=10), shown.decode()

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def _command(self, *arguments: str) -> list[str]:
        return [PROGRAM, "--namespace", self.here.namespace, *arguments]


def _read(terminal: int, deadline: float) -> Iterator[bytes]:
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            return
        if not data:
            return
        yield data
    pytest.fail(f"no end after {SECONDS} s")


@pytest.fixture(scope="module")
def bernstein(shared_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    described = writing("parser.md", "See parser.py.\n")
    hangs = {"steps": [{"say": "I think about it."}, {"sleep": 600}]}
    here = shared_world(
        [
            does("Add the parser", LIE, writing("parser.py", "X = 1\n")),
            does("Describe the parser", described),
            does("Hang", hangs),
            does("Be loud", writing("test_loud.py", LOUD)),
        ]
    )
    return CommandLine(here, tmp_path_factory.mktemp("plans"))


@pytest.fixture(scope="module")
def on_terminal(bernstein: CommandLine) -> str:
    """`bernstein run` of the Plan, as a terminal showed it."""
    code, shown = bernstein.on_terminal("run", bernstein.file("plan.yaml", PLAN))
    assert code == 0, shown
    return shown


def test_run_shows_a_plan_on_a_terminal_until_it_is_merged(
    bernstein: CommandLine, on_terminal: str
) -> None:
    assert "\x1b[" in on_terminal, "drawn in place, in colours"
    plain = ESCAPE.sub("", on_terminal)
    for words in ("2 steps", "Plan 'small-plan' created", "Add the parser", "attempt 2", "merged"):
        assert words in plain, words
    last = [line.rstrip() for line in plain.splitlines()][-12:]
    assert any(line.startswith("small-plan  Succeeded · 2/2 closed · ") for line in last), last
    assert any(line.startswith("✓ Succeeded") for line in last), last
    assert max(len(line) for line in plain.replace("\r", "\n").splitlines()) <= 100
    assert {"parser.py", "parser.md"} <= set(bernstein.here.files())


def test_status_and_logs_tell_of_every_attempt_and_verdict(
    bernstein: CommandLine, on_terminal: str
) -> None:
    record = bernstein("status", "small-plan", "--json").json
    assert record["counts"]["closed"] == 2
    assert record["cost_usd"] > 0
    assert record["delivery"]["sha"] == bernstein.here.tip()
    task = "small-plan--code-add-the-parser"
    told = bernstein("logs", task)
    assert told.code == 0, told.err
    for words in (
        f"── {task}-s1 · attempt 1 · ",
        "  checkout  checked out refs/",
        "  recorder  recorded ",
        "  pusher    pushed ",
        "EmptyDiff",
        "no file changed",
        "✓ signal path_exists: parser.py: Passed",
    ):
        assert words in told.out, words
    sessions = bernstein("logs", task, "--json").json["sessions"]
    assert [s["attempt"] for s in sessions] == [1, 2]
    assert [s["outcome"]["reason"] for s in sessions] == ["Succeeded", "Succeeded"]
    assert all('"event":"recorded"' in s["logs"]["recorder"] for s in sessions)


def test_what_a_failed_test_run_printed_outlives_its_job(bernstein: CommandLine) -> None:
    here = bernstein.here
    command = "python3 -m pytest -q -p no:cacheprovider test_loud.py"
    signal = {"type": "test_passes", "command": command}
    here.task("loud", title="Be loud", completionSignals=[signal], maxRetries=0)
    task = here.stalled("task", "loud", "SignalFailed", SECONDS)
    (verdict, *_) = task["status"]["verification"]["checks"]
    assert "row 299" in verdict["excerpt"]
    assert "row 007" not in verdict["excerpt"]
    away = ("--cascade=foreground", "--timeout=60s", f"--as={OPERATOR}")
    here.kubectl("delete", "job", "loud-s1-signal-0-0", *away)
    assert not [p for p in here.all("pods") if "signal" in p["metadata"]["name"]]

    told = bernstein("logs", "loud")

    assert told.code == 0, told.err
    rows = told.out.splitlines()
    printed = rows[rows.index("── loud-s1-signal-0-0 · check signal-0 ──") :]
    assert [f"  row {number:03d}" for number in range(300)] == [
        row for row in printed if row.startswith("  row ")
    ]
    (log,) = bernstein("logs", "loud", "--json").json["checks"]
    assert "row 007" in log["log"]


def test_what_an_agent_says_is_heard_while_it_works(bernstein: CommandLine) -> None:
    here = bernstein.here
    here.task("heard", title="Hang")
    heard = re.compile(r"^\d\d:\d\d:\d\d  agent     I think about it\.$", re.MULTILINE)
    with bernstein.following("logs", "-f", "heard") as followed:
        session = here.await_("agentsession", "heard-s1", lambda s: "pod" in s["status"], SECONDS)
        pod = session["status"]["pod"]["name"]

        def words() -> str:
            return here.kubectl("logs", pod, "-c", "agent", check=False)

        wait_for(lambda: "I think about it." in words(), SECONDS)
        here.await_("task", "heard", lambda t: state(t) == "InProgress", SECONDS)
        wait_for(lambda: heard.search(followed.read_text()), SECONDS)
        assert state(here.get("task", "heard")) == "InProgress", "it is told while it hangs"
        assert heard.search(bernstein("logs", "heard").out)
        bernstein("cancel", "task/heard")
        here.await_("task", "heard", lambda t: state(t) == "Cancelled", SECONDS)
    assert len(heard.findall(followed.read_text())) == 1
    assert "heard  cancelled" in followed.read_text()


def test_cancel_ends_a_plan_and_its_agent(bernstein: CommandLine) -> None:
    started = bernstein("run", bernstein.file("endless.yaml", HANGING), "--no-wait", "--json")
    assert started.code == 0, started.err
    here, task = bernstein.here, "endless-plan--only-hang"
    here.await_("task", task, lambda t: state(t) == "InProgress", SECONDS)
    here.await_("agentsession", f"{task}-s1", lambda s: "report" in s["status"], SECONDS)
    shown = bernstein("status", "endless-plan")
    assert "in progress" in shown.out
    asked = bernstein("cancel", "endless-plan", "--reason", "No longer needed")
    assert "is being cancelled" in asked.out
    here.await_("task", task, lambda t: state(t) == "Cancelled", SECONDS)
    here.await_("plan", "endless-plan", lambda p: p["status"]["phase"] == "Cancelled", SECONDS)
    again = bernstein("cancel", "endless-plan", "--json")
    assert (again.code, again.json["status"]) == (0, "cancelled")
    assert again.json["cancel"] == "No longer needed"
    ended = bernstein("run", bernstein.file("endless.yaml", HANGING))
    assert ended.code == 1
    assert "Cancelled" in ended.out


def refs_of_first(here: World) -> list[str]:
    """What its first session has pushed, and where that is."""
    refs = here.on_server("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    return [ref for ref in refs if ref.endswith("/s1")]


def test_stop_with_force_ends_an_agent_that_no_server_hears_of(
    world: MakeWorld, tmp_path: Path
) -> None:
    """What asks, and what ends it, is the API server and the operator: its pod reaches no other."""
    allowed: list[object] = [
        {"ports": [{"port": n, "protocol": p} for n in (53, 5353) for p in ("UDP", "TCP")]}
    ]

    def unmanaged(spec: Object) -> None:
        allowed.extend(spec["network"]["git"])
        spec["network"] = {"policy": "Unmanaged"}

    hangs = {"steps": [{"write": {"path": "half.py", "content": "X = 1\n"}}, {"hang": True}]}
    here = world([does("Hang", hangs)], unmanaged)
    selector = {"matchLabels": {labels.JOB: AGENT}}
    here.apply(
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "without-the-server"},
            "spec": {"podSelector": selector, "policyTypes": ["Egress"], "egress": allowed},
        }
    )
    bernstein, task = CommandLine(here, tmp_path), "endless-plan--only-hang"
    me = here.kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
    before = here.tip()
    started = bernstein("run", bernstein.file("endless.yaml", HANGING), "--no-wait")
    assert started.code == 0, started.err
    here.await_("task", task, lambda t: state(t) == "InProgress", SECONDS)

    stopped = bernstein("stop", "--force", "--json")

    assert (stopped.code, stopped.json["killed"]) == (0, [task]), stopped.err
    first = here.await_(
        "agentsession", f"{task}-s1", lambda s: s["status"]["state"] == "Dead", SECONDS
    )
    pod = first["status"]["pod"]["name"]
    wait_for(lambda: not here.get("pod", pod), SECONDS)
    pushed = refs_of_first(here)
    assert "report" not in first["status"], "no server has heard of it"
    killed = here.await_("task", task, lambda t: state(t) == "Open", SECONDS)
    moves = [(m["toState"], m["actor"], m["reason"]) for m in killed["status"]["history"]]
    assert ("Orphaned", me, "Killed") in moves
    assert [(a["reason"], a["counted"]) for a in killed["status"]["attempts"]] == [
        ("Killed", False)
    ]

    resumed = bernstein("start")

    assert resumed.code == 0, resumed.out + resumed.err
    here.await_("task", task, lambda t: t["status"]["session"] == f"{task}-s2", SECONDS)
    here.await_("task", task, lambda t: state(t) == "InProgress", SECONDS)
    assert (refs_of_first(here), here.tip()) == (pushed, before)
