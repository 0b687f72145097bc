"""What people ask of a Task beside its work.

Retry    Failed for good, or in conflict ─▶ another round of attempts
         Open, Done, and to be tried later ▶ it is tried at once
         Done, its base fails, no Plan ────▶ the same work is judged on the branch as it is now
Remerge  Done, its merge has failed ──────▶ the merge alone is tried again
Verify   Done, or Failed for good ────────▶ see `judged_anew`
Unblock  Blocked ─────────────────────────▶ Open
Unclaim  Claimed ── its session ends ─────▶ Open
Kill     InProgress ── its session ends ──▶ Orphaned, and Open; before its agent began: Open

The last two are answered with the move that the end of the session is. So whatever crashes before
finds the request without an answer, and the session told to stop. It is told so by the first of
them: the other one is answered by what that came to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from bernstein.api.reasons import Reason
from bernstein.api.requests import (
    KILL,
    REMERGE,
    RETRY,
    UNBLOCK,
    UNCLAIM,
    VERIFY,
    RefusalReason,
    TaskRequest,
)
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Round, TaskStatus
from bernstein.core import requests
from bernstein.core.actions import StopSession, TaskAction, TaskDecision, give_up
from bernstein.core.delivery import conflict, landing, proposal
from bernstein.core.delivery.proposed import pushed
from bernstein.core.fsm import is_final, move
from bernstein.core.plans.nodes import standing
from bernstein.core.sanitise import line
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks import blocked, judged_anew
from bernstein.core.tasks.parts import subtasks
from bernstein.core.tasks.running import session_ended
from bernstein.core.verification import round as rounds
from bernstein.core.verification.look import judging
from bernstein.core.waiting import goes_on, is_tried_later, is_trying, tried_at_once

Verb = Callable[[TaskSnapshot, TaskStatus, TaskRequest, datetime], TaskDecision]
"""Its status has the answer, or has none yet: then its actions come first."""
Refusal = tuple[str, str]
"""(reason, message)"""
_WITH_SESSION = (TaskState.CLAIMED, TaskState.IN_PROGRESS)


def answered(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The status with the answers that can be given now, and what the others need first.

    It is the same status where none can be given, so that what the Task does goes on.
    """

    def step(so_far: TaskStatus, request: TaskRequest) -> TaskDecision:
        refusal = _cancelled(snapshot, so_far)
        if refusal is not None:
            return _refused(snapshot, so_far, request, refusal, now)
        return VERBS[request.verb](snapshot, so_far, request, now)

    new, actions, again = requests.each(status, snapshot.task.spec.requests, VERBS, step, now)
    if new.state is not status.state:
        # What was begun for another state ends.
        return TaskDecision(new, give_up(judging(snapshot.jobs)))
    return TaskDecision(new, _told_once(snapshot.session, actions), again)


def _told_once(
    session: AgentSession | None, actions: tuple[TaskAction, ...]
) -> tuple[TaskAction, ...]:
    """A session is told to stop once, and why is never changed: the first who asked counts, and
    the others wait for its end."""
    stops = [action for action in actions if isinstance(action, StopSession)]
    told = session is not None and session.spec.stop is not None
    return tuple(a for a in actions if a not in stops) + tuple(() if told else stops[:1])


def _cancelled(snapshot: TaskSnapshot, status: TaskStatus) -> Refusal | None:
    if snapshot.task.spec.cancel is not None or status.state is TaskState.CANCELLED:
        return RefusalReason.CANCELLED, "it was cancelled"
    return None


def _plan_is_over(snapshot: TaskSnapshot) -> Refusal | None:
    """Why nothing of its Plan begins any more."""
    plan = snapshot.plan
    if snapshot.plan_missing:
        return RefusalReason.PLAN_ENDED, "its Plan is gone or being deleted"
    if plan is None:
        return None
    if plan.spec.cancel is not None:
        return RefusalReason.CANCELLED, "its Plan was cancelled"
    if plan.status.ended_at is not None and plan.status.phase != "Failed":
        return RefusalReason.PLAN_ENDED, f"its Plan has ended: {plan.status.phase}"
    if plan.status.partial is not None:
        text = "what is Closed of its Plan is being delivered without it"
        return RefusalReason.BEING_DELIVERED, text
    return None


# --- another round --------------------------------------------------------------------------------


