"""Task: from Open to Closed, one reconcile at a time.

`decide` is a function of a snapshot and the time. It never trusts an agent: Done needs a session
whose work is on the remote, Closed needs the verdicts of every check on exactly the tree that
landed.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Attempt, TaskStatus, Verification
from bernstein.core import conditions, delivery, holds, queueing, spend, verification
from bernstein.core.errors import (
    MAX_INFRASTRUCTURE_FAILURES,
    MAX_RETRY_AFTER_SECONDS,
    Policy,
    Retry,
    back_off_seconds,
    policy,
)
from bernstein.core.fsm import may_retry, move
from bernstein.core.intents import (
    CreateSession,
    Decision,
    DeleteJobs,
    StopSession,
    TaskSnapshot,
)
from bernstein.core.pricing import add, money
from bernstein.core.progress import busy, ended, stalled
from bernstein.core.remedies import with_remedy
from bernstein.core.sanitise import text as sanitise


def decide(snapshot: TaskSnapshot, now: datetime) -> Decision:
    """The Task's next step."""
    task = snapshot.task
    status = task.status.model_copy(
        update={
            "observed_generation": task.metadata.generation,
            "project": snapshot.project.metadata.name if snapshot.project else task.status.project,
        }
    )
    if status.state is None:
        status = move(status, TaskState.OPEN, "Created", now).model_copy(update={"started_at": now})
        return _open(snapshot, status, now, may_claim=False)
    if task.spec.cancel is not None:
        return _cancel(snapshot, status, now)
    match status.state:
        case TaskState.OPEN:
            return _open(snapshot, status, now)
        case TaskState.CLAIMED | TaskState.IN_PROGRESS:
            return _running(snapshot, status, now)
        case TaskState.ORPHANED:
            return Decision(_fail(snapshot, status, "HeartbeatLost", now))
        case TaskState.FAILED:
            return Decision(_failed(snapshot, status, now))
        case TaskState.DONE:
            return _done(snapshot, status, now)
        case _:
            return Decision(status)


def _open(
    snapshot: TaskSnapshot, status: TaskStatus, now: datetime, *, may_claim: bool = True
) -> Decision:
    waits = queueing.why_open_waits(snapshot, status, now)
    if waits is not None:
        return Decision(waits.status, (), waits.requeue_after)
    ready = queueing.met(snapshot, status, now)
    if not may_claim:
        return Decision(busy(ready, "Open", "about to start", now))
    return Decision(_claim(snapshot, ready, now))


