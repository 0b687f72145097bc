"""AgentSession: from a Job to a classified outcome."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession, AgentSessionStatus, PodRef
from bernstein.api.states import SessionState
from bernstein.api.task import Task
from bernstein.core import conditions, outcome, pods
from bernstein.core.fsm import check_session_move
from bernstein.core.outcome import Ending
from bernstein.core.pods import JobView
from bernstein.core.progress import busy
from bernstein.core.spend import belongs, is_kept

STALE_SECONDS = 120
STOP_SECONDS = 60
"""A soft stop may take this long; then the Job is deleted, and the pod's grace begins."""
LOOK_AGAIN_SECONDS = 5


@dataclass(frozen=True)
class Launch:
    """Create the prompt's ConfigMap and the agent's Job."""


@dataclass(frozen=True)
class DeleteJob:
    job: JobView


@dataclass(frozen=True)
class ReleasePod:
    """Take our finalizer off the pod: its outcome is recorded."""

    job: JobView


@dataclass(frozen=True)
class ReleaseSession:
    """Take our finalizer off the session that is being deleted: it is settled."""


Intent = Launch | DeleteJob | ReleasePod | ReleaseSession


@dataclass(frozen=True)
class Snapshot:
    session: AgentSession
    job: JobView | None
    launchable: bool
    """Task and Project still exist as the session knows them."""
    settled: bool = True
    """Its cost and outcome are where they stay; see is_settled."""


def is_settled(session: AgentSession, task: Task | None, plan: Plan | None) -> bool:
    """Whether nobody will ask for the session any more.

    Its cost is in the Plan's status, which remembers deleted Tasks; where there is no Plan, its
    Task has the outcome in its status, or is gone, too. `plan`: the one of the name that the
    session knows.
    """
    if plan is not None and belongs(session, plan) and plan.metadata.deletion_timestamp is None:
        return is_kept(session, plan.status)
    if task is None or task.metadata.uid != session.spec.task_ref.uid:
        return True
    name = session.metadata.name
    if task.metadata.deletion_timestamp is not None or task.status.session != name:
        return True
    return any(attempt.session == name for attempt in task.status.attempts)


@dataclass(frozen=True)
class Decision:
    status: AgentSessionStatus
    intents: tuple[Intent, ...] = ()
    requeue_after: float | None = None


def decide(snapshot: Snapshot, now: datetime) -> Decision:
    """The session's next step."""
    session = snapshot.session
    status = session.status.model_copy(update={"observed_generation": session.metadata.generation})
    if status.state is SessionState.DEAD:
        return _dead(snapshot, status)
    if _is_deleted(session) and status.job is None and snapshot.job is None:
        return Decision(status, (ReleaseSession(),))
    if status.job is None:
        return _launch(snapshot, status, now)
    if snapshot.job is None or (snapshot.job.pod is None and snapshot.job.deleting):
        return _end(status, outcome.classify(session, None), None, now)
    if snapshot.job.pod is None:
        return _without_pod(snapshot, snapshot.job, status, now)
    if pods.phase(snapshot.job.pod) in ("Succeeded", "Failed"):
        return _end(status, outcome.classify(session, snapshot.job), snapshot.job, now)
    return _alive(snapshot, snapshot.job, status, now)


def refuse(snapshot: Snapshot, reason: str, message: str, now: datetime) -> Decision:
    """The end of a session that cannot be launched."""
    session = snapshot.session
    status = session.status.model_copy(update={"observed_generation": session.metadata.generation})
    return _never_started(status, reason, message, now)


def _never_started(
    status: AgentSessionStatus, reason: str, message: str, now: datetime
) -> Decision:
    if status.state is None:
        # The first state is Starting; the end comes with the next look.
        return Decision(_starting(status, now))
    ending = Ending(outcome.failed(reason, message, started=False))
    return _end(status, ending, None, now)


def _launch(snapshot: Snapshot, status: AgentSessionStatus, now: datetime) -> Decision:
    session = snapshot.session
    if snapshot.job is not None:
        # Made before a crash; its agent may have run, whatever is wanted of the session now.
        return Decision(_starting(status, now).model_copy(update={"job": snapshot.job.name}))
    if session.spec.stop is not None or not snapshot.launchable:
        reason = session.spec.stop.reason if session.spec.stop else "Cancelled"
        return _never_started(status, reason, "never started", now)
    named = _starting(status, now).model_copy(update={"job": session.metadata.name})
    return Decision(named, (Launch(),), LOOK_AGAIN_SECONDS)


def _starting(status: AgentSessionStatus, now: datetime) -> AgentSessionStatus:
    update = {"state": SessionState.STARTING, "started_at": now}
    return busy(status.model_copy(update=update), "Starting", "its pod is made", now)


def _is_deleted(session: AgentSession) -> bool:
    return session.metadata.deletion_timestamp is not None


def _dead(snapshot: Snapshot, status: AgentSessionStatus) -> Decision:
    job = snapshot.job
    intents: list[Intent] = [ReleasePod(job)] if job is not None and job.pod is not None else []
    if job is not None and job.goes_on:
        intents.append(DeleteJob(job))
    if not _is_deleted(snapshot.session):
        return Decision(status, tuple(intents))
    if not snapshot.settled:
        # Nothing tells the session when its Task or Plan has written.
        return Decision(status, tuple(intents), LOOK_AGAIN_SECONDS)
    return Decision(status, (*intents, ReleaseSession()))


