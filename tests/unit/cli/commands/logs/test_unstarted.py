"""A session whose agent never started has nothing to show but why."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import pytest

from bernstein.api.pod import AGENT, CHECKOUT, PUSHER, RECORDER
from bernstein.api.session import AgentSession, PodRef
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.logs import pod_log
from bernstein.cli.commands.logs.subject import LogSubject
from bernstein.cli.commands.logs.teller import Teller
from bernstein.kube.client import Client, ObjectList
from bernstein.kube.errors import ApiError, NotFound
from bernstein.kube.resource import Object
from tests.unit.cli.scenes import terminal
from tests.unit.core import objects

POD = "work-s1-abcde"
PULL = "image 'absent:1' cannot be pulled: not found"
WAITS = ApiError(400, "BadRequest", "container is waiting to start: image can't be pulled")
LOST = "unable to retrieve container logs for containerd://0123abcd"
"""What a kubelet answers, as if it were the log, where it has no container of that id."""


class Logs:
    """A cluster that knows the logs of one pod."""

    def __init__(self, logs: Mapping[str, bytes | ApiError]) -> None:
        self._logs = logs

    async def logs(self, *_: Any, container: str, **__: Any) -> bytes:
        found = self._logs[container]
        if isinstance(found, ApiError):
            raise found
        return found

    async def get(self, *_: Any, **__: Any) -> Object:
        raise NotFound(404, "NotFound", "nothing was kept")

    async def list(self, *_: Any, **__: Any) -> ObjectList:
        return ObjectList([], "1")


def cluster(logs: Mapping[str, bytes | ApiError]) -> Cluster:
    return Cluster(cast("Client", Logs(logs)), "team")


def ended(reason: str, message: str, *, started: bool = False) -> AgentSession:
    made = objects.dead(reason, message=message, started=started)
    pod = PodRef(name=POD, uid="u", node="n")
    return made.model_copy(update={"status": made.status.model_copy(update={"pod": pod})})


def shown(session: AgentSession, logs: Mapping[str, bytes | ApiError]) -> list[str]:
    screen, console = terminal(100)
    teller = Teller(screen, cluster(logs), follow=False)
    asyncio.run(teller.tell(LogSubject(None, (session,))))
    return console.export_text().splitlines()[1:]


GONE = NotFound(404, "NotFound", "gone", {"name": POD})


@pytest.mark.parametrize("pod", ["gone", "waits", "ended"])
def test_an_image_that_cannot_be_pulled_is_told_and_nothing_of_a_pod_that_did_nothing(
    pod: str,
) -> None:
    row = b'{"time": 1, "event": "recorded", "sha": "a1b2c3d4", "final": true}\n'
    logs: dict[str, dict[str, bytes | ApiError]] = {
        "gone": dict.fromkeys(pod_log.CONTAINERS, GONE),
        "waits": dict.fromkeys(pod_log.CONTAINERS, WAITS),
        "ended": {CHECKOUT: b"", RECORDER: row, PUSHER: row, AGENT: WAITS},
    }

    assert shown(ended("ImagePullFailed", PULL), logs[pod]) == [
        "── work-s1 ended: ImagePullFailed ──",
        f"  {PULL}",
    ]


def test_why_several_in_a_row_never_started_is_told_once() -> None:
    missing = ended("SecretNotFound", "secret 'key' not found")
    other = ended("ImagePullFailed", PULL)
    screen, console = terminal(100)
    teller = Teller(screen, cluster(dict.fromkeys(pod_log.CONTAINERS, GONE)), follow=False)
    sessions = [named(s, f"work-s{n}") for n, s in enumerate((missing, missing, missing, other), 1)]

    for seen in (2, 4):
        asyncio.run(teller.tell(LogSubject(None, tuple(sessions[:seen]))))

    told = [row for row in console.export_text().splitlines() if " · attempt " not in row]
    assert told == [
        "── work-s1 ended: SecretNotFound ──",
        "  secret 'key' not found",
        "── work-s2 ended: SecretNotFound, as the one before ──",
        "── work-s3 ended: SecretNotFound, as the one before ──",
        "── work-s4 ended: ImagePullFailed ──",
        f"  {PULL}",
    ]


def named(session: AgentSession, name: str) -> AgentSession:
    meta = session.metadata.model_copy(update={"name": name})
    return session.model_copy(update={"metadata": meta})


def test_what_a_checkout_said_that_failed_is_shown() -> None:
    failed = b'{"time": 1, "event": "failed", "reason": "RefNotFound", "message": "no main"}\n'
    logs: dict[str, bytes | ApiError] = dict.fromkeys(pod_log.CONTAINERS, WAITS)
    logs[CHECKOUT] = failed

    first, *rest = shown(ended("RefNotFound", "there is no main"), logs)

    assert first.endswith("  checkout  failed: RefNotFound: no main")
    assert rest == ["── work-s1 ended: RefNotFound ──", "  there is no main"]


def test_an_agent_that_ran_and_whose_log_is_gone_is_told() -> None:
    logs = dict.fromkeys(pod_log.CONTAINERS, GONE)

    rows = shown(ended("AgentFailed", "it gave up", started=True), logs)

    assert rows[0] == f"Its pod '{POD}' is gone, and what it logged with it."


def test_the_score_of_the_work_is_told_once_and_again_where_it_changes() -> None:
    screen, console = terminal(100)
    teller = Teller(screen, cluster({}), follow=True)

    for score in (None, 85, 85, 100):
        judged = objects.verification(passed=True, quality_score=score)
        work = objects.task(status=objects.done(verification=judged))
        asyncio.run(teller.tell(LogSubject(work, ())))

    assert console.export_text().splitlines() == [
        "quality score 85 of 100",
        "quality score 100 of 100",
    ]


def test_a_kubelets_word_that_it_has_no_log_is_no_word_of_the_agents() -> None:
    logs: dict[str, bytes | ApiError] = dict.fromkeys(pod_log.CONTAINERS, b"")
    logs[AGENT] = LOST.encode()

    found = asyncio.run(
        pod_log.read(cluster(logs), ended("AgentNotStarted", "no such file", started=True))
    )

    assert found.texts[AGENT] == ""
    assert found.missing == "Its pod logged nothing."


def test_an_agent_may_say_the_same() -> None:
    logs: dict[str, bytes | ApiError] = dict.fromkeys(pod_log.CONTAINERS, b"")
    logs[AGENT] = f"2030-01-01T00:00:00Z {LOST}\n".encode()

    found = asyncio.run(pod_log.read(cluster(logs), ended("AgentFailed", "", started=True)))

    assert [entry.words for entry in pod_log.in_order(found.texts)] == [LOST]
