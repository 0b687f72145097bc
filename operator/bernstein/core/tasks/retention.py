"""What goes of a Task: sessions that came to nothing, and the Task itself some time after its end.

One that has ended is kept as long as its Plan; without one, as its Project says, or as a Project
that says nothing where its own is gone: else it would stay for ever.

has an owner, or a tool delivers it ──────────▶ stays: that deletes it, or makes it anew
 └─▶ another Task may still need it ──────────▶ stays until that has ended, or is deleted
      └─▶ `retention.tasksSeconds` are over ──▶ is deleted, with all that it owns

Of sessions that never started an agent the newest few stay, for people who look for the reason:
what was tried again and again would leave thousands.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

from bernstein.api.meta import Metadata, UsageCounts
from bernstein.api.project import Project
from bernstein.api.projects.retention import Retention
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import DeleteSession, DeleteTask, TaskDecision
from bernstein.core.fsm import is_final
from bernstein.core.money.spend import settled_sessions, usage_of
from bernstein.core.snapshot import TaskSnapshot

DELETED_AT_ONCE = 20
"""Sessions of one look; the event of each is reason for another one."""
DELIVERED_BY = (
    "app.kubernetes.io/instance",  # Argo CD, by labels
    "argocd.argoproj.io/tracking-id",
    "kustomize.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/name",
    "meta.helm.sh/release-name",
)
"""Labels and annotations of tools that apply again what is missing: deleted, the Task would run
once more, and be paid for."""


def applied(snapshot: TaskSnapshot, decision: TaskDecision, now: datetime) -> TaskDecision:
    """The decision about the Task, with its deletion where its time is over, and that of sessions
    that nobody needs any more.

    While anything else is left to be done about the Task, or to be written, that comes first.
    """
    due, spare = due_at(snapshot), tuple(map(DeleteSession, spare_sessions(snapshot)))
    if due is None or decision.actions or decision.status != snapshot.status:
        return replace(decision, actions=(*decision.actions, *spare))
    left = (due - now).total_seconds()
    if left <= 0:
        return replace(decision, actions=(DeleteTask(),))
    again = decision.requeue_after
    soonest = left if again is None else min(left, again)
    return replace(decision, actions=spare, requeue_after=soonest)


def spare_sessions(snapshot: TaskSnapshot) -> list[AgentSession]:
    """Those to be deleted, the oldest first: dead, without an agent, without a token, and written
    down in the Task's status."""
    if snapshot.project is None:
        return []
    known = [s for s in snapshot.own_sessions if s.metadata.deletion_timestamp is None]
    unstarted = sorted((s for s in known if _came_to_nothing(s)), key=lambda s: s.spec.number)
    older = unstarted[: -snapshot.project.spec.retention.unstarted_sessions]
    settled = settled_sessions(snapshot.task)
    spare = (s for s in older if s.spec.number <= settled and not _is_current(snapshot, s))
    return list(islice(spare, DELETED_AT_ONCE))


def _is_current(snapshot: TaskSnapshot, session: AgentSession) -> bool:
    return session.metadata.name == snapshot.status.session


def _came_to_nothing(session: AgentSession) -> bool:
    """Its run is over, and started no agent; a token that it reports all the same would count."""
    outcome = session.status.outcome
    if session.status.state is not SessionState.DEAD or outcome is None or outcome.started:
        return False
    return usage_of(session) in (None, UsageCounts())


def due_at(snapshot: TaskSnapshot) -> datetime | None:
    """When the Task is to be deleted; None: not by its own age, or not yet."""
    task, seconds = snapshot.task, kept_by(snapshot.project).tasks_seconds
    ended = ended_at(task)
    if not seconds or ended is None or not stands_alone(task.metadata):
        return None
    if any(map(needs_upstream, snapshot.dependants)):
        return None
    return ended + timedelta(seconds=seconds)


def kept_by(project: Project | None) -> Retention:
    """What holds for Tasks of this Project; of one that is gone what Projects say by default."""
    return project.spec.retention if project is not None else Retention()


def needs_upstream(task: Task) -> bool:
    """Whether the Task may still ask for those that it depends on; one that is being deleted begins
    nothing any more, however long a finalizer holds it."""
    return task.metadata.deletion_timestamp is None and ended_at(task) is None


def ended_at(task: Task) -> datetime | None:
    """When the Task ended for good; an older release wrote down its last move only."""
    status: TaskStatus = task.status
    if not is_final(status, task.spec.max_retries):
        return None
    last = status.history[-1].time if status.history else task.metadata.creation_timestamp
    return status.ended_at or last


def stands_alone(metadata: Metadata) -> bool:
    """Whether nothing but the Project's time says how long it is kept."""
    marks = {*metadata.labels, *metadata.annotations}
    return not metadata.owner_references and marks.isdisjoint(DELIVERED_BY)
