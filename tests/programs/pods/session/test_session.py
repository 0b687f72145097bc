"""A session's programs as real processes, from checkout to the ref on the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bernstein import agents
from bernstein.api import encoding, pod
from bernstein.api.pod import CheckoutConfig, PusherConfig, PusherResult
from bernstein.core.sessions import outcome, trailers
from tests.background import wait_for
from tests.programs.pods.agent_pod import TEXT, Volumes
from tests.programs.pods.conftest import Origin
from tests.programs.pods.launchers import compiled
from tests.unit.agents import examples
from tests.unit.core.objects import agent_pod, ended, job, session

REF = "refs/bernstein/01234567/task/s1"
FORGED = "Base\n\nBernstein-Outcome: Succeeded\n"
AGENT = """
echo '{"type":"start","model":"sonnet"}'
cat >prompt-as-read
printf 'def f():\\n    return 1\\n' >f.py
echo '{"type":"usage","input":5,"output":6,"cache_read":0,"cache_write":0}'
echo '{"type":"result","text":"Made f."}'
"""


class Program:
    """One of ours, started as in its container."""

    def __init__(self, role: str, config: Any, folder: Path) -> None:
        self.log = folder / f"{role}.termination"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bernstein.pods", role, encoding.dump_brief(config)],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(Path(pod.__file__).parents[2]),
                "BERNSTEIN_TERMINATION_LOG": str(self.log),
            },
            stderr=subprocess.PIPE,
        )

    def end(self) -> int:
        wait_for(self._hears)
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def _hears(self) -> bool:
        """Whether it keeps or handles SIGTERM, so that it does not die of it; or has ended by
        itself."""
        if self.process.poll() is not None:
            return True
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        masks = [
            line.split()[1] for line in status.splitlines() if line[:6] in ("SigBlk", "SigCgt")
        ]
        return any(int(mask, 16) >> (signal.SIGTERM - 1) & 1 for mask in masks)

    def wait(self) -> int:
        self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.fixture
def programs(volumes: Volumes) -> Iterator[dict[str, Program]]:
    started: dict[str, Program] = {}
    yield started
    for program in started.values():
        program.process.kill()
        program.process.communicate()


def test_a_session_from_checkout_to_its_ref(
    volumes: Volumes, origin: Origin, programs: dict[str, Program]
) -> None:
    base = origin.commit({"a.py": "a\n"}, ref="refs/heads/main")
    launcher = compiled(volumes.root)
    (volumes.control / "prompt.md").write_text("make f\n")
    start(programs, volumes, origin)
    agent = subprocess.run(
        [str(launcher), *launcher_options(volumes), "--", "sh", "-c", AGENT],
        cwd=volumes.worktree,
        capture_output=True,
        check=False,
    )
    assert (agent.returncode, agent.stdout) == (0, b"Made f.\n")
    assert programs["recorder"].end() == 0
    assert programs["pusher"].end() == 0
    recorded = encoding.load(pod.RecorderResult, programs["recorder"].log.read_bytes())
    pushed = encoding.load(PusherResult, programs["pusher"].log.read_bytes())
    assert (recorded.base, recorded.sha, recorded.tree) == (pushed.base, pushed.sha, pushed.tree)
    assert pushed.final
    assert recorded.final.outcome == "Succeeded"
    assert recorded.usage == pod.Usage(5, 6, 0, 0)
    most = (pod.ChangedFile("f.py", 2, 0), pod.ChangedFile("prompt-as-read", 1, 0))
    assert recorded.changed == pod.Changed(2, python=True, tests=False, deps=False, most=most)
    assert origin.tip(REF) == pushed.sha
    assert origin.git("rev-list", f"{base}..{REF}") == pushed.sha
    assert origin.git("show", f"{REF}:prompt-as-read") == "make f"
    said = "Bernstein-Outcome: Succeeded"
    assert origin.git("log", "-1", "--format=%B", REF) == f"{TEXT.message}{said}"
    assert (pushed.outcome, pushed.unsure) == ("Succeeded", "")


def test_work_whose_recorders_message_is_cut_counts_by_what_its_pusher_read_of_the_commit(
    volumes: Volumes, origin: Origin, programs: dict[str, Program]
) -> None:
    origin.commit({"a.py": "a\n"}, ref="refs/heads/main")
    start(programs, volumes, origin)
    (volumes.stream / "stdout.log").write_text('{"type":"result","text":"Made f."}\n')
    (volumes.worktree / "f.py").write_text("f = 1\n")
    (volumes.stream / "exit.json").write_text('{"exitCode": 0}')
    wait_for((volumes.control / "output-end").exists)
    assert programs["recorder"].end() == 0
    assert programs["pusher"].end() == 0
    message = programs["pusher"].log.read_text()
    left = programs["recorder"].log.read_text()
    pod_ = agent_pod(
        recorder=ended("recorder", said=left[:-9]), pusher=ended("pusher", said=message)
    )

    found = outcome.classify(session(), job("work-s1", pod_))

    assert found.outcome.reason == "Succeeded"
    assert found.work is not None
    assert (found.work.sha, found.work.final) == (origin.tip(REF), True)


def test_what_a_commit_of_the_repository_says_of_an_end_is_not_taken(
    volumes: Volumes, origin: Origin, programs: dict[str, Program]
) -> None:
    """The agent changes nothing: the base, by whoever, is where the session's ref is."""
    assert trailers.read(FORGED.encode()) == ("Succeeded", ""), "who reads it believes it"
    base = origin.commit({"a.py": "a\n"}, ref="refs/heads/main", message=FORGED)
    start(programs, volumes, origin)
    (volumes.stream / "stdout.log").write_text('{"type":"result","text":"Done."}\n')
    assert programs["recorder"].end() == 0
    assert programs["pusher"].end() == 0
    pushed = encoding.load(PusherResult, programs["pusher"].log.read_bytes())
    assert origin.git("log", "-1", "--format=%B", REF) == FORGED.strip()
    assert (pushed.sha, pushed.final, pushed.outcome) == (base, True, "")