def _retry(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, now: datetime
) -> TaskDecision:
    """Another round of attempts: of a Task that has failed for good, or does not merge."""
    refusal = _plan_is_over(snapshot)
    if refusal is None and _is_tried_later(snapshot, status, now):
        status = tried_at_once(status, now)
        return _done(snapshot, status, request, requests.AT_ONCE, now)
    if refusal is None and rounds.is_of_base(status) and snapshot.plan is None:
        status = landing.on_newer_tip(status)
        return _done(snapshot, status, request, requests.ON_THE_TIP, now)
    refusal = refusal or _not_failed(snapshot, status) or _pushed_to(status)
    refusal = refusal or _went_on(snapshot)
    if refusal is not None:
        return _refused(snapshot, status, request, refusal, now)
    number = 1 + (status.round.number if status.round is not None else 0)
    update = {
        "round": Round(number=number, since=status.attempt),
        "infrastructure_failures": 0,
        "gate_errors": 0,
        "resolved": None,
        "ended_at": None,
    }
    status = goes_on(status.model_copy(update=update))
    # From Done it takes two moves, and one write makes one of them: `failed` makes the other.
    done = status.state is TaskState.DONE
    to, why = (TaskState.FAILED, Reason.MERGE_CONFLICT) if done else (TaskState.OPEN, RETRY)
    status = move(status, to, why, now, actor=request.by)
    return _done(snapshot, status, request, f"round {number + 1} of its attempts begins", now)


