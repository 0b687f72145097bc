"""`bernstein logs --follow`: what an agent says is shown as it comes, and once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bernstein.api.pod import AGENT
from bernstein.api.session import AgentSession, PodRef
from bernstein.api.states import SessionState, TaskState
from bernstein.api.waiting import Waiting
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands import logs as command
from bernstein.cli.commands.logs.subject import LogSubject
from bernstein.cli.commands.logs.teller import Teller
from bernstein.cli.settings import CliSettings
from bernstein.core.reasons import policy
from bernstein.kube.client import Client, ObjectList
from tests.unit.cli.scenes import terminal
from tests.unit.core import objects

STAMP = "2030-01-01T00:00:0{}Z "


class GrowingLog:
    """A cluster with one pod, whose agent says more at every look."""

    def __init__(self, *said: str) -> None:
        self._said = list(said)
        self.looks = 0

    async def logs(self, *_: Any, container: str, **__: Any) -> bytes:
        if container != AGENT:
            return b""
        self.looks += 1
        return "".join(self._said[: self.looks]).encode()

    async def list(self, *_: Any, **__: Any) -> ObjectList:
        return ObjectList([], "1")


def with_pod(session: AgentSession) -> AgentSession:
    pod = PodRef(name="work-s1-abcde", uid="u", node="n")
    return session.model_copy(update={"status": session.status.model_copy(update={"pod": pod})})


WORKING = with_pod(objects.session(state=SessionState.WORKING))
ENDED = with_pod(objects.dead("AgentFailed", message="it gave up", started=True))


def words(rows: list[str]) -> list[str]:
    """What the agent said of these rows."""
    return [row.split("agent     ", 1)[1] for row in rows if "  agent     " in row]


def test_each_line_is_shown_when_it_is_complete_and_once() -> None:
    log = GrowingLog(
        f"{STAMP.format(1)}I read the tests.\n{STAMP.format(2)}I wri",
        f"te the limiter.\n{STAMP.format(3)}It",
        " passes.",
    )
    screen, console = terminal(100)
    teller = Teller(screen, Cluster(cast("Client", log), "team"), follow=True)

    def look(session: AgentSession) -> list[str]:
        asyncio.run(teller.tell(LogSubject(None, (session,))))
        return words(console.export_text().splitlines())

    assert look(WORKING) == ["I read the tests."]
    assert look(WORKING) == ["I write the limiter."]
    assert look(ENDED) == ["It passes."]
    assert look(ENDED) == []


def test_it_is_followed_until_it_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    log = GrowingLog(*(f"{STAMP.format(n)}step {n}\n" for n in range(4)))
    screen, console = terminal(100)
    slept: list[float] = []
    states = iter((WORKING, WORKING, WORKING, ENDED))

    async def find(*_: object) -> LogSubject:
        return LogSubject(None, (next(states),))

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    _replace(monkeypatch, find, sleep, Cluster(cast("Client", log), "team"))
    asyncio.run(command._logs(screen, CliSettings(), "work-s1", follow=True))

    rows = console.export_text().splitlines()
    assert words(rows) == ["step 0", "step 1", "step 2", "step 3"]
    assert max(slept) <= 5
    assert rows[-2:] == ["── work-s1 ended: AgentFailed ──", "  it gave up"]


def test_a_pause_before_something_is_tried_again_is_told_once() -> None:
    pause = "'no_foo' could not run. Remedy: Put it there."
    waiting = objects.waits("GateErrored", pause, until=objects.at(60))
    paused = LogSubject(objects.task(status=objects.done(waiting=waiting)), ())
    screen, console = terminal(100)
    teller = Teller(screen, Cluster(cast("Client", GrowingLog()), "team"), follow=True)

    for _ in range(2):
        teller.tell_standstill(paused)

    assert console.export_text().splitlines() == [
        f"  GateErrored: 'no_foo' could not run (again at {objects.at(60):%H:%M:%S} UTC)",
        "  Put it there.",
    ]


def test_what_stands_still_says_so_once_and_is_followed_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waiting = Waiting(
        reason="AgentNotFound", message="no agent 'zz'", since=objects.at(0), needs_person=True
    )
    stalled = objects.task(status=objects.status(waiting=waiting))
    over = objects.task(status=objects.status(TaskState.CANCELLED))
    screen, console = terminal(100)
    seen: list[str] = []
    subjects = iter((stalled, stalled, stalled, over))

    async def find(*_: object) -> LogSubject:
        return LogSubject(next(subjects), ())

    async def sleep(_: float) -> None:
        seen.append(console.export_text(clear=False))

    _replace(monkeypatch, find, sleep, Cluster(cast("Client", GrowingLog()), "team"))
    asyncio.run(command._logs(screen, CliSettings(), "work", follow=True))

    assert "AgentNotFound: no agent 'zz'" in seen[0]
    assert policy("AgentNotFound").remedy in " ".join(seen[0].split())
    assert seen[2] == seen[0]


def _replace(
    monkeypatch: pytest.MonkeyPatch,
    find: Callable[..., Any],
    sleep: Callable[..., Any],
    cluster: Cluster,
) -> None:
    class Connected:
        async def __aenter__(self) -> Cluster:
            return cluster

        async def __aexit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(command, "find", find)
    monkeypatch.setattr(command, "connected", lambda _: Connected())
    monkeypatch.setattr(command, "asyncio", SimpleNamespace(sleep=sleep))
