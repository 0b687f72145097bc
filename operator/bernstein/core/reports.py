"""What is kept of the logs of checks that did not pass: of which ones, and how it is made small.

A report is for people. No verdict needs one, and no decision reads one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from bernstein.api.plan import PlanVerification
from bernstein.api.task import CheckResult, Verification
from bernstein.core import pods
from bernstein.core.intents import KeepReports
from bernstein.core.pods import JobView

CONTAINER = "check"
"""Of a Job that executes one check: what ran."""
LOG_LINES = 10_000
LOG_BYTES = 1024 * 1024
"""Of a log only its last lines and bytes are read, and no more is ever unpacked."""
PACKED_BYTES = 64 * 1024
MOST = 8
"""Reports of one Task or Plan in all its life: whoever writes it chooses what its checks print."""
_WHOLE = 2
"""So many may have PACKED_BYTES, those after them a quarter."""

KEY = "report.gz"
"""In the ConfigMap's `binaryData`."""

_UNSATISFYING = ("Failed", "TimedOut", "Errored")
_GZIP = 16 + zlib.MAX_WBITS
_LONGEST_REST = 4096
"""Of a line that was cut through; a longer one is shown all the same."""


@dataclass(frozen=True)
class Report:
    """The end of a log, as gzip."""

    packed: bytes
    cut: bool
    """There was more before it."""


class _Status(Protocol):
    """Of a Task or a Plan."""

    @property
    def verification(self) -> Verification | PlanVerification | None: ...
    @property
    def reports(self) -> int: ...
    def model_copy(self, *, update: dict[str, object]) -> Self: ...


S = TypeVar("S", bound=_Status)


def keep(
    before: Iterable[CheckResult], status: S, jobs: Mapping[str, JobView]
) -> tuple[S, tuple[KeepReports, ...]]:
    """The status, whose verdicts are recorded over those of before, and the reports to keep."""
    now = status.verification.checks if status.verification is not None else ()
    kept = of_verdicts(before, now, jobs, status.reports)
    return status.model_copy(update={"reports": status.reports + count(kept)}), kept


def of_verdicts(
    before: Iterable[CheckResult],
    now: Iterable[CheckResult],
    jobs: Mapping[str, JobView],
    kept: int,
) -> tuple[KeepReports, ...]:
    """The reports to keep where these verdicts, by these Jobs, are recorded over those of before.

    `kept` is how many there have been. Of required checks first.
    A check that could not run is run again and again: the same verdict says nothing new.
    """
    told = {_said(result) for result in before}
    new = [
        result
        for result in now
        if result.verdict in _UNSATISFYING
        and _said(result) not in told
        and result.name in jobs
        and _has_log(jobs[result.name])
    ]
    required_first = sorted(new, key=lambda result: not result.required)[: max(0, MOST - kept)]
    found = tuple(jobs[result.name] for result in required_first)
    return (KeepReports(found, kept),) if found else ()


def count(wanted: Iterable[KeepReports]) -> int:
    return sum(len(each.jobs) for each in wanted)


def _said(result: CheckResult) -> tuple[str, str, str, str]:
    return result.name, result.asked, result.verdict, result.reason


def _has_log(job: JobView) -> bool:
    """Its command ran, and its node is there to be asked for what it printed."""
    pod = job.pod
    if pod is None or pods.is_disrupted(pod) or pods.is_deleting(pod):
        return False
    return pods.is_running(pod, CONTAINER)


def pack(log: bytes, before: int = 0) -> Report:
    """As much of the log's end as a report may have that `before` others came before, by halves."""
    limit = PACKED_BYTES if before < _WHOLE else PACKED_BYTES // 4
    end = log if len(log) <= LOG_BYTES else _from_line(log[-LOG_BYTES:])
    while len(packed := _gzip(end)) > limit:
        end = _from_line(end[len(end) // 2 :])
    return Report(packed, len(end) < len(log) or log.count(b"\n") >= LOG_LINES)


def unpack(packed: bytes) -> bytes:
    """The text, or so much of it as pack may have put in. Raises ValueError: it is no gzip."""
    try:
        return zlib.decompressobj(_GZIP).decompress(packed, LOG_BYTES)
    except zlib.error as error:
        raise ValueError(f"the report is damaged: {error}") from None


def _gzip(text: bytes) -> bytes:
    """The same for the same text: it has no time in it."""
    packer = zlib.compressobj(wbits=_GZIP)
    return packer.compress(text) + packer.flush()


def _from_line(text: bytes) -> bytes:
    """Without the rest of a line that was cut through."""
    return text[text.find(b"\n", 0, _LONGEST_REST) + 1 :]
