"""When a Job that moves refs is tried again, after it has failed."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, TypeVar

from bernstein.api.project import Project
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.reasons import policy
from bernstein.core.reasons.limits import MAX_INFRASTRUCTURE_FAILURES
from bernstein.core.reasons.row import Retry
from bernstein.core.reasons.waits import PROBE_SECONDS, longest_wait
from bernstein.core.waiting import Waits, held, seconds_to_next_try, tries


class Retried(Waits, Protocol):
    """What is read and written of a status."""

    @property
    def infrastructure_failures(self) -> int: ...


S = TypeVar("S", bound=Retried)


def tried_again(
    status: S,
    problem: Diagnosis,
    project: Project | None,
    now: datetime,
    *,
    rest: int | None = None,
    times: int | None = None,
    resting: int = 0,
    remedy: str | None = None,
) -> S:
    """A Job that moves refs failed: it is tried again at once, up to the cap, or after a while.

    The table of failures says which. `rest`: seconds to wait above the cap, where the table's are
    too few. `times`: how often it has failed in a row; None: what it waits for tells. `resting`:
    how many others of the Project wait to try such a Job again. `remedy`: what helps in this very
    case; None: that of the reason.
    """
    row = policy(problem.reason)
    failures = status.infrastructure_failures + (1 if row.capped else 0)
    # Not above the cap: else a failing merge would take the retries that the work itself has left.
    capped = min(failures, MAX_INFRASTRUCTURE_FAILURES)
    status = status.model_copy(update={"infrastructure_failures": capped})
    if row.retry is Retry.AT_ONCE and failures <= MAX_INFRASTRUCTURE_FAILURES:
        return status
    is_soon = row.retry is Retry.SOON
    if is_soon:
        failures = times or tries(status, problem.reason, project)
    reason, text = problem.reason, problem.message
    wait = seconds_to_next_try(reason, text, failures, project, resting=resting) or PROBE_SECONDS
    if rest is not None and failures > MAX_INFRASTRUCTURE_FAILURES:
        wait = rest
    wait = max(wait, min(problem.retry_after or 0, longest_wait(reason)))
    alone = seconds_to_next_try(reason, text, failures, project) if is_soon else None
    return held(status, reason, text, project, now, wait, alone=alone, remedy=remedy)