def _end(
    status: AgentSessionStatus, ending: Ending, job: JobView | None, now: datetime
) -> Decision:
    check_session_move(status.state, SessionState.DEAD)
    update = {
        "state": SessionState.DEAD,
        "outcome": ending.outcome,
        "work": ending.work,
        "usage": ending.usage,
        "ended_at": now,
        "conditions": conditions.drop(status.conditions, "Stale", "Reconciling"),
    }
    stop = (DeleteJob(job),) if job is not None and job.goes_on else ()
    return Decision(status.model_copy(update=update), stop)


def _without_pod(
    snapshot: Snapshot, job: JobView, status: AgentSessionStatus, now: datetime
) -> Decision:
    session = snapshot.session
    stuck = pods.diagnose_waiting(job, now)
    if stuck is not None:
        ending = Ending(outcome.failed(stuck.reason, stuck.message, started=False))
        return _end(status, ending, job, now)
    if job.ended or status.pod is not None:
        return _end(status, outcome.classify(session, job), job, now)
    if (session.spec.stop is not None or _is_deleted(session)) and not job.deleting:
        return Decision(status, (DeleteJob(job),), LOOK_AGAIN_SECONDS)
    return Decision(status, (), LOOK_AGAIN_SECONDS)


def _alive(snapshot: Snapshot, job: JobView, status: AgentSessionStatus, now: datetime) -> Decision:
    assert job.pod is not None
    session = snapshot.session
    if status.pod is None and job.pod.get("spec", {}).get("nodeName"):
        meta = job.pod["metadata"]
        ref = PodRef(name=meta["name"], uid=meta["uid"], node=job.pod["spec"]["nodeName"])
        status = status.model_copy(update={"pod": ref})
    if not pods.is_running(job.pod, "agent"):
        stuck = pods.diagnose_waiting(job, now)
        if stuck is not None:
            ending = Ending(outcome.failed(stuck.reason, stuck.message, started=False))
            return _end(status, ending, job, now)
    elif status.state is SessionState.STARTING:
        status = status.model_copy(update={"state": SessionState.WORKING})
        status = busy(status, "Working", "the agent is at work", now)
    status = _staleness(status, now)
    if _is_lost(job, status):
        return _end(status, _lost(session), job, now)
    if _is_deleted(session):
        stop = () if job.deleting else (DeleteJob(job),)
        return Decision(status, stop, LOOK_AGAIN_SECONDS)
    if session.spec.stop is not None:
        return _stopping(job, status, now)
    waiting = status.state is SessionState.STARTING
    return Decision(status, (), LOOK_AGAIN_SECONDS if waiting else STALE_SECONDS / 4)


def _staleness(status: AgentSessionStatus, now: datetime) -> AgentSessionStatus:
    if status.state is not SessionState.WORKING or status.report is None:
        return status
    beat = status.report.heartbeat_time
    if beat is None or now - beat <= timedelta(seconds=STALE_SECONDS):
        return status.model_copy(update={"conditions": conditions.drop(status.conditions, "Stale")})
    stale = conditions.put(
        status.conditions,
        "Stale",
        "True",
        "NoHeartbeat",
        f"no heartbeat for more than {STALE_SECONDS} s",
        generation=status.observed_generation,
        now=now,
    )
    return status.model_copy(update={"conditions": stale})


def _stopping(job: JobView, status: AgentSessionStatus, now: datetime) -> Decision:
    started = pods.is_running(job.pod or {}, "agent")
    marked = conditions.put(
        status.conditions,
        "Stopping",
        "True",
        "SoftStop",
        "the agent was asked to end",
        generation=status.observed_generation,
        now=now,
    )
    status = status.model_copy(update={"conditions": marked})
    since = conditions.find(marked, "Stopping")
    assert since is not None
    left = STOP_SECONDS - (now - since.last_transition_time).total_seconds()
    if job.deleting:
        return Decision(status, (), LOOK_AGAIN_SECONDS)
    if left <= 0 or not started:
        return Decision(status, (DeleteJob(job),), LOOK_AGAIN_SECONDS)
    return Decision(status, (), left)


def _lost(session: AgentSession) -> Ending:
    """Its node answers nobody any more; the session's own ref fences off what it may yet push."""
    stop, report = session.spec.stop, session.status.report
    reason = stop.reason if stop is not None else "HeartbeatLost"
    ended = outcome.failed(reason, "no heartbeat, and its node is gone", started=True)
    return Ending(ended, usage=report.usage if report else None)


def _is_lost(job: JobView, status: AgentSessionStatus) -> bool:
    """Silent and its pod is bad too; a server that is down makes no session an orphan."""
    if not conditions.is_true(status.conditions, "Stale"):
        return False
    pod = job.pod or {}
    return pods.phase(pod) == "Unknown" or pods.reason(pod) == "NodeLost" or pods.is_disrupted(pod)
