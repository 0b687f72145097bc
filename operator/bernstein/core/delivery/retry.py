"""When a Job that moves refs is tried again, after it has failed."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, TypeVar

from bernstein.api.project import Project
from bernstein.api.waiting import Hold
from bernstein.core import holds
from bernstein.core.conditions import Progress, busy, stalled
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.reasons import (
    MAX_INFRASTRUCTURE_FAILURES,
    PROBE_SECONDS,
    Retry,
    policy,
    seconds_to_wait,
    with_remedy,
)
from bernstein.core.sanitise import text as sanitise


class Retried(Progress, Protocol):
    """What is read and written of a status."""

    @property
    def hold(self) -> Hold | None: ...
    @property
    def infrastructure_failures(self) -> int: ...


S = TypeVar("S", bound=Retried)


def tried_again(
    status: S,
    problem: Diagnosis,
    project: Project | None,
    now: datetime,
    *,
    reason: str = "MergeRetry",
    rest: int | None = None,
) -> S:
    """A Job that moves refs failed: it is tried again at once, up to the cap, or after a hold.

    The table of failures says which. `reason` is that of the condition when it is tried at once,
    `rest` the seconds of a hold above the cap where the table's are too few.
    """
    row, text = policy(problem.reason), sanitise(problem.message, holds.MESSAGE)
    failures = status.infrastructure_failures + (1 if row.capped else 0)
    # Not above the cap: else a failing merge would take the retries that the work itself has left.
    capped = min(failures, MAX_INFRASTRUCTURE_FAILURES)
    status = status.model_copy(update={"infrastructure_failures": capped})
    if row.retry is Retry.AT_ONCE and failures <= MAX_INFRASTRUCTURE_FAILURES:
        return busy(status, reason, text, now)
    wait = seconds_to_wait(problem.reason, failures) or PROBE_SECONDS
    if rest is not None and failures > MAX_INFRASTRUCTURE_FAILURES:
        wait = rest
    held = holds.hold(problem.reason, text, project, now, wait)
    status = status.model_copy(update={"hold": held})
    message = with_remedy(text, problem.reason, project)
    return stalled(status, problem.reason, message, now)
