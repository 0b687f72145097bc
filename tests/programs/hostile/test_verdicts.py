"""Work that keeps its checks from judging, or that spoils them for the work of others.

The commands really run on the trees; what the operator makes of their ends is read off its
decisions. Each attack is first seen to work where the protection is taken off.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.api.encoding import load
from bernstein.api.pod import CHECK, InspectResult
from bernstein.api.project import Project
from bernstein.api.task import TaskStatus
from bernstein.api.verification import CheckResult
from bernstein.api.waiting import Abandoned
from bernstein.checks.spec import CheckSpec
from bernstein.core import pods
from bernstein.core.actions import RunCheck, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.tasks import decide as task_decide
from bernstein.core.tasks import judged_anew
from bernstein.core.verification import base, executed, verdicts
from bernstein.core.verification.expected import task
from bernstein.core.verification.expected.required import required_checks
from tests.background import wait_for
from tests.programs.hostile.payloads import TRAP, forges
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    EVERYTHING,
    HEAD,
    TIP,
    Object,
    checked,
    done,
    ended,
    over,
    snapshot,
)
from tests.unit.core.verification.test_base import ruled
from tests.unit.core.verification.test_blamed import DIES, LINTERS, compared_twice

pytestmark = pytest.mark.verification

Files = Mapping[str, str]
OFF = {"name": "lint", "enabled": False}
TESTS = {"name": "own", "command": f"{sys.executable} -m pytest -q -p no:cacheprovider"}
HONEST: Files = {"test_a.py": "def test_a():\n    assert True\n"}
FAILING: Files = {"test_a.py": "def test_a():\n    assert False\n"}


class Story:
    """A Task of which the gate is run, whenever it is asked for, on the tree that is asked for."""

    def __init__(
        self,
        folder: Path,
        trees: Mapping[str, Files],
        of: Project,
        command: str = TESTS["command"],
        **verified: str,
    ) -> None:
        self._folder, self._trees, self._of, self._command = folder, trees, of, command
        self._jobs: dict[str, JobView] = {}
        self.status: TaskStatus = done(verification=objects.verification(**verified))
        self.statuses = [self.status]
        """All that there were, in order."""
        self.asked: list[tuple[str, str | None]] = []
        """The commits on which the gate was run: that of the work, or of the base."""

    def round(self, number: int) -> None:
        """All of one round of checks; what waits for its next one has waited long enough."""
        for _ in range(4):
            decided = self._look(number)
            runs = [action for action in decided.actions if isinstance(action, RunCheck)]
            if not runs:
                break
            for run in runs:
                self.asked.append((run.job, run.base))
                code, printed = self._run(self._trees[run.base or HEAD])
                self._jobs[run.job] = checked(run.job, code, said=printed)

    def _look(self, number: int) -> TaskDecision:
        subject = objects.task(status=self.status)
        given = snapshot(subject, jobs=tuple(self._jobs.values()), project=self._of)
        decided = task_decide.decide(given, objects.at(number * 2 * PROBE_SECONDS))
        self.status = decided.status
        self.statuses.append(self.status)
        return decided

    def _run(self, files: Files) -> tuple[int, str]:
        """Its exit code, and the end of what it printed, as the kubelet tells it."""
        folder = self._folder / str(len(self.asked))
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        command = ["sh", "-c", self._command]
        over = subprocess.run(
            command,
            cwd=folder,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return over.returncode, over.stdout[-2048:].decode(errors="replace")


LEAVES: Files = {**FAILING, "conftest.py": "import os\n\nos._exit(127)\n"}


def test_an_exit_with_127_from_a_conftest_is_not_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = {HEAD: LEAVES, BASE: HONEST}

    with monkeypatch.context() as taken:
        taken.setattr(base, "is_asked", lambda *_, **__: False)
        free = Story(tmp_path / "free", trees, ruled(TESTS, OFF))
        for number in range(3):
            free.round(number)
        assert (free.status.state, free.status.attempt) == ("Done", 1), "it looks like the image"

    found = Story(tmp_path / "blamed", trees, ruled(TESTS, OFF))
    for number in range(2):
        found.round(number)
    assert (found.status.state, found.status.history[-1].reason) == ("Failed", "GateFailed")
    assert [of for _, of in found.asked] == [None, None, BASE]


@pytest.mark.parametrize("linter", LINTERS)
def test_work_on_which_a_check_of_ours_breaks_is_not_free(
    linter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as taken:
        taken.setattr(verdicts, "_blamed", lambda _check, result, _again: result)
        free = compared_twice(linter, DIES)
        assert (free.state, free.attempt) == ("Done", 1), "it looks like a fault of the cluster"

    found = compared_twice(linter, DIES)
    assert (found.state, found.history[-1].reason) == ("Failed", "GateFailed")


def test_what_one_task_has_landed_excuses_no_other_ones_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first Task's work makes the gate fail at the tip; the second one's fails as well."""
    trees = {HEAD: FAILING, TIP: FAILING, BASE: HONEST}
    lenient = ruled(TESTS, OFF, allowBaseFailures=True)

    with monkeypatch.context() as taken:
        asks = task.question
        taken.setattr(judged_anew, "question", lambda s, j: replace(asks(s, j), pinned_sha=j.base))
        excused = Story(tmp_path / "excused", trees, lenient, base=TIP)
        excused.round(0)
        assert excused.status.verification is not None
        assert excused.status.verification.passed, "where the tip that agents made excuses"

    found = Story(tmp_path / "judged", trees, lenient, base=TIP)
    found.round(0)
    assert found.status.state == "Failed"
    assert [of for _, of in found.asked] == [None, BASE]


