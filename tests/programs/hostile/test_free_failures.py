"""An agent that makes its failure look like one of the infrastructure, which costs no attempt.

Each way is first seen to be free where the protection is taken off.
"""

from __future__ import annotations

import json

import pytest

from bernstein.api import encoding
from bernstein.api.pod import RecorderResult
from bernstein.api.task import TaskStatus
from bernstein.core.jobs import JobView
from bernstein.core.tasks import running
from bernstein.pods.programs import recorder
from tests.programs.hostile.attack import after, over, pod_of, said
from tests.programs.pods.agent_pod import Volumes
from tests.unit.core import objects
from tests.unit.core.objects import agent_pod, ended, job

pytestmark = pytest.mark.verification

CONTAINERS = 5
"""Of an agent's pod: checkout, recorder, pusher and agent, and one that somebody else puts in."""
KUBELETS_SHARE = 12 * 1024 // CONTAINERS
"""Bytes that the kubelet keeps of what one of them leaves; it cuts the rest off."""
LAST_WORDS = "\U0001f600" * 1500
"""Each is twelve bytes of JSON."""


def as_the_kubelet_keeps_it(result: RecorderResult) -> JobView:
    """The Job of a session whose agent failed, with what is left of this result."""
    left = encoding.dump(result)[:KUBELETS_SHARE]
    pushed = objects.pushed(base=result.base, sha=result.sha, tree=result.tree)
    kept = {"pusher": ended("pusher", said=pushed), "recorder": ended("recorder", said=left)}
    return job("work-s1", agent_pod(1, **kept))


def ending(status: TaskStatus) -> tuple[str, bool]:
    """(reason, whether it cost an attempt) of the last session."""
    last = status.attempts[-1]
    return last.reason, last.counted


def test_long_last_words_make_no_failure_free_within_the_12_kib_of_a_pod(
    volumes: Volumes, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = {"type": "result", "error": {"kind": "error", "message": LAST_WORDS}}

    with monkeypatch.context() as taken:
        taken.setattr(recorder, "fit", lambda result: result)
        whole = said(volumes, record, code=1)
        assert len(encoding.dump(whole)) > KUBELETS_SHARE, "the words arrive"
        status = after(over(as_the_kubelet_keeps_it(whole))).status
        assert ending(status) == ("InfrastructureError", False), "cut, it is nobody's fault"

    fitted = said(volumes, record, code=1)
    assert fitted.final.message.startswith("\U0001f600")
    status = after(over(as_the_kubelet_keeps_it(fitted))).status
    assert ending(status) == ("AgentFailed", True)


def test_a_file_of_the_tree_is_the_launchers_word_only_where_both_lie_in_one_volume(
    volumes: Volumes,
) -> None:
    forged = json.dumps({"exitCode": 0, "signal": None, "stopped": False})
    (volumes.worktree / "exit.json").write_text(forged)

    in_the_tree = said(volumes, code=1, exit_record=str(volumes.worktree / "exit.json"))
    assert "(exit code 0)" in in_the_tree.final.message, "it is taken for the launcher's"

    apart = said(volumes, code=1)
    assert "(exit code 1)" in apart.final.message
    assert apart.changed.files == 1, "it is work like any other"


def test_long_last_words_lose_no_honest_work_within_the_12_kib_of_a_pod(
    volumes: Volumes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (volumes.worktree / "b.py").write_text("b = 2\n")
    record = {"type": "result", "text": LAST_WORDS}

    with monkeypatch.context() as taken:
        taken.setattr(recorder, "fit", lambda result: result)
        lost = over(as_the_kubelet_keeps_it(said(volumes, record)))
        assert lost.status.work is not None
        assert not lost.status.work.final, "nobody can say that this is what was made"

    kept = over(pod_of(said(volumes, record)))
    assert kept.status.work is not None
    assert kept.status.work.final


def failing_for_ever(times: int) -> TaskStatus:
    """The Task after so many sessions, of which each kills the recorder by what it leaves."""
    before: TaskStatus | None = None
    for _ in range(times):
        killed = job("work-s1", agent_pod(0, recorder=ended("recorder", 137)))
        before = after(over(killed), attempts=before.attempts if before else ()).status
    assert before is not None
    return before


def test_work_on_which_our_containers_fail_again_and_again_is_not_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as taken:
        taken.setattr(running, "blamed", lambda _session, _status: None)
        free = failing_for_ever(3)
        assert [attempt.counted for attempt in free.attempts] == [False] * 3

    found = failing_for_ever(2)
    assert [attempt.counted for attempt in found.attempts] == [False, True]
    assert ending(found) == ("AgentFailed", True)
