"""AgentSession: its Job is made, watched and stopped, and its end becomes an outcome."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bernstein import agents
from bernstein.api.meta import ConditionType
from bernstein.api.plan import Plan
from bernstein.api.pod import AGENT
from bernstein.api.project import Project
from bernstein.api.projects.retention import Retention
from bernstein.api.reasons import Reason
from bernstein.api.session import AgentSession, AgentSessionStatus, PodRef
from bernstein.api.states import SessionState
from bernstein.api.task import Task
from bernstein.api.waiting import Abandoned
from bernstein.core import conditions, diagnosis, pods, runs
from bernstein.core.actions import Decision, RunFence
from bernstein.core.conditions import busy
from bernstein.core.fsm import ACTIVE, check_session_move
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.logs import agents as agents_logs
from bernstein.core.money.spend import belongs, is_kept
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.remedies import with_remedy
from bernstein.core.runs import State
from bernstein.core.sanitise import text as sanitise
from bernstein.core.sessions import documents, outcome, reading
from bernstein.core.sessions.actions import (
    DeleteJob,
    KeepLog,
    Launch,
    ReleasePods,
    ReleaseSession,
    SessionAction,
)
from bernstein.core.sessions.given import with_prompt
from bernstein.core.sessions.outcome import Ending
from bernstein.core.sessions.usage import possible_usage

STALE_SECONDS = 120
"""Without a heartbeat; then the session counts as silent."""
STOP_SECONDS = 60
"""A soft stop may take this long; then the Job is deleted, and the pod's grace begins."""
LATEST_SECONDS = 600
"""After its end, a session's Job is asked for by no late request any more: several times as long as
one may be on its way, because clocks differ. Else a process that is new, and knows of no requests
before it, would make a Job for every session that ever ended."""
TOLD_SECONDS = 10
"""A session that is starting says no more than it was born with for so long, unless something
keeps it: most agents are at work by then, and that is worth a write anyhow."""


@dataclass(frozen=True)
class SessionSnapshot:
    """Everything that the decision about one session looks at."""

    session: AgentSession
    job: JobView | None
    launchable: bool
    """See is_launchable."""
    settled: bool = True
    """Its cost and outcome are where they stay; see is_settled."""
    judged: str | None = None
    """See reading.judgement."""
    late: bool = False
    """Whether a request for its Job, to which nobody got an answer, may still be applied."""
    unfenceable: bool = False
    """The API server refuses a fence; it does not have a Job of that name either."""
    launched: bool = False
    """Whether this process has made or seen its Job, whatever its status says."""
    kept: Retention | None = None
    """What its Project keeps; None: that is gone, and nobody asks for a log any more."""


def expected_job(session: AgentSession, *, may_have_one: bool = False) -> str | None:
    """The Job that there must be, seen or not; None: none, or it does not matter any more.

    `may_have_one`: a Job may have been made of which its status does not tell yet.
    """
    if session.status.state is SessionState.DEAD:
        return None
    made = may_have_one or session.status.report is not None
    return session.status.job or (session.metadata.name if made else None)


def is_launchable(session: AgentSession, task: Task | None, project: Project | None) -> bool:
    """Whether Task and Project still are as the session knows them, and its CLI is known here.

    It may have been made by a newer operator, with an adapter that this one lacks.
    """
    if task is None or project is None or task.metadata.uid != session.spec.task_ref.uid:
        return False
    if task.status.session != session.metadata.name or task.status.state not in ACTIVE:
        return False  # made late, by a request that nobody waited for any more
    agent = project.spec.agent(session.spec.agent)
    return agent is not None and {agent.adapter, session.spec.adapter} <= {*agents.names()}


def is_settled(session: AgentSession, task: Task | None, plan: Plan | None) -> bool:
    """Whether nobody needs the session's object any more.

    With a Plan: its cost is in the Plan's status, which remembers deleted Tasks. Without one: its
    outcome is in its Task's status, or the Task is gone, too. `plan` is the one whose name the
    session has; it may be another Plan of that name.
    """
    if plan is not None and belongs(session, plan) and plan.metadata.deletion_timestamp is None:
        return is_kept(session, plan.status)
    if task is None or task.metadata.uid != session.spec.task_ref.uid:
        return True
    name = session.metadata.name
    if task.metadata.deletion_timestamp is not None or task.status.session != name:
        return True
    return any(attempt.session == name for attempt in task.status.attempts)


SessionDecision = Decision[AgentSessionStatus, SessionAction]


def decide(snapshot: SessionSnapshot, now: datetime) -> SessionDecision:
    """The session's next step."""
    return _told(snapshot, _decide(snapshot, now), now)


