"""How a Task or a Plan ends although Jobs of it may still run: none may act after its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol, TypeVar

from bernstein.api.meta import ConditionType
from bernstein.core import runs
from bernstein.core.actions import DeleteJobs, RunFence, give_up
from bernstein.core.conditions import drop, note
from bernstein.core.delivery import formatting, landing, proposal
from bernstein.core.delivery.way import Delivering
from bernstein.core.jobs import JobView
from bernstein.core.verification import round as rounds
from bernstein.core.verification.look import Question

CANCEL_SECONDS = 2
"""Until the Jobs of what is cancelled are looked at again: somebody waits for that."""


class Endable(Delivering, rounds.Judged, Protocol):
    """What is read and written of the status of a Task or a Plan."""


S = TypeVar("S", bound=Endable)


def fences(
    status: Endable,
    job: Callable[[str, int], str],
    question: Question | None,
    jobs: Mapping[str, JobView],
    now: datetime,
) -> tuple[RunFence, ...]:
    """For the Jobs that requests on their way may still make.

    `job`: as in Landing. `question`: how the work is judged; None where it is not, or cannot be.
    """
    preparing = (
        *formatting.unseen(status.verification, job, jobs),
        *landing.unseen(status, job, jobs),
        *proposal.unseen(status, job, jobs),
    )
    if question is None:
        return preparing
    return (*preparing, *rounds.unseen(status, question, jobs, now))


def stop(
    fences: tuple[RunFence, ...], jobs: Mapping[str, JobView], now: datetime
) -> tuple[RunFence | DeleteJobs, ...] | None:
    """What ends the Jobs of something that is cancelled; None once all of them have ended."""
    if not fences and all(runs.is_over(job, now) for job in jobs.values()):
        return None
    return (*fences, *give_up(jobs.values()))


def stop_late(jobs: Mapping[str, JobView]) -> tuple[DeleteJobs, ...]:
    """What ends the Jobs of something that has ended.

    A Job may come late, by a request that nobody waited for any more.
    """
    return give_up(jobs.values())


def refuse_cancel(status: S, now: datetime) -> S:
    """The status with the condition that tells why a cancel has no effect."""
    text = "the merge has started; a cancel comes too late"
    return note(status, ConditionType.CANCEL_REFUSED, True, "MergeInProgress", text, now)


def cancelled(status: S, now: datetime) -> S:
    """The status of what has ended by a cancel; that an earlier look had refused it is over."""
    left = drop(status.conditions, ConditionType.CANCEL_REFUSED)
    return status.model_copy(update={"ended_at": now, "conditions": left})
