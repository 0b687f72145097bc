"""What a session's status says in one word, and whether it succeeded: what follows from the rest.

How the run ended, which is the session's own, and how what it left was judged, which its Task says,
are two things. A run that claims success is none before its work is verified:

    the run failed ─────────────────▶ Succeeded False, why
    it reports success ─┬───────────▶ Succeeded Unknown, Unverified
                        ├─ verified ▶ Succeeded True, Verified
                        └─ rejected ▶ Succeeded False, what said no
"""

from __future__ import annotations

from datetime import datetime

from bernstein.api.meta import ConditionType
from bernstein.api.reasons import Reason
from bernstein.api.session import AgentSession, AgentSessionStatus
from bernstein.api.states import SessionState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.conditions import Truth, find, is_true, put

REPORTED = "Succeeded"
"""How a run ended that reports success, in the words of its outcome and its Task's attempts."""
UNVERIFIED = "Unverified"
VERIFIED = "Verified"


def judgement(session: AgentSession, task: Task | None) -> str | None:
    """How its Task has judged what it left; None: not yet, or nobody knows it any more.

    `task` is the one whose name the session has; it may be another one of that name.
    """
    if task is None or task.metadata.uid != session.spec.task_ref.uid:
        return None
    return judged_by(task.status, session.metadata.name)


def judged_by(status: TaskStatus, session: str) -> str | None:
    """How a Task with this status has judged what its session of this name left."""
    ended = next((each for each in status.attempts if each.session == session), None)
    if ended is None:
        return None
    if ended.reason != REPORTED:
        return ended.reason
    judged = status.verification if status.session == session else None
    return VERIFIED if judged is not None and judged.passed else None


def told(
    session: AgentSession, status: AgentSessionStatus, judged: str | None, now: datetime
) -> AgentSessionStatus:
    """The status that was decided, with its reason, and at its end with the condition Succeeded.

    What was judged once stays, unless its Task says something else.
    """
    if status.state is not SessionState.DEAD or status.outcome is None:
        return status.model_copy(update={"reason": _while_it_runs(session, status)})
    outcome = status.outcome.reason
    if outcome == REPORTED:
        status = status.model_copy(update={"judgement": judged or status.judgement})
    truth, reason, text = of_end(outcome, status.judgement)
    conditions = put(
        status.conditions,
        ConditionType.SUCCEEDED,
        truth,
        reason,
        text,
        generation=status.observed_generation,
        now=now,
    )
    return status.model_copy(update={"reason": reason, "conditions": conditions})


def of_end(outcome: str, judgement: str | None) -> tuple[Truth, str, str]:
    """Of one that has ended: whether it succeeded, the one word for that, and what is said of it.

    `outcome`: the reason of its outcome. `judgement`: of its work; read where it reports success.
    """
    if outcome != REPORTED:
        return "False", outcome, "status.outcome says how"
    match judgement:
        case None:
            text = "the agent reports success; what it left is not judged yet"
            return "Unknown", UNVERIFIED, text
        case "Verified":
            return "True", VERIFIED, "what it left has passed every check"
        case rejected:
            text = "the agent reported success, and what it left was rejected; its Task says why"
            return "False", rejected, text


def _while_it_runs(session: AgentSession, status: AgentSessionStatus) -> str | None:
    """Why it ends or does not get on; None: it is at work, or about to be."""
    if is_held(status):
        return Reason.DELETION_HELD
    if status.abandoned is not None:
        return status.abandoned.reason
    if session.spec.stop is not None:
        return session.spec.stop.reason
    if is_true(status.conditions, ConditionType.STALE):
        return "NoHeartbeat"
    doing = find(status.conditions, ConditionType.RECONCILING)
    unscheduled = doing is not None and doing.reason == Reason.UNSCHEDULABLE
    return Reason.UNSCHEDULABLE if unscheduled else None


def is_held(status: AgentSessionStatus) -> bool:
    """Whether something keeps its Job, which was told to go."""
    stall = find(status.conditions, ConditionType.STALLED)
    return stall is not None and stall.reason == Reason.DELETION_HELD
