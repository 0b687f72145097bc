"""What is kept of the logs of checks that did not pass."""

from __future__ import annotations

import gzip
import hashlib
import zlib

import pytest

from bernstein.api.verification import CheckResult
from bernstein.core.actions import KeepCheckLogs
from bernstein.core.jobs import JobView
from bernstein.core.verification import check_logs
from bernstein.core.verification.check_logs import LOG_BYTES, LOG_LINES, MOST, PACKED_BYTES
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
    first, later = (len(check_logs.pack(noise(LOG_BYTES), n).packed) for n in (1, 2))

    assert PACKED_BYTES / 2 < first <= PACKED_BYTES
    assert PACKED_BYTES / 8 < later <= PACKED_BYTES / 4


# --- how ----------------------------------------------------------------------------------------


def noise(size: int) -> bytes:
    """What cannot be made smaller; the same every time."""
    return hashlib.shake_256(b"noise").digest(size)


def numbered(lines: int) -> bytes:
    digits = noise(30 * lines).hex()
    return "".join(f"{n:06d} {digits[60 * n : 60 * n + 60]}\n" for n in range(lines)).encode()


@pytest.mark.parametrize("log", [b"", b"x", b"no line end", b"\x00\xff\x1b[2J\n" * 9, b"\n" * 999])
def test_a_small_log_is_kept_byte_for_byte(log: bytes) -> None:
    report = check_logs.pack(log)

    assert gzip.decompress(report.packed) == log
    assert check_logs.unpack(report.packed) == log
    assert not report.cut


def test_secrets_that_a_check_printed_are_not_kept() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    log = b"\xff 1\n" + f"token={token}\nexport {token}\n".encode() + numbered(9_000)

    small = check_logs.unpack(check_logs.pack(log[:200]).packed)
    large = check_logs.unpack(check_logs.pack(log + token.encode()).packed)

    assert small.startswith(b"\xff 1\ntoken=***\nexport ***\n000000 ")
    assert large.endswith(b"\n***")
    assert token.encode() not in small + large


def test_of_a_long_log_the_end_is_kept_from_a_line_on() -> None:
    log = numbered(9_000)

    report = check_logs.pack(log)
    shown = check_logs.unpack(report.packed)

    assert PACKED_BYTES / 4 < len(report.packed) <= PACKED_BYTES
    assert report.cut
    assert log.endswith(b"\n" + shown)
    assert shown.endswith(b"\n")


def test_what_cannot_be_made_smaller_still_fits() -> None:
    log = noise(2 * LOG_BYTES).replace(b"\n", b"")

    report = check_logs.pack(log)

    assert len(report.packed) <= PACKED_BYTES
    assert log.endswith(check_logs.unpack(report.packed))


def test_no_more_is_kept_than_is_ever_shown() -> None:
    report = check_logs.pack(b"a" * LOG_BYTES + b"\n" + b"b" * (LOG_BYTES - 1))

    assert report.cut
    assert check_logs.unpack(report.packed) == b"b" * (LOG_BYTES - 1)


def test_a_log_of_which_only_the_last_lines_were_read_is_cut() -> None:
    assert check_logs.pack(b"\n" * LOG_LINES).cut
    assert not check_logs.pack(b"\n" * (LOG_LINES - 1)).cut


@pytest.mark.parametrize("hidden", ["\x1b[31m", "\u200b", "\0", "\u00ad"])
def test_a_secret_whose_letters_a_colour_or_nothing_visible_parts_is_not_kept(hidden: str) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    printed = f"token: {token[:9]}{hidden}{token[9:]}\n1 failed"

    kept = check_logs.unpack(check_logs.pack(printed.encode()).packed)

    assert kept == b"token: ***\n1 failed"


def test_the_same_log_is_the_same_report() -> None:
    assert check_logs.pack(b"x" * 99) == check_logs.pack(b"x" * 99)


def test_a_forged_report_that_would_fill_the_memory_is_cut_off() -> None:
    bomb = gzip.compress(b"\0" * (100 * LOG_BYTES))
    assert len(bomb) < LOG_BYTES

    assert len(check_logs.unpack(bomb)) == LOG_BYTES


@pytest.mark.parametrize("packed", [b"plain words", zlib.compress(b"no gzip"), b"\x1f\x8b\xff\xff"])
def test_what_is_no_report_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        check_logs.unpack(packed)
