"""What is kept of the logs of checks that did not pass."""

from __future__ import annotations

import pytest

from bernstein.api.verification import CheckResult
from bernstein.core.actions import KeepCheckLogs
from bernstein.core.jobs import JobView
from bernstein.core.logs import checks as check_logs
from bernstein.core.logs.checks import MOST
from bernstein.core.logs.packed import PACKED_BYTES
from tests.unit.core.objects import (
    NOW,
    Object,
    checked,
    ended,
    job,
    over,
    pod,
    running,
    waiting,
)


def verdict(name: str, said: str = "Failed", reason: str = "", **more: object) -> CheckResult:
    fields = {"name": name, "kind": "gate", "verdict": said, "reason": reason}
    return CheckResult.model_validate(fields | more)


def kept(now: CheckResult, before: tuple[CheckResult, ...] = (), **jobs: JobView) -> list[str]:
    """Names of the Jobs whose reports are kept; `jobs` by check."""
    return names_of(check_logs.of_verdicts(before, (now,), jobs, 0))


def names_of(wanted: tuple[KeepCheckLogs, ...]) -> list[str]:
    return [job.name for action in wanted for job in action.jobs]


# --- which --------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["Failed", "TimedOut", "Errored"])
def test_of_what_did_not_pass(said: str) -> None:
    assert kept(verdict("tests", said), tests=checked("tests-0", 1)) == ["tests-0"]


@pytest.mark.parametrize("said", ["Passed", "Skipped", "Bypassed"])
def test_not_of_what_did(said: str) -> None:
    assert kept(verdict("tests", said), tests=checked("tests-0")) == []


def test_not_of_what_only_reads() -> None:
    read = job("work-s1-inspect-0", over(ended("inspect")))

    assert kept(verdict("pii_scan"), inspect=read) == []
    assert kept(verdict("inspect"), inspect=read) == []


LOGLESS: dict[str, Object | None] = {
    "it has no pod": None,
    "its image is missing": pod(waiting("check", "ImagePullBackOff"), phase="Pending"),
    "nothing was checked out": over(ended("checkout", 1), waiting("check")),
    "it never started": over(
        {
            "name": "check",
            "state": {"terminated": {"exitCode": 128, "reason": "StartError", "startedAt": "x"}},
        }
    ),
    "its node is drained": over(ended("check", 143), disrupted=True),
    "it is being deleted": over(ended("check", 143), deleting=True),
}


@pytest.mark.parametrize("gone", LOGLESS)
def test_not_where_there_is_nothing_to_read(gone: str) -> None:
    assert kept(verdict("tests", "Errored"), tests=job("tests-0", LOGLESS[gone])) == []


def test_of_what_still_runs_though_its_time_is_over() -> None:
    hangs = job("tests-0", pod(running("check", NOW)))

    assert kept(verdict("tests", "TimedOut"), tests=hangs) == ["tests-0"]


def test_a_verdict_that_was_recorded_already_is_not_reported_again_but_any_other_is() -> None:
    before = (verdict("tests", "Errored", "ToolMissing", asked="a"),)
    again = checked("tests-1", 127)

    assert kept(before[0], before=before, tests=again) == []
    for other in (
        verdict("tests", "Errored", "NoVerdict", asked="a"),
        verdict("tests", "Failed", "ToolMissing", asked="a"),
        verdict("tests", "Errored", "ToolMissing", asked="b"),
    ):
        assert kept(other, before=before, tests=again) == ["tests-1"]


def test_there_are_not_too_many_and_those_that_decide_come_first() -> None:
    names = [f"g{n}" for n in range(2 * MOST)]
    found = [verdict(name, required=name == names[-1]) for name in names]

    jobs = {name: checked(f"{name}-0", 1) for name in names}

    wanted = names_of(check_logs.of_verdicts((), found, jobs, 0))

    assert wanted == [f"{names[-1]}-0", *(f"{name}-0" for name in names[: MOST - 1])]


def test_a_task_leaves_no_more_of_them_whatever_its_attempts_print() -> None:
    jobs = {"tests": checked("tests-0", 1)}
    found = [verdict("tests")]

    assert check_logs.of_verdicts((), found, jobs, MOST) == ()
    (last,) = check_logs.of_verdicts((), found, jobs, MOST - 1)
    assert (len(last.jobs), last.before) == (1, MOST - 1)
    assert check_logs.count([last, last]) == 2


def test_later_ones_are_smaller() -> None:
    assert [check_logs.room(before) for before in (0, 1, 2, MOST)] == [
        *(PACKED_BYTES, PACKED_BYTES),
        *(PACKED_BYTES // 4, PACKED_BYTES // 4),
    ]
