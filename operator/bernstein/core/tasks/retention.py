"""How long a Task is kept that has ended: as long as its Plan; without one, as its Project says.

has an owner, or a tool delivers it ────────────────▶ stays: that deletes it, or makes it anew
 └─▶ another Task depends on it that has not ended ─▶ stays until that has
      └─▶ `retention.tasksSeconds` are over ────────▶ is deleted, with all that it owns
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from bernstein.api.meta import Metadata
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import DeleteTask, TaskDecision
from bernstein.core.fsm import is_final
from bernstein.core.snapshot import TaskSnapshot

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
    """The decision about the Task, with its deletion where its time is over.

    While anything else is left to be done about it, or to be written, that comes first.
    """
    due = due_at(snapshot)
    if due is None or decision.actions or decision.status != snapshot.status:
        return decision
    left = (due - now).total_seconds()
    if left <= 0:
        return replace(decision, actions=(DeleteTask(),))
    again = decision.requeue_after
    return replace(decision, requeue_after=left if again is None else min(left, again))


def due_at(snapshot: TaskSnapshot) -> datetime | None:
    """When the Task is to be deleted; None: not by its own age, or not yet."""
    task, project = snapshot.task, snapshot.project
    seconds = project.spec.retention.tasks_seconds if project is not None else 0
    ended = ended_at(task)
    if not seconds or ended is None or not stands_alone(task.metadata):
        return None
    if any(ended_at(other) is None for other in snapshot.dependants):
        return None
    return ended + timedelta(seconds=seconds)


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