def _told(snapshot: SessionSnapshot, decision: SessionDecision, now: datetime) -> SessionDecision:
    session = snapshot.session
    status = reading.told(session, decision.status, snapshot.judged, now)
    if _rests(session, status, now):
        return replace(decision, status=session.status)
    return _with_documents(
        snapshot, _with_log(snapshot, replace(decision, status=status), now), now
    )


def _with_documents(
    snapshot: SessionSnapshot, decision: SessionDecision, now: datetime
) -> SessionDecision:
    """The decision with what becomes of what the agent left beside its code: that comes first. Of
    a session that is being deleted nobody will read it."""
    keep = documents.to_keep(snapshot.session.status, decision.status, snapshot.job, now)
    if keep is None or _is_deleted(snapshot.session):
        return decision
    return replace(decision, actions=(keep, *decision.actions))


def _with_log(
    snapshot: SessionSnapshot, decision: SessionDecision, now: datetime
) -> SessionDecision:
    """The decision with what becomes of the agent's log."""
    pod = snapshot.job.pod if snapshot.job is not None and snapshot.kept is not None else None
    if pod is None or not pods.has_started(pod, AGENT) or pods.is_disrupted(pod):
        return decision
    assert snapshot.kept is not None
    if agents_logs.is_to_keep(snapshot.session.status, decision.status, snapshot.kept, now):
        return replace(decision, actions=(KeepLog(pod), *decision.actions))
    left = agents_logs.seconds_until_late(decision.status, snapshot.kept, now)
    again = decision.requeue_after if left is None else min(decision.requeue_after or left, left)
    return replace(decision, requeue_after=again)


def _rests(session: AgentSession, status: AgentSessionStatus, now: datetime) -> bool:
    """Whether the status says nothing yet that is worth a write: its pod is made, as expected."""
    born = session.status.job is None and session.status.state is SessionState.STARTING
    if not born or status.state is not SessionState.STARTING or status.reason is not None:
        return False
    doing = [(each.type, each.reason) for each in status.conditions]
    created = session.metadata.creation_timestamp or now
    young = (now - created).total_seconds() < TOLD_SECONDS
    return young and doing in ([], [(ConditionType.RECONCILING, "Starting")])


def _decide(snapshot: SessionSnapshot, now: datetime) -> SessionDecision:
    session, job = snapshot.session, snapshot.job
    status = session.status.model_copy(update={"observed_generation": session.metadata.generation})
    if status.state is SessionState.DEAD:
        return _dead(snapshot, status, now)
    if status.job is None and not _is_launched(snapshot):
        return _launch(snapshot, status, now)
    if status.job is None:
        status = _of_its_job(session, status, job, now)
    assert status.job is not None
    if _may_come_again(snapshot):
        return SessionDecision(status, (RunFence(status.job),), LOOK_AGAIN_SECONDS)
    match runs.state(job, now):
        case State.ENDED:
            assert job is not None
            ended = outcome.classify(session, job)
            return _end(with_prompt(status, job, now), ended, now, session.spec.model)
        case State.WANTED | State.GONE:
            return _end(status, outcome.without_pod(session), now, session.spec.model)
        case State.LOST:
            assert job is not None
            why = diagnosis.without_end(job, now, silent=Reason.HEARTBEAT_LOST)
            assert why is not None
            return _end(status, outcome.lost(session, job, why), now, session.spec.model)
        case _:
            assert job is not None
            return _alive(session, job, status, now)


def refuse(snapshot: SessionSnapshot, reason: str, message: str, now: datetime) -> SessionDecision:
    """The end of a session that cannot be launched."""
    session = snapshot.session
    status = session.status.model_copy(update={"observed_generation": session.metadata.generation})
    return _told(snapshot, _never_started(status, reason, message, now), now)


def with_refusal(decision: SessionDecision, refused: str | None, now: datetime) -> SessionDecision:
    """The decision once its actions were executed; `refused`: what the API server did not let it
    do, if anything.

    A session that goes on although its Job should be gone is Stalled. One that has ended stays as
    it ended.
    """
    status = decision.status
    if refused is None and reading.is_held(status):
        return decision
    if refused is None or status.state is SessionState.DEAD:
        kept = conditions.drop(status.conditions, ConditionType.STALLED)
        return replace(decision, status=status.model_copy(update={"conditions": kept}))
    text = with_remedy(refused, Reason.WRITE_REFUSED)
    status = conditions.note(status, ConditionType.STALLED, True, Reason.WRITE_REFUSED, text, now)
    again = min(decision.requeue_after or PROBE_SECONDS, PROBE_SECONDS)
    return replace(decision, status=status, requeue_after=again)


