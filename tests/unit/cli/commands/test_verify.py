"""`bernstein verify` and `unblock` before they ask a cluster, and when there are verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.api.requests import Answer
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.cli.commands import verify
from tests.unit.cli import calls
from tests.unit.cli.scenes import terminal
from tests.unit.core import objects
from tests.unit.core.objects import Object, at, verification

BOTH = pytest.mark.parametrize("command", ["verify", "unblock"])


@BOTH
@pytest.mark.parametrize("reason", [" ", "x" * 301, "two\nlines"])
def test_a_wrong_reason_ends_with_2(runner: CliRunner, command: str, reason: str) -> None:
    calls.ends_with_2(runner, command, "x", "--reason", reason)


def test_a_wrong_duration_ends_with_2(runner: CliRunner) -> None:
    calls.ends_with_2(runner, "verify", "x", "--timeout", "soon")


def test_who_unblocks_says_what_the_next_agent_is_told(runner: CliRunner) -> None:
    calls.ends_with_2(runner, "unblock", "x")


@pytest.mark.parametrize("name", ["", "task/", "task/..", "task/mine/status"])
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, name: str, tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "verify", name)


@BOTH
def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path, command: str) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, command, "x", "--reason", "y")


ANSWER: Object = {"id": "r-1", "verb": "Verify", "by": "ann", "asked": "x", "answer": "Done"}
ANSWER |= {"reason": "Verify", "time": at(0)}
STANDS = objects.waits("GateErrored", needs_person=True)


@pytest.mark.parametrize(
    ("found", "settled", "passed"),
    [
        (objects.done(), False, False),
        (objects.done(requests=[ANSWER]), False, False),
        (objects.done(requests=[ANSWER], verification=verification(passed=True)), True, True),
        (objects.done(requests=[ANSWER], waiting=STANDS), True, False),
        (
            objects.status(
                TaskState.FAILED, requests=[ANSWER], verification=verification(passed=False)
            ),
            True,
            False,
        ),
        (objects.closed(1, requests=[ANSWER]), True, True),
    ],
    ids=["unanswered", "at work", "passed", "stands still", "failed", "closed"],
)
def test_it_stays_until_there_are_verdicts_or_a_person_is_needed(
    found: TaskStatus, settled: bool, passed: bool
) -> None:
    task = objects.task(status=found)

    assert (verify._is_settled(task, "r-1"), verify._has_passed(task)) == (settled, passed)


def test_what_was_printed_is_told_with_the_verdicts_and_no_field_is_pointed_at() -> None:
    pointing = "check 'gate lint' is Errored; status.verification has its words. Remedy: Mend it."
    waiting = objects.waits("GateErrored", pointing, needs_person=True)
    status = objects.done(requests=[ANSWER], verification=verification(), waiting=waiting)
    shown, console = terminal(width=200)

    answer = Answer.model_validate(ANSWER)
    verify.tell(shown, objects.task(status=status), answer, wait=True)

    told = console.export_text()
    assert told.endswith("  check 'gate lint' is Errored.\n  Mend it.\n")


def test_a_pause_is_told_with_its_end_and_what_helps() -> None:
    waiting = objects.waits(
        "GateErrored", "'no_foo' could not run. Remedy: Put it there.", until=at(60)
    )
    status = objects.done(requests=[ANSWER], verification=verification(), waiting=waiting)
    shown, console = terminal(width=200)

    verify.tell(shown, objects.task(status=status), Answer.model_validate(ANSWER), wait=True)

    moment = f"{at(60):%H:%M:%S} UTC"
    assert console.export_text().endswith(
        f"  'no_foo' could not run (again at {moment})\n  Put it there.\n"
    )