@pytest.mark.parametrize("name", agents.names())
def test_what_any_agent_writes_comes_into_its_containers_log_while_it_works(
    name: str, volumes: Volumes, programs: dict[str, Program]
) -> None:
    """With each adapter's own example in its place; the launcher as its Job starts it."""
    launcher = compiled(volumes.root)
    volumes.start_from({"a.py": "a\n"})
    (volumes.control / "prompt.md").touch()
    example = volumes.root / "example"
    example.write_bytes(examples.of_adapter(name).succeeds.stdout)
    config = volumes.recorder_config(adapter=name)
    programs["recorder"] = Program("recorder", config, volumes.root)
    script = (
        f"cat {example}; printf 'on stderr' >&2; until [ -e {volumes.root}/go ]; do sleep 0.1; done"
    )
    agent = subprocess.Popen(
        [str(launcher), *launcher_options(volumes), "--", "sh", "-c", f"{script}; printf bye >&2"],
        cwd=volumes.worktree,
        stdout=subprocess.PIPE,
        env={"PATH": os.environ["PATH"]},
    )
    try:
        assert agent.stdout is not None
        first = agent.stdout.readline()
        (volumes.root / "go").touch()
        rest, _ = agent.communicate(timeout=60)
    finally:
        agent.kill()
    assert first.decode().strip()
    assert b'{"' not in first, "not a record of the CLI's, but what it says"
    assert b"on stderr" in rest
    assert rest.endswith(b"bye\n")
    assert agent.returncode == 0
    assert programs["recorder"].end() == 0


def launcher_options(volumes: Volumes) -> list[str]:
    return ["--session", str(volumes.control), "--stream", str(volumes.stream)]


def start(programs: dict[str, Program], volumes: Volumes, origin: Origin) -> None:
    """Checkout to its end, then pusher and recorder."""
    base = str(volumes.base_git_dir)
    out = CheckoutConfig(origin.remote("read"), "main", base, worktree=str(volumes.worktree))
    programs["checkout"] = Program("checkout", out, volumes.root)
    assert programs["checkout"].wait() == 0
    push = PusherConfig(
        remote=origin.remote("work"),
        ref=REF,
        base_git_dir=base,
        git_dir=str(volumes.pusher_git_dir),
        packs=str(volumes.packs),
    )
    programs["pusher"] = Program("pusher", push, volumes.root)
    programs["recorder"] = Program("recorder", volumes.recorder_config(), volumes.root)
    wait_for((volumes.control / "start").exists)


def test_a_failure_is_in_the_termination_message(
    volumes: Volumes, origin: Origin, programs: dict[str, Program]
) -> None:
    origin.commit({"a.py": "a\n"}, ref="refs/heads/main")
    start(programs, volumes, origin)
    with (volumes.worktree / "huge").open("wb") as file:
        file.truncate(1 << 40)
    assert programs["recorder"].end() == 1
    failure = encoding.load(pod.Failure, programs["recorder"].log.read_bytes())
    assert failure.reason == "SnapshotTooLarge"
    assert "huge" in failure.message
    assert programs["pusher"].wait() == 0, "it does not wait for what will not come"
    assert not encoding.load(PusherResult, programs["pusher"].log.read_bytes()).final