def _claim(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    number = status.sessions + 1
    claimed = move(status, TaskState.CLAIMED, "Scheduled", now).model_copy(
        update={
            "sessions": number,
            "session": queueing.session_name(snapshot.task, number),
            "queue": None,
            "verification": None,
            "delivery": None,
            "model": queueing.route_of(snapshot).model,
        }
    )
    return busy(claimed, "Claimed", "its session is starting", now)


def _running(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> Decision:
    session = snapshot.session
    if session is None:
        return _without_session(snapshot, status, now)
    state = session.status.state
    if state in (None, SessionState.STARTING):
        return Decision(status)
    if status.state is TaskState.CLAIMED and _ran(session):
        started = move(status, TaskState.IN_PROGRESS, "AgentStarted", now)
        cleared = started.model_copy(update={"hold": None})
        return Decision(busy(cleared, "InProgress", "the agent is at work", now))
    if state is not SessionState.DEAD:
        return Decision(status)
    return Decision(_session_ended(snapshot, session, status, now))


def _without_session(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> Decision:
    if status.state is not TaskState.CLAIMED:
        return Decision(_infrastructure(status, "PodLost", "its AgentSession was deleted", now))
    gone = queueing.needs_a_person(snapshot)
    if gone is None:
        return Decision(status, (CreateSession(number=status.sessions),))
    reason, text = gone
    return Decision(busy(move(status, TaskState.OPEN, reason, now), "Open", text, now))


def _ran(session: AgentSession) -> bool:
    if session.status.state is SessionState.DEAD:
        return bool(session.status.outcome and session.status.outcome.started)
    return True


def _session_ended(
    snapshot: TaskSnapshot, session: AgentSession, status: TaskStatus, now: datetime
) -> TaskStatus:
    outcome, work = session.status.outcome, session.status.work
    assert outcome is not None
    reason, message = outcome.reason, outcome.message
    if reason == "Succeeded" and work is not None:
        problem = verification.change_problem(snapshot.task, outcome, work)
        if problem is None:
            settled = _settle(snapshot, session, status, "Succeeded", "", counted=True)
            return _reported_done(settled, session, now)
        reason, message = problem
    row = policy(reason)
    status = _settle(snapshot, session, status, reason, message, counted=row.counts)
    status = status.model_copy(update={"checkpoint": _checkpoint(session, status, reason)})
    if row.counts:
        return _count_failure(snapshot, status, reason, message, now)
    return _not_counted(status, snapshot, row, session, reason, message, now)


_CUT_OFF = frozenset({"Disrupted", "HeartbeatLost", "PodLost", "Timeout"})
"""Ends that say nothing against the work so far."""


def _checkpoint(session: AgentSession, status: TaskStatus, reason: str) -> str | None:
    """The ref that the next session goes on from, if the work so far is worth it."""
    if reason not in _CUT_OFF:
        return None
    work, report = session.status.work, session.status.report
    pushed = work is not None and work.sha != work.base
    reported = report is not None and report.checkpoint is not None
    return session.spec.work_ref if pushed or reported else status.checkpoint


def _reported_done(status: TaskStatus, session: AgentSession, now: datetime) -> TaskStatus:
    work = session.status.work
    assert work is not None
    judged = Verification(
        base=work.base,
        sha=work.sha,
        tree=work.tree,
        ref=work.ref,
        files_changed=work.files_changed,
        python_changed=work.python_changed,
        tests_changed=work.tests_changed,
        deps_changed=work.deps_changed,
    )
    done = move(status, TaskState.DONE, "Reported", now).model_copy(
        update={"verification": judged, "infrastructure_failures": 0, "checkpoint": None}
    )
    return busy(done, "Verifying", "the janitor and the gates look at what it left", now)


def _settle(
    snapshot: TaskSnapshot,
    session: AgentSession,
    status: TaskStatus,
    reason: str,
    message: str,
    *,
    counted: bool,
) -> TaskStatus:
    """The session's spend and its place in the list of attempts.

    Once, with the move that ends it.
    """
    usage, price = spend.usage_of(session), spend.price(session, snapshot.project)
    spent = spend.cost_of(session, snapshot.project)
    entry = Attempt(
        session=session.metadata.name,
        attempt=session.spec.attempt,
        counted=counted,
        reason=reason,
        message=sanitise(message, 500),
        model=session.spec.model,
        spend_usd=money(spent),
    )
    return status.model_copy(
        update={
            "attempt": status.attempt + (1 if counted else 0),
            "attempts": (*status.attempts, entry)[-30:],
            "usage": add(status.usage, usage) if usage is not None else status.usage,
            "spend_usd": money(Decimal(status.spend_usd) + spent),
            "spend_source": "Reported" if price is not None else "Unpriced",
        }
    )


def _count_failure(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, message: str, now: datetime
) -> TaskStatus:
    told = status.model_copy(update={"feedback": sanitise(f"{reason}: {message}", 6000)})
    if reason == "HeartbeatLost" and status.state is TaskState.IN_PROGRESS:
        return move(told, TaskState.ORPHANED, reason, now)
    return _fail(snapshot, told, reason, now)


def _fail(snapshot: TaskSnapshot, status: TaskStatus, reason: str, now: datetime) -> TaskStatus:
    failed = move(status, TaskState.FAILED, reason, now).model_copy(update={"hold": None})
    if may_retry(failed, snapshot.task.spec.max_retries):
        return busy(failed, "Retrying", "it is tried again", now)
    return _no_retry_left(failed, reason, now)


def _no_retry_left(status: TaskStatus, reason: str, now: datetime) -> TaskStatus:
    tries = "1 attempt" if status.attempt == 1 else f"{status.attempt} attempts"
    text = f"no retry is left after {tries}: {_last_message(status)}"
    over = status.model_copy(update={"ended_at": now, "hold": None, "queue": None})
    return stalled(ended(over, False, reason, text, now), reason, with_remedy(text, reason), now)


def _last_message(status: TaskStatus) -> str:
    return (status.feedback or (status.attempts[-1].message if status.attempts else ""))[:2000]


def _not_counted(
    status: TaskStatus,
    snapshot: TaskSnapshot,
    row: Policy,
    session: AgentSession,
    reason: str,
    message: str,
    now: datetime,
) -> TaskStatus:
    if row.retry is Retry.PROBE:
        held = holds.hold(reason, message, snapshot.project, now)
        status = status.model_copy(update={"hold": held})
        if _agent_worked(session, reason):
            # A probe that costs a whole run is no probe: these are capped.
            again = _infrastructure(status, reason, message, now)
            if again.state is not TaskState.OPEN:
                return again
        else:
            again = move(status, TaskState.OPEN, reason, now)
        return stalled(again, reason, with_remedy(message, reason, snapshot.project), now)
    if row.retry in (Retry.BACK_OFF, Retry.LATER):
        said = session.status.outcome.retry_after_seconds if session.status.outcome else None
        wait = said or back_off_seconds(status.infrastructure_failures)
        wait = min(wait, MAX_RETRY_AFTER_SECONDS)
        held = holds.hold(reason, message, snapshot.project, now, wait)
        status = status.model_copy(update={"hold": held})
    return _infrastructure(status, reason, message, now)


def _agent_worked(session: AgentSession, reason: str) -> bool:
    """Whether tokens may have been paid; a model that refuses the key takes none."""
    found, usage = session.status.outcome, session.status.usage
    if reason == "ModelAuthFailed":
        return usage is not None and usage.output > 0
    return found is not None and found.started


def _infrastructure(status: TaskStatus, reason: str, message: str, now: datetime) -> TaskStatus:
    """Not the agent's fault: tried again without costing an attempt, up to the cap."""
    counted = status.model_copy(
        update={"infrastructure_failures": status.infrastructure_failures + 1}
    )
    if counted.infrastructure_failures <= MAX_INFRASTRUCTURE_FAILURES:
        again = move(counted, TaskState.OPEN, reason, now)
        return busy(again, "Retrying", message, now)
    told = counted.model_copy(update={"feedback": message})
    return _no_retry_left(move(told, TaskState.FAILED, reason, now), reason, now)


def _failed(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    if not may_retry(status, snapshot.task.spec.max_retries):
        return status
    return busy(move(status, TaskState.OPEN, "Retry", now), "Open", "it is tried again", now)


def _done(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> Decision:
    gone = queueing.owners_gone(snapshot)
    if gone is not None:
        reason, text = gone
        return Decision(stalled(status, reason, with_remedy(text, reason), now))
    judged = status.verification
    if judged is None:
        return Decision(_fail(snapshot, status, "PodLost", now))
    if judged.passed is None:
        step = verification.verify(snapshot, status, now)
        if step.rejected is not None:
            reason, text = step.rejected
            told = _rejected(step.status, reason, text)
            return Decision(_fail(snapshot, told, reason, now), step.intents)
        if step.status.verification is None or step.status.verification.passed is None:
            return Decision(step.status, step.intents, step.requeue_after)
        delivered = delivery.deliver(snapshot, step.status, now)
        return replace(delivered, intents=(*step.intents, *delivered.intents))
    return delivery.deliver(snapshot, status, now)


def _rejected(status: TaskStatus, reason: str, text: str) -> TaskStatus:
    """With the verdict as feedback, and as the end of the attempt that reported success."""
    last = status.attempts[-1:]
    ended_ = tuple(a.model_copy(update={"reason": reason, "message": text[:500]}) for a in last)
    return status.model_copy(
        update={"feedback": text, "attempts": (*status.attempts[:-1], *ended_)}
    )


def _cancel(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> Decision:
    assert snapshot.task.spec.cancel is not None
    reason = snapshot.task.spec.cancel.reason
    match status.state:
        case TaskState.CLOSED | TaskState.CANCELLED:
            return Decision(status)
        case TaskState.CLAIMED | TaskState.IN_PROGRESS:
            return _cancel_running(snapshot, status, reason, now)
        case TaskState.ORPHANED:
            return Decision(move(status, TaskState.FAILED, "Cancelled", now))
        case TaskState.DONE if status.delivery and status.delivery.step == "Landing":
            refused = conditions.put(
                status.conditions,
                "CancelRefused",
                "True",
                "MergeInProgress",
                "the merge has started; a cancel comes too late",
                generation=status.observed_generation,
                now=now,
            )
            return _done(snapshot, status.model_copy(update={"conditions": refused}), now)
        case _:
            return _cancel_now(snapshot, status, reason, now)


def _cancel_running(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, now: datetime
) -> Decision:
    session = snapshot.session
    if session is not None and session.status.state is not SessionState.DEAD:
        text = "the agent is asked to end"
        return Decision(busy(status, "Cancelling", text, now), (StopSession("Cancelled"),))
    if session is not None:
        status = _settle(snapshot, session, status, "Cancelled", reason, counted=False)
    return Decision(_cancelled(status, reason, now))


def _cancel_now(snapshot: TaskSnapshot, status: TaskStatus, reason: str, now: datetime) -> Decision:
    at_work = tuple(job for job in snapshot.jobs.values() if not job.ended)
    if at_work:
        text = "its checks are being ended"
        return Decision(busy(status, "Cancelling", text, now), (DeleteJobs(at_work),), 2)
    return Decision(_cancelled(status, reason, now))


def _cancelled(status: TaskStatus, reason: str, now: datetime) -> TaskStatus:
    over = move(status, TaskState.CANCELLED, "Cancelled", now, actor="user").model_copy(
        update={"ended_at": now, "hold": None, "queue": None}
    )
    return ended(over, False, "Cancelled", reason, now)
