"""Logs of checks that did not pass: which ones are kept, and how much of each.

A check log is for people. No verdict needs one, and no decision reads one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, Self, TypeVar

from bernstein.api.pod import CHECK
from bernstein.api.reasons import VerdictReason
from bernstein.api.verification import CheckResult, Verification
from bernstein.core import pods
from bernstein.core.actions import KeepCheckLogs
from bernstein.core.jobs import JobView
from bernstein.core.logs.packed import PACKED_BYTES

MOST = 8
"""Check logs that one Task or Plan leaves in all its life: agents choose what is in them."""
_WHOLE = 2
"""The first logs may have PACKED_BYTES each, those after them a quarter."""

_UNSATISFYING = ("Failed", "TimedOut", "Errored")


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
    left = max(0, MOST - status.reports)
    to_keep = tuple(job for job in jobs if _has_log(job))[:left]
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


def room(before: int) -> int:
    """Bytes for one more log, where `before` others were kept already."""
    return PACKED_BYTES if before < _WHOLE else PACKED_BYTES // 4


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
