"""How an attempt ends: what it cost, whether it counts, and what follows."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from bernstein.api.reasons import Reason
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import (
    LONGEST_FEEDBACK,
    LONGEST_MESSAGE,
    MOST_ATTEMPTS,
    Attempt,
    TaskStatus,
)
from bernstein.core.delivery import kept
from bernstein.core.fsm import may_retry, move
from bernstein.core.money import spend
from bernstein.core.money.pricing import add, money
from bernstein.core.plans.nodes import standing
from bernstein.core.reasons import policy
from bernstein.core.reasons.limits import MAX_INFRASTRUCTURE_FAILURES
from bernstein.core.reasons.row import Retry
from bernstein.core.reasons.waits import seconds_to_wait
from bernstein.core.remedies import remedy_of
from bernstein.core.sanitise import count, cut, without_middle, without_quotes
from bernstein.core.sanitise import text as sanitise
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.waiting import goes_on, held, seconds_to_next_try, tries, waits

_EARLIER = 900
"""Characters of the last message for how earlier attempts ended."""
_LINE = 500
"""Characters of one line of what it ended with, in a condition."""
_SAYS_MORE = "status.attempts"
"""Where what an agent, or a program in its pod, has said stands as a quote."""
_LAP = 2
"""Moves from Open to Open: it was claimed, and came to nothing."""


def settle(
    snapshot: TaskSnapshot,
    session: AgentSession,
    status: TaskStatus,
    reason: str,
    message: str,
    *,
    counted: bool,
) -> TaskStatus:
    """The status with the session's spend and with its entry among the attempts.

    Called once for each session, together with the move that ends it.
    """
    usage = spend.usage_of(session)
    spent = spend.cost_of(session, snapshot.project)
    entry = Attempt(
        session=session.metadata.name,
        attempt=session.spec.attempt,
        counted=counted,
        reason=reason,
        message=without_middle(sanitise(message, LONGEST_FEEDBACK), LONGEST_MESSAGE),
        model=session.spec.model,
        spend_usd=money(spent),
        not_taken=is_not_taken(session) or None,
    )
    before = status.attempts
    if before and _is_the_same(before[-1], entry):
        entry = entry.model_copy(update={"times": (before[-1].times or 1) + 1})
        before = before[:-1]
    return status.model_copy(
        update={
            "attempt": status.attempt + (1 if counted else 0),
            "attempts": (*before, entry)[-MOST_ATTEMPTS:],
            "blocked": None if counted else status.blocked,
            "usage": add(status.usage, usage) if usage is not None else status.usage,
            "spend_usd": money(Decimal(status.spend_usd) + spent),
            "spend_source": spend.source(session, snapshot.project, status.spend_source),
        }
    )


def _is_the_same(before: Attempt, entry: Attempt) -> bool:
    """Whether it tells no more than the entry before: such tries would push out what tells more."""
    if policy(entry.reason).retry is not Retry.SOON or Decimal(before.spend_usd):
        return False
    told = (before.attempt, before.counted, before.reason)
    return told == (entry.attempt, entry.counted, entry.reason)


def is_not_taken(session: AgentSession) -> bool:
    """Whether a container of ours that reads what the agent left has failed on it."""
    outcome = session.status.outcome
    return outcome is not None and outcome.started and outcome.reason == Reason.INFRASTRUCTURE_ERROR


def blamed(session: AgentSession, status: TaskStatus) -> tuple[str, str] | None:
    """(reason, message) where that is the agent's doing: it has been so before, in this Task."""
    outcome = session.status.outcome
    if outcome is None or not is_not_taken(session):
        return None
    if not any(attempt.not_taken for attempt in status.attempts):
        return None
    text = f"for the second time its work could not be taken: {outcome.message}"
    return Reason.AGENT_FAILED, text


def count_failure(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, message: str, now: datetime
) -> TaskStatus:
    """A failure that costs an attempt; the next attempt is told why."""
    status = status.model_copy(
        update={
            "feedback": sanitise(f"{reason}: {message}", LONGEST_FEEDBACK),
            "rejected": kept.rejected_of_session(snapshot.session),
        }
    )
    if reason == Reason.HEARTBEAT_LOST and status.state is TaskState.IN_PROGRESS:
        return move(status, TaskState.ORPHANED, reason, now)
    return fail(snapshot, status, reason, now)


def fail(
    snapshot: TaskSnapshot,
    status: TaskStatus,
    reason: str,
    now: datetime,
    *,
    actor: str = "operator",
) -> TaskStatus:
    """Failed: to be tried again, or for good where no retry is left."""
    failed = goes_on(move(status, TaskState.FAILED, reason, now, actor=actor))
    if may_retry(failed, snapshot.task.spec.max_retries):
        return failed
    return _no_retry_left(snapshot, failed, reason, now)


def _no_retry_left(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, now: datetime
) -> TaskStatus:
    last = _last_message(status).removeprefix(f"{reason}: ")
    # Its workflow says what follows on a run: it may be there to fail, as a check that others mend.
    is_run = standing.is_run(snapshot.plan, snapshot.task.metadata.name)
    attempts = count(status.attempt, "attempt")
    over = "its run failed" if is_run else f"no retry is left after {attempts}"
    text = ": ".join(part for part in (over, last) if part)
    before = _earlier(status)
    if before:
        text = f"{text.rstrip('.')}. Before that: {before}"
    ended = goes_on(status).model_copy(update={"ended_at": now})
    left = kept.of_task(status, snapshot.session, snapshot.project)
    if is_run:
        return waits(ended, reason, text, now, remedy=left and f"What it left: {left}")
    remedy = _remedy(snapshot, reason, text, left)
    return waits(ended, reason, text, now, needs_person=True, remedy=remedy)