def _never_started(
    status: AgentSessionStatus, reason: str, message: str, now: datetime
) -> SessionDecision:
    if status.state is None:
        # The first state is Starting; the end comes with the next look.
        return SessionDecision(_starting(status, now))
    return _end(status, Ending(outcome.failed(reason, message, started=False)), now)


def _launch(
    snapshot: SessionSnapshot, status: AgentSessionStatus, now: datetime
) -> SessionDecision:
    session, job = snapshot.session, snapshot.job
    if job is not None and not runs.is_fence(job):
        # Its agent may have run, even if the session is to stop now. Its first state is Starting.
        return SessionDecision(_starting(status, now).model_copy(update={"job": job.name}))
    unwanted = session.spec.stop is not None or _is_deleted(session)
    if job is None and snapshot.launchable and not unwanted:
        named = _starting(status, now).model_copy(update={"job": session.metadata.name})
        return SessionDecision(named, (Launch(),), LOOK_AGAIN_SECONDS)
    if job is None:
        return SessionDecision(
            _starting(status, now), (RunFence(session.metadata.name),), LOOK_AGAIN_SECONDS
        )
    reason = session.spec.stop.reason if session.spec.stop else Reason.CANCELLED
    return _never_started(status, reason, "never started", now)


def _is_launched(snapshot: SessionSnapshot) -> bool:
    """Whether there is or was a Job of which the status, which was born Starting, does not tell.

    Its agent may have run, even if the session is to stop now.
    """
    session, job = snapshot.session, snapshot.job
    if session.status.state is not SessionState.STARTING:
        return False
    seen = job is not None and not runs.is_fence(job)
    return seen or snapshot.launched or session.status.report is not None


def _of_its_job(
    session: AgentSession, status: AgentSessionStatus, job: JobView | None, now: datetime
) -> AgentSessionStatus:
    """The status with its Job and pod, which are told with what comes of them."""
    began = job.created if job is not None else session.metadata.creation_timestamp
    status = _starting(status, min(began or now, now))
    status = status.model_copy(update={"job": session.metadata.name})
    return _with_pod(status, job) if job is not None else status


def _may_come_again(snapshot: SessionSnapshot) -> bool:
    """Whether the Job was made and is gone, and a late request would make it again.

    Its agent would be a second one, beside that of the next session, or the first in its grace.
    """
    job = snapshot.job
    is_free = job is None or job.is_name_free
    return is_free and snapshot.late and not snapshot.unfenceable


def _starting(status: AgentSessionStatus, now: datetime) -> AgentSessionStatus:
    update = {"state": SessionState.STARTING, "started_at": now}
    return busy(status.model_copy(update=update), "Starting", "its pod is made", now)


def _is_deleted(session: AgentSession) -> bool:
    return session.metadata.deletion_timestamp is not None


def _dead(snapshot: SessionSnapshot, status: AgentSessionStatus, now: datetime) -> SessionDecision:
    job = snapshot.job
    actions: list[SessionAction] = [ReleasePods()]
    if job is not None and not runs.is_fence(job):
        actions.extend(_deletion(job))
    ended = status.ended_at
    is_recent = ended is None or now - ended < timedelta(seconds=LATEST_SECONDS)
    if status.job is not None and is_recent and _may_come_again(snapshot):
        actions.append(RunFence(status.job))
    if not _is_deleted(snapshot.session):
        return SessionDecision(status, tuple(actions))
    if not snapshot.settled:
        # What its Task or Plan writes is no event of the session.
        return SessionDecision(status, tuple(actions), LOOK_AGAIN_SECONDS)
    return SessionDecision(status, (*actions, ReleaseSession()))


def _end(
    status: AgentSessionStatus, ending: Ending, now: datetime, model: str = ""
) -> SessionDecision:
    """`model`: whose tokens were told, if any were."""
    check_session_move(status.state, SessionState.DEAD)
    # Leaders may have different clocks; a node has one.
    time = max(now - (status.started_at or now), ending.ran)
    status, usage = possible_usage(status, ending.usage, now, time, model)
    update = {
        "state": SessionState.DEAD,
        "outcome": ending.outcome,
        "work": ending.work,
        "documents": ending.documents or None,
        "usage": usage,
        "abandoned": None,
        "ended_at": now,
        "conditions": conditions.drop(
            status.conditions,
            *(ConditionType.STALE, ConditionType.RECONCILING, ConditionType.STALLED),
        ),
    }
    return SessionDecision(status.model_copy(update=update))