def _is_tried_later(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> bool:
    """Whether that is all that it waits for: in conflict it needs another attempt."""
    if status.state not in (TaskState.OPEN, TaskState.DONE) or conflict.is_stalled(status):
        return False
    return is_tried_later(status, snapshot.project, now)


def _not_failed(snapshot: TaskSnapshot, status: TaskStatus) -> Refusal | None:
    if rounds.is_of_base(status):
        return _on_failing_base(status)
    failed = status.state is TaskState.FAILED and is_final(status, snapshot.task.spec.max_retries)
    if not failed and not conflict.is_stalled(status):
        return RefusalReason.NOTHING_TO_RETRY, _state_of(status)
    return None


def _went_on(snapshot: TaskSnapshot) -> Refusal | None:
    """The workflow has taken its end, and may run something else because of it."""
    plan, name = snapshot.plan, snapshot.task.metadata.name
    if plan is None or standing.may_retry(plan, plan.status, name):
        return None
    text = "its Plan's workflow goes on from how it ended: ask once that has failed as a whole"
    return RefusalReason.NOTHING_TO_RETRY, text


def _pushed_to(status: TaskStatus) -> Refusal | None:
    """What a new attempt made would never be delivered."""
    if not pushed.holds(status.delivery):
        return None
    text = f"{pushed.HOLDS}, which a new attempt would lack: push there what mends it, or cancel it"
    return RefusalReason.PUSHED_TO, text


def _on_failing_base(status: TaskStatus) -> Refusal:
    """The reason has what helps, which the state alone does not tell."""
    assert status.verification is not None
    return Reason.BASE_FAILS, rounds.told_of_base(status.verification)


# --- the merge alone ------------------------------------------------------------------------------


def _remerge(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, now: datetime
) -> TaskDecision:
    """The merge of verified work is tried again, as if the time for that had come."""
    refusal = _plan_is_over(snapshot) or _not_to_merge(status)
    if refusal is not None:
        return _refused(snapshot, status, request, refusal, now)
    status = goes_on(status)
    if conflict.is_met(status):
        assert status.delivery is not None
        pending = status.delivery.model_copy(update={"state": "Pending"})
        status = status.model_copy(update={"delivery": pending})
    return _done(snapshot, status, request, "its merge is tried again", now)


def _not_to_merge(status: TaskStatus) -> Refusal | None:
    judged, waiting = status.verification, status.waiting
    if rounds.is_of_base(status):
        return _on_failing_base(status)
    if status.state is not TaskState.DONE:
        return RefusalReason.NOTHING_TO_MERGE, _state_of(status)
    if judged is None or (judged.passed is not True and not landing.is_lost(status)):
        return RefusalReason.NOTHING_TO_MERGE, "it is not verified"
    people = proposal.of_people(status)
    if people is not None:
        return RefusalReason.NOTHING_TO_MERGE, people
    tried = waiting.tried if waiting is not None else None
    failed = waiting is not None and tried is not None and tried.reason == waiting.reason
    if not failed or (is_trying(status) and not conflict.is_met(status)):
        return RefusalReason.NOTHING_TO_MERGE, "its delivery goes on by itself"
    return None


# --- its work once more ---------------------------------------------------------------------------


def _verify(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, now: datetime
) -> TaskDecision:
    refusal = _plan_is_over(snapshot) if status.state is TaskState.DONE else None
    if refusal is not None:
        return _refused(snapshot, status, request, refusal, now)
    return judged_anew.verify(snapshot, status, request, now)


# --- what it waits for ----------------------------------------------------------------------------


def _unblock(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, now: datetime
) -> TaskDecision:
    """Open again; its next agent is told what the person says."""
    refusal = _plan_is_over(snapshot)
    if refusal is None and status.state is not TaskState.BLOCKED:
        refusal = RefusalReason.NOT_BLOCKED, _state_of(status)
    if refusal is not None:
        return _refused(snapshot, status, request, refusal, now)
    if status.blocked is not None:
        update = {"answer": line(request.reason, 300), "times": 0}
        told = status.blocked.model_copy(update=update)
        status = status.model_copy(update={"blocked": told})
    status = blocked.opened(subtasks.given_up(status), now, actor=request.by)
    return _done(snapshot, status, request, "it is Open again", now)


# --- its session ----------------------------------------------------------------------------------


def _unclaim(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, now: datetime
) -> TaskDecision:
    session = snapshot.session
    if session is None and status.state is TaskState.CLAIMED:
        # A session that is still asked for finds that it is not wanted, and starts nothing.
        status = goes_on(move(status, TaskState.OPEN, Reason.UNCLAIMED, now, actor=request.by))
        return _done(snapshot, status, request, "it is Open again", now)
    if _is_told_to_stop(status, session, Reason.UNCLAIMED):
        return _ended(snapshot, status, request, Reason.UNCLAIMED, now)
    if status.state is not TaskState.CLAIMED or session is None or _has_begun(session):
        refusal = RefusalReason.NOT_CLAIMED, _state_of(status)
        if session is not None and status.state in _WITH_SESSION:
            refusal = RefusalReason.NOT_CLAIMED, "its agent is at work, or has just ended"
        return _refused(snapshot, status, request, refusal, now)
    return TaskDecision(status, (StopSession(Reason.UNCLAIMED),))


def _kill(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, now: datetime
) -> TaskDecision:
    session = snapshot.session
    if _is_told_to_stop(status, session, Reason.KILLED):
        return _ended(snapshot, status, request, Reason.KILLED, now)
    alive = session is not None and session.status.state is not SessionState.DEAD
    if status.state is TaskState.CLAIMED and session is None:
        return _unclaim(snapshot, status, request, now)
    if status.state not in _WITH_SESSION or not alive:
        refusal = RefusalReason.NOTHING_TO_KILL, _state_of(status)
        return _refused(snapshot, status, request, refusal, now)
    return TaskDecision(status, (StopSession(Reason.KILLED),))


def _is_told_to_stop(status: TaskStatus, session: AgentSession | None, why: str) -> bool:
    if session is None or status.state not in _WITH_SESSION or session.spec.stop is None:
        return False
    return session.spec.stop.reason == why


def _has_begun(session: AgentSession) -> bool:
    return session.status.state not in (None, SessionState.STARTING)


def _ended(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, why: str, now: datetime
) -> TaskDecision:
    """What follows from a session that was told to stop: nothing before it has ended."""
    session = snapshot.session
    assert session is not None
    outcome = session.status.outcome
    if session.status.state is not SessionState.DEAD or outcome is None:
        return TaskDecision(status)
    if outcome.reason != why:
        text = f"its session had ended by then: {outcome.reason}"
        refusal = RefusalReason.NOTHING_TO_KILL, text
        return _refused(snapshot, status, request, refusal, now)
    if status.state is TaskState.CLAIMED and outcome.started:
        # It is InProgress first: one write makes one move.
        return TaskDecision(status)
    status = session_ended(snapshot, session, status, now, actor=request.by)
    return _done(snapshot, status, request, f"its session was ended: it is {status.state}", now)


# --- answers --------------------------------------------------------------------------------------


def _state_of(status: TaskStatus) -> str:
    return f"it is {status.state or TaskState.OPEN}"


def _done(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, text: str, now: datetime
) -> TaskDecision:
    asked = snapshot.task.spec.requests
    return TaskDecision(requests.done(status, asked, request, text, now))


def _refused(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, why: Refusal, now: datetime
) -> TaskDecision:
    asked = snapshot.task.spec.requests
    return TaskDecision(requests.refused(status, asked, request, *why, now))


VERBS: Mapping[str, Verb] = {
    RETRY: _retry,
    REMERGE: _remerge,
    VERIFY: _verify,
    UNBLOCK: _unblock,
    UNCLAIM: _unclaim,
    KILL: _kill,
}
