"""Claimed and InProgress: the Task follows its session, and decides what its end means."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.meta import ConditionType
from bernstein.api.reasons import Reason
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.verification import Verification
from bernstein.api.waiting import WaitReason
from bernstein.core.actions import CreateSession, TaskDecision
from bernstein.core.conditions import find
from bernstein.core.fsm import ACTIVE, move
from bernstein.core.reasons import policy
from bernstein.core.scheduling import chain, opening
from bernstein.core.sessions import documents
from bernstein.core.sessions.object import session_object
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks import blocked, produced
from bernstein.core.tasks.attempts import (
    blamed,
    count_failure,
    infrastructure,
    not_counted,
    refused,
    settle,
)
from bernstein.core.tasks.parts import subtasks
from bernstein.core.verification import formatted, summary
from bernstein.core.verification.expected.task import change_problem, specs_of
from bernstein.core.waiting import goes_on, is_stalled, parted, waits

_NO_MARKS = "the files in conflict are not at their ref any more"
STOPPED_BY_PERSON = (Reason.KILLED, Reason.UNCLAIMED)


def decide_running(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step of a Task that has a session, or is to get one."""
    session = snapshot.session
    if session is None:
        return _without_session(snapshot, status, now)
    state = session.status.state
    if state in (None, SessionState.STARTING):
        return TaskDecision(_starting(snapshot, session, status, now))
    if status.state is TaskState.CLAIMED and _ran(session):
        return TaskDecision(goes_on(move(status, TaskState.IN_PROGRESS, "AgentStarted", now)))
    if state is not SessionState.DEAD:
        return TaskDecision(status)
    if documents.subtasks_of(session.status) is not None:
        return subtasks.begins(snapshot, session, status, now)
    return TaskDecision(session_ended(snapshot, session, status, now))