LIMIT = 60
TOO_LONG: dict[str, tuple[Object, Abandoned | None]] = {
    "the node sees its deadline": ({"reason": "DeadlineExceeded"}, None),
    "the operator deletes its pod": ({"deleting": True}, Abandoned(reason="Timeout", message="")),
    "nobody has ended it in time": ({}, None),
}
"""What is told of its pod besides, and whether the operator has given it up."""


def code_of_who_traps_sigterm() -> int:
    """Of a real one that is asked to end, as its container is."""
    command = subprocess.Popen(["sh", "-c", TRAP], start_new_session=True)
    children = Path(f"/proc/{command.pid}/task/{command.pid}/children")
    try:
        wait_for(lambda: bool(children.read_text()))
        command.terminate()
        return command.wait(10)
    finally:
        os.killpg(command.pid, signal.SIGKILL)


@pytest.mark.parametrize("how", TOO_LONG)
def test_a_command_that_traps_sigterm_passes_only_where_its_exit_code_is_read_first(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = code_of_who_traps_sigterm()
    assert code == 0
    more, abandoned = TOO_LONG[how]
    pod = over(ended("checkout"), ended(CHECK, code, after=LIMIT + 5), **more)
    view = objects.job("work-s1-signal-0-0", pod)
    test = objects.task(
        completionSignals=[{"type": "test_passes", "command": TRAP, "timeoutSeconds": LIMIT}]
    )
    (check, *_) = required_checks(test.spec.completion_signals, objects.project().spec, EVERYTHING)

    def verdict() -> tuple[str, str]:
        found = executed.executed(check, view, abandoned, objects.at(LIMIT + 10))
        return found.verdict, found.reason

    with monkeypatch.context() as taken:
        taken.setattr(executed, "cut_off", lambda *_, **__: None)
        taken.setattr(executed, "SLACK", 3600)
        assert verdict() == ("Passed", ""), "the payload works"

    assert verdict() == ("TimedOut", "Timeout")


def as_it_says(check: CheckSpec, job: JobView, *_: object) -> CheckResult:
    """Its verdict read as that of a program of ours."""
    told = load(InspectResult, str((pods.terminated(job.pod or {}, CHECK) or {})["message"]))
    (said,) = (each for each in told.verdicts if each.name == check.name)
    return executed.result_of(check, said.verdict, said.reason)


@pytest.mark.parametrize("where", ["message", "log"])
def test_a_verdict_that_a_check_prints_counts_only_where_what_it_says_is_read(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = tmp_path / "termination-log"
    command = forges("signal-0", str(message))
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    said = {"message": message.read_text(), "log": run.stdout}[where]
    ends = checked("work-s1-signal-0-0", run.returncode, said=said)
    signals = [{"type": "test_passes", "command": command}]

    def story() -> TaskStatus:
        subject = objects.task(status=done(), completionSignals=signals)
        given = snapshot(subject, jobs=(ends,), project=ruled(OFF))
        return task_decide.decide(given, objects.NOW).status

    with monkeypatch.context() as taken:
        taken.setattr(verdicts, "executed", as_it_says)
        believed = story().verification
        assert believed is not None
        assert believed.passed, "the payload works"

    found = story()
    assert (found.state, found.history[-1].reason) == ("Failed", "SignalFailed")
