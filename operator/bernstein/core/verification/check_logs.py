"""Logs of checks that did not pass: which ones are kept, and how much of each.

A check log is for people. No verdict needs one, and no decision reads one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from bernstein.api.pod import CHECK
from bernstein.api.reasons import VerdictReason
from bernstein.api.verification import CheckResult, Verification
from bernstein.core import pods
from bernstein.core.actions import KeepCheckLogs
from bernstein.core.jobs import JobView
from bernstein.core.sanitise import text as sanitise

LOG_LINES = 10_000
LOG_BYTES = 1024 * 1024
"""Only so much of a log's end is read, and no more is ever unpacked."""
PACKED_BYTES = 64 * 1024
"""What is kept of a log, as gzip."""
MOST = 8
"""Check logs that one Task or Plan leaves in all its life: agents choose what is in them."""
_WHOLE = 2
"""The first logs may have PACKED_BYTES each, those after them a quarter."""

KEY = "report.gz"
"""In the ConfigMap's `binaryData`."""

_UNSATISFYING = ("Failed", "TimedOut", "Errored")
_GZIP = 16 + zlib.MAX_WBITS
_LONGEST_REST = 4096
"""Bytes of a line that was cut through, up to which its rest is dropped; a longer rest is kept."""


@dataclass(frozen=True)
class PackedLog:
    """The end of a log, as gzip."""

    packed: bytes
    cut: bool
    """There was more before it."""


class _Status(Protocol):
    """What is read and written in the status of a Task or a Plan."""

    @property
    def verification(self) -> Verification | None: ...
    @property
    def reports(self) -> int: ...
    def model_copy(self, *, update: dict[str, object]) -> Self: ...


S = TypeVar("S", bound=_Status)


def keep(
    before: Iterable[CheckResult], status: S, jobs: Mapping[str, JobView]
) -> tuple[S, tuple[KeepCheckLogs, ...]]:
    """The logs to keep where verdicts replace those of `before`; the status counts them."""
    results = status.verification.checks if status.verification is not None else ()
    actions = of_verdicts(before, results, jobs, status.reports)
    return status.model_copy(update={"reports": status.reports + count(actions)}), actions


def keep_early(status: S, jobs: Iterable[JobView]) -> tuple[S, tuple[KeepCheckLogs, ...]]:
    """The logs of checks that are ended before they have a verdict; with their pods they go."""
    room = max(0, MOST - status.reports)
    to_keep = tuple(job for job in jobs if _has_log(job))[:room]
    actions = (KeepCheckLogs(to_keep, status.reports),) if to_keep else ()
    return status.model_copy(update={"reports": status.reports + count(actions)}), actions


def of_verdicts(
    before: Iterable[CheckResult],
    results: Iterable[CheckResult],
    jobs: Mapping[str, JobView],
    kept: int,
) -> tuple[KeepCheckLogs, ...]:
    """The logs to keep where `results`, the verdicts of these Jobs, replace those of `before`.

    Required checks come first; `kept` logs were kept earlier. A check that cannot run is run again
    and again: a verdict that is the same as before leaves no other log.
    """
    known = {_identity(result) for result in before}
    new = [
        result
        for result in results
        if (result.verdict in _UNSATISFYING or result.reason == VerdictReason.BASE_FAILS)
        and _identity(result) not in known
        and result.name in jobs
        and _has_log(jobs[result.name])
    ]
    required_first = sorted(new, key=lambda result: not result.required)[: max(0, MOST - kept)]
    to_keep = tuple(jobs[result.name] for result in required_first)
    return (KeepCheckLogs(to_keep, kept),) if to_keep else ()


def count(actions: Iterable[KeepCheckLogs]) -> int:
    """How many logs these actions keep."""
    return sum(len(action.jobs) for action in actions)


def _identity(result: CheckResult) -> tuple[str, str, str, str]:
    return result.name, result.asked, result.verdict, result.reason


def _has_log(job: JobView) -> bool:
    """Its command ran, and its node is there to be asked for what it printed."""
    pod = job.pod
    if pod is None or pods.is_disrupted(pod) or pods.is_deleting(pod):
        return False
    return pods.has_started(pod, CHECK)


def pack(log: bytes, before: int = 0) -> PackedLog:
    """The end of the log without secrets, halved until it fits; `before` others were kept already.

    A megabyte takes about two seconds, most of it to look for secrets: not in the operator's loop.
    """
    limit = PACKED_BYTES if before < _WHOLE else PACKED_BYTES // 4
    end = log if len(log) <= LOG_BYTES else _from_line(log[-LOG_BYTES:])
    end, _ = _fitting(end, limit)
    masked = _without_secrets(end)
    kept, packed = _fitting(masked, limit)
    cut = len(end) < len(log) or len(kept) < len(masked) or log.count(b"\n") >= LOG_LINES
    return PackedLog(packed, cut)


def _fitting(end: bytes, limit: int) -> tuple[bytes, bytes]:
    """As much of the end as fits, and the same packed."""
    while len(packed := _gzip(end)) > limit:
        end = _from_line(end[len(end) // 2 :])
    return end, packed


def _without_secrets(log: bytes) -> bytes:
    """The log, masked. Of what is no secret each byte stays, also one that is no text; but where
    only colours or invisible characters between its letters hide a secret, what is seen is kept."""
    from bernstein.checks.content import printed  # its patterns take a moment to load

    masked = printed.without_secrets(log.decode("utf-8", "surrogateescape"))
    seen = sanitise(masked, len(masked))
    shown = printed.without_secrets(seen)
    return (masked if shown == seen else shown).encode("utf-8", "surrogateescape")


def unpack(packed: bytes) -> bytes:
    """The text, at most LOG_BYTES of it. Raises ValueError when it is no gzip."""
    try:
        return zlib.decompressobj(_GZIP).decompress(packed, LOG_BYTES)
    except zlib.error as error:
        raise ValueError(f"the check log is damaged: {error}") from None


def _gzip(text: bytes) -> bytes:
    """The same for the same text: it has no time in it."""
    packer = zlib.compressobj(wbits=_GZIP)
    return packer.compress(text) + packer.flush()


def _from_line(text: bytes) -> bytes:
    """The text from its first whole line on."""
    return text[text.find(b"\n", 0, _LONGEST_REST) + 1 :]