def _without_session(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    if status.state is not TaskState.CLAIMED:
        return TaskDecision(
            infrastructure(snapshot, status, Reason.POD_LOST, "its AgentSession was deleted", now)
        )
    if snapshot.late_claim:
        return TaskDecision(move(status, TaskState.OPEN, WaitReason.MAX_AGENTS, now))
    if snapshot.refused is not None:
        return TaskDecision(refused(status, snapshot, snapshot.refused, now))
    wait = chain.first(chain.LAUNCH, snapshot, now)
    if wait is None:
        return TaskDecision(status, (CreateSession(session_object(snapshot, status)),))
    return TaskDecision(move(status, TaskState.OPEN, wait.reason, now))


def _starting(
    snapshot: TaskSnapshot, session: AgentSession, status: TaskStatus, now: datetime
) -> TaskStatus:
    """The status with what keeps its session from starting: that its pod finds no node."""
    doing = find(session.status.conditions, ConditionType.RECONCILING)
    if is_stalled(status):
        return status  # what it tries needs a person until it has worked
    if session.status.reason == Reason.UNSCHEDULABLE and doing is not None:
        return waits(status, Reason.UNSCHEDULABLE, doing.message, now)
    waiting = status.waiting
    if waiting is None or waiting.reason != Reason.UNSCHEDULABLE:
        return status
    return status.model_copy(update={"waiting": opening.still_waiting(snapshot, status, now)})


def as_its_session(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    """The status of a Task whose session needs a person: so does the Task."""
    session = snapshot.session
    if session is None or status.state not in ACTIVE or is_stalled(status):
        return status
    stall = find(session.status.conditions, ConditionType.STALLED)
    if stall is None or stall.status != "True":
        return status
    text, remedy = parted(stall.message)
    return waits(status, stall.reason, text, now, needs_person=True, remedy=remedy)


def _ran(session: AgentSession) -> bool:
    """Whether its agent was started."""
    if session.status.state is SessionState.DEAD:
        return bool(session.status.outcome and session.status.outcome.started)
    return True


def session_ended(
    snapshot: TaskSnapshot,
    session: AgentSession,
    status: TaskStatus,
    now: datetime,
    actor: str = "operator",
) -> TaskStatus:
    """The status that follows. `actor`: who had it ended, where somebody had."""
    outcome, work = session.status.outcome, session.status.work
    assert outcome is not None
    reason, message = outcome.reason, outcome.message
    if reason == "Succeeded" and _lacks_conflict(snapshot, session):
        reason, message = Reason.REF_MOVED, _NO_MARKS
    if reason == "Succeeded" and work is not None:
        problem = change_problem(snapshot.task, outcome, work)
        problem = problem or produced.problem(snapshot, session)
        if problem is None:
            settled = settle(snapshot, session, status, "Succeeded", "", counted=True)
            return _reported_done(snapshot, settled, session, now)
        reason, message = problem
    reason, message = blamed(session, status) or (reason, message)
    if reason == Reason.BLOCKED and (refusal := blocked.once_too_often(status, message)):
        reason, message = Reason.BLOCK_REFUSED, refusal
    counts = policy(reason).counts
    status = settle(snapshot, session, status, reason, message, counted=counts)
    ref, sha = _checkpoint(session, status, reason)
    status = status.model_copy(update={"checkpoint": ref, "checkpoint_sha": sha})
    if counts:
        return count_failure(snapshot, status, reason, message, now)
    if reason == Reason.BLOCKED:
        return blocked.begins(snapshot, status, session, now)
    if reason in STOPPED_BY_PERSON:
        return _given_back(status, reason, now, actor)
    return not_counted(status, snapshot, session, reason, message, now)


def _lacks_conflict(snapshot: TaskSnapshot, session: AgentSession) -> bool:
    """It was to resolve a conflict, and nobody has told that it began with that: what it left may
    undo what people have done on the branch."""
    given = session.status.prompt
    return snapshot.resolves is not None and (given is None or given.resumed is not True)


def _given_back(status: TaskStatus, reason: str, now: datetime, actor: str) -> TaskStatus:
    """The status of a Task whose session a person had ended: that costs no attempt."""
    killed = reason == Reason.KILLED and status.state is TaskState.IN_PROGRESS
    to = TaskState.ORPHANED if killed else TaskState.OPEN
    return goes_on(move(status, to, reason, now, actor=actor))


def _checkpoint(
    session: AgentSession, status: TaskStatus, reason: str
) -> tuple[str | None, str | None]:
    """Ref and commit that the next session goes on from; without a ref it starts from the tip.

    A commit that was only reported may not have been pushed, or another one after it: what is at
    the ref then is known to nobody.
    """
    if not policy(reason).keeps_work:
        return None, None
    work, report = session.status.work, session.status.report
    if work is not None and work.sha != work.base:
        return session.spec.work_ref, work.sha
    if report is not None and report.checkpoint is not None:
        return session.spec.work_ref, None
    return status.checkpoint, status.checkpoint_sha


def _reported_done(
    snapshot: TaskSnapshot, status: TaskStatus, session: AgentSession, now: datetime
) -> TaskStatus:
    """Done is only what the agent reports: its work has yet to be judged."""
    work = session.status.work
    assert work is not None
    judged = Verification(
        base=work.base,
        sha=work.sha,
        tree=work.tree,
        ref=work.ref,
        files_changed=work.files_changed,
        most_changed=work.most_changed,
        tests_weakened=work.tests_weakened,
        checks_configured=work.checks_configured,
        python_changed=work.python_changed,
        tests_changed=work.tests_changed,
        deps_changed=work.deps_changed,
        protected=work.protected,
        protected_more=work.protected_more,
        protected_files=work.protected_files,
        protected_by=work.protected_by,
    )
    if snapshot.project is not None:
        # Known already, so that the first look at it has nothing to write.
        checks = specs_of(snapshot.with_status(status), judged)
        known = {
            "policy": summary.digest_of_checks(checks),
            "formatting": formatted.to_begin(checks),
        }
        judged = judged.model_copy(update=known)
    output = documents.output_of(session.metadata.name, session.status)
    begun = {
        "output": output,
        "infrastructure_failures": 0,
        "checkpoint": None,
        "checkpoint_sha": None,
    }
    return move(status, TaskState.DONE, "Reported", now).model_copy(
        update={"verification": judged, **begun}
    )