def _remedy(snapshot: TaskSnapshot, reason: str, text: str, left: str | None) -> str:
    """The reason's, and how its work goes on or can be had: it was paid for."""
    again = f"Another round of attempts: `bernstein retry task/{snapshot.task.metadata.name}`."
    parts = (remedy_of(reason, text, snapshot.project), again, left and f"What it left: {left}")
    return " ".join(part for part in parts if part)


def _earlier(status: TaskStatus) -> str:
    """How each counted attempt but the last one ended; attempts in a row that ended alike share
    their words."""
    earlier = [each for each in status.attempts if each.counted][:-1]
    runs: list[tuple[list[int], str]] = []
    for each in earlier:
        words = ": ".join(filter(None, (each.reason, _first_line(each.message))))
        if runs and runs[-1][1] == words:
            runs[-1][0].append(each.attempt)
        else:
            runs.append(([each.attempt], words))
    room = _EARLIER // max(1, len(runs))
    return "; ".join(sanitise(f"{_numbers(tries)} {words}", room) for tries, words in runs)


def _numbers(tries: list[int]) -> str:
    return f"attempt {tries[0]}" if len(tries) == 1 else f"attempts {tries[0]} to {tries[-1]}"


def _first_line(text: str) -> str:
    return cut(text.partition("\n")[0].rstrip(":"), _LINE)


def _last_message(status: TaskStatus) -> str:
    """What the last attempt ended with, without what was printed: conditions are read by many."""
    text = status.feedback or (status.attempts[-1].message if status.attempts else "")
    first, _, rest = text.partition("\n")
    shown = cut(first.rstrip(":") if rest else first, _LINE)
    return f"{shown}; status.feedback has more" if rest else shown


def not_counted(
    status: TaskStatus,
    snapshot: TaskSnapshot,
    session: AgentSession,
    reason: str,
    message: str,
    now: datetime,
) -> TaskStatus:
    """A failure that costs no attempt: tried again at once or after a while, as the table says."""
    retry = policy(reason).retry
    if retry in (Retry.PROBE, Retry.SOON):
        status = _probed(status, snapshot, reason, message, now)
        if _agent_worked(session, reason):
            # It cost a whole run, so it counts to the cap.
            return infrastructure(snapshot, status, reason, message, now)
        return _without_repetition(move(status, TaskState.OPEN, reason, now))
    if retry in (Retry.BACK_OFF, Retry.LATER):
        outcome = session.status.outcome
        asked = outcome.retry_after_seconds if outcome is not None else None
        wait = seconds_to_wait(reason, status.infrastructure_failures + 1, asked)
        text = without_quotes(message, _SAYS_MORE)
        status = held(status, reason, text, snapshot.project, now, wait, needs_person=False)
    return infrastructure(snapshot, status, reason, message, now)


def refused(status: TaskStatus, snapshot: TaskSnapshot, message: str, now: datetime) -> TaskStatus:
    """The API server does not take its session: nothing has begun, and it is asked for again."""
    status = _probed(status, snapshot, Reason.POD_REJECTED, message, now)
    return _without_repetition(move(status, TaskState.OPEN, Reason.POD_REJECTED, now))


def _probed(
    status: TaskStatus, snapshot: TaskSnapshot, reason: str, message: str, now: datetime
) -> TaskStatus:
    times = tries(status, reason, snapshot.project)
    wait = seconds_to_next_try(reason, message, times, snapshot.project)
    return held(status, reason, without_quotes(message, _SAYS_MORE), snapshot.project, now, wait)


def _without_repetition(status: TaskStatus) -> TaskStatus:
    """The status whose history tells once that it was tried and failed as before."""
    if len(status.history) < _LAP + 1:
        return status
    *older, before, _, last = status.history
    told = (before.to_state, before.reason, before.attempt)
    if told != (last.to_state, last.reason, last.attempt):
        return status
    return status.model_copy(update={"history": (*older, last)})


def _agent_worked(session: AgentSession, reason: str) -> bool:
    """Whether tokens may have been paid for; a provider that refuses the key gives none."""
    outcome, usage = session.status.outcome, session.status.usage
    if reason == Reason.MODEL_AUTH_FAILED:
        return usage is not None and usage.output > 0
    return outcome is not None and outcome.started


def infrastructure(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, message: str, now: datetime
) -> TaskStatus:
    """A failure that is nobody's fault: tried again at no cost of an attempt, up to the cap."""
    counted = status.model_copy(
        update={"infrastructure_failures": status.infrastructure_failures + 1}
    )
    if counted.infrastructure_failures <= MAX_INFRASTRUCTURE_FAILURES:
        return move(counted, TaskState.OPEN, reason, now)
    failed = move(counted, TaskState.FAILED, reason, now).model_copy(update={"feedback": message})
    return _no_retry_left(snapshot, failed, reason, now)