def _alive(
    session: AgentSession, job: JobView, status: AgentSessionStatus, now: datetime
) -> SessionDecision:
    """One look at a session whose pod has not ended for certain."""
    status = _with_pod(status, job)
    if job.pod is not None and pods.has_started(job.pod, AGENT):
        # Told with the move: it is worth no write of its own.
        status = _working(with_prompt(status, job, now), now)
    status = _held(_unscheduled(status, job, now), job, now)
    status = _staleness(_abandoned(status, job, now), now)
    if status.abandoned is not None or _is_deleted(session) or job.another:
        return SessionDecision(status, _deletion(job), LOOK_AGAIN_SECONDS)
    if session.spec.stop is not None:
        return _stopping(job, status, now, at_once=session.spec.stop.reason == Reason.KILLED)
    waiting = status.state is SessionState.STARTING
    return SessionDecision(status, (), LOOK_AGAIN_SECONDS if waiting else STALE_SECONDS / 4)


def _with_pod(status: AgentSessionStatus, job: JobView) -> AgentSessionStatus:
    if status.pod is not None or job.pod is None or not pods.is_scheduled(job.pod):
        return status
    meta = job.pod["metadata"]
    ref = PodRef(name=meta["name"], uid=meta["uid"], node=job.pod["spec"]["nodeName"])
    return status.model_copy(update={"pod": ref})


def _working(status: AgentSessionStatus, now: datetime) -> AgentSessionStatus:
    if status.state is not SessionState.STARTING:
        return status
    status = status.model_copy(update={"state": SessionState.WORKING})
    return busy(status, "Working", "the agent is at work", now)


def _unscheduled(status: AgentSessionStatus, job: JobView, now: datetime) -> AgentSessionStatus:
    """The status with what the scheduler says, long before the pod is given up."""
    if status.state is not SessionState.STARTING:
        return status
    words = diagnosis.unscheduled(job, now)
    if words is not None:
        return busy(status, Reason.UNSCHEDULABLE, words, now)
    doing = conditions.find(status.conditions, ConditionType.RECONCILING)
    was = doing is not None and doing.reason == Reason.UNSCHEDULABLE
    return busy(status, "Starting", "its pod is made", now) if was else status


def _held(status: AgentSessionStatus, job: JobView, now: datetime) -> AgentSessionStatus:
    """The status with what keeps its Job, where that should be gone: a person must look."""
    held = diagnosis.held(job, now)
    if held is not None:
        text = with_remedy(held.message, held.reason)
        return conditions.note(status, ConditionType.STALLED, True, held.reason, text, now)
    if not reading.is_held(status):
        return status
    kept = conditions.drop(status.conditions, ConditionType.STALLED)
    return status.model_copy(update={"conditions": kept})


def _abandoned(status: AgentSessionStatus, job: JobView, now: datetime) -> AgentSessionStatus:
    """The status with why its run is given up, if it is; that stays, whatever the pod does then."""
    if status.abandoned is not None:
        return status
    stuck = diagnosis.to_abandon(job, now, silent=Reason.HEARTBEAT_LOST)
    if stuck is None:
        return status
    abandoned = Abandoned(reason=stuck.reason, message=sanitise(stuck.message, 2000))
    status = status.model_copy(update={"abandoned": abandoned})
    return busy(status, "Ending", f"its pod is given up: {abandoned.message}", now)


def _deletion(job: JobView) -> tuple[SessionAction, ...]:
    return (DeleteJob(job),) if job.goes_on else ()


def _staleness(status: AgentSessionStatus, now: datetime) -> AgentSessionStatus:
    """The status with or without the condition Stale: no heartbeat for STALE_SECONDS."""
    if status.state is not SessionState.WORKING or status.report is None:
        return status
    beat = status.report.heartbeat_time
    if beat is None or now - beat <= timedelta(seconds=STALE_SECONDS):
        return status.model_copy(
            update={"conditions": conditions.drop(status.conditions, ConditionType.STALE)}
        )
    stale = conditions.put(
        status.conditions,
        ConditionType.STALE,
        "True",
        "NoHeartbeat",
        f"no heartbeat for more than {STALE_SECONDS} s",
        generation=status.observed_generation,
        now=now,
    )
    return status.model_copy(update={"conditions": stale})


def _stopping(
    job: JobView, status: AgentSessionStatus, now: datetime, *, at_once: bool
) -> SessionDecision:
    """One look at a session that was asked to stop; its Job is deleted after STOP_SECONDS, or where
    a person had it killed `at_once`: who waits for the server then may wait in vain."""
    status = conditions.note(
        status, ConditionType.STOPPING, True, "SoftStop", "the agent was asked to end", now
    )
    stopping = conditions.find(status.conditions, ConditionType.STOPPING)
    assert stopping is not None
    seconds = STOP_SECONDS - (now - stopping.last_transition_time).total_seconds()
    at_once = at_once or seconds <= 0 or status.state is SessionState.STARTING
    if not job.goes_on or at_once:
        return SessionDecision(status, _deletion(job), LOOK_AGAIN_SECONDS)
    return SessionDecision(status, (), seconds)
