"""A Task that is being deleted: nothing is done for it any more, but to follow what may be landing.
Who holds its deletion up is told, or its Plan would count on it for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core import labels, progress
from bernstein.core.actions import TaskDecision
from bernstein.core.approvals import asking
from bernstein.core.delivery import landing
from bernstein.core.fsm import is_final
from bernstein.core.sanitise import line, some
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.waiting import waits

_KUBERNETES = (labels.FOREGROUND, "orphan")
"""Finalizers that its garbage collector sets, and takes off by itself."""
_NAME = 100
"""Characters of a finalizer that are shown."""
HELD_SECONDS = 180
"""For so long nothing is said of what they keep: an agent's pod may take two minutes to end."""
_REMEDY = "Have whoever has set the finalizer take it off the Task: it goes then, and does no more."
_LOOK = (
    "Look at what keeps that from going, such as a finalizer, or a node that does not answer: "
    "`kubectl get bsess,jobs,pods`."
)


def decide_leaving(
    snapshot: TaskSnapshot, landing_of: Callable[[TaskStatus], TaskDecision], now: datetime
) -> TaskDecision:
    """The next step of a Task that is being deleted: Stalled where something keeps it, and its work
    was not over. A Task has no finalizer of ours.

    A land Job that was asked for may push as long as the Task is there, and what lands has to be
    written down: else the ref is on a commit that its Plan does not know. `landing_of` looks at it.
    """
    task, most = snapshot.task, snapshot.task.spec.max_retries
    decision = TaskDecision(task.status)
    if task.status.state is TaskState.DONE and landing.has_started(task.status):
        seen = task.status.model_copy(update={"observed_generation": task.metadata.generation})
        decision = landing_of(seen)
        told = progress.of_task(task, asking.withdrawn(decision.status), now)
        decision = replace(decision, status=told)
    if landing.has_started(decision.status) or is_final(decision.status, most):
        return decision
    kept, remedy = _by_somebody(task), _REMEDY
    if not kept and task.metadata.finalizers:
        seconds = _seconds_left(task, now)
        if seconds > 0:
            return replace(decision, requeue_after=seconds)
        kept, remedy = _by_kubernetes(snapshot), _LOOK
    if not kept:
        return decision
    status = asking.withdrawn(decision.status).model_copy(
        update={"observed_generation": task.metadata.generation}
    )
    text = f"it is being deleted, and kept by the finalizer {kept}: it does not go on"
    held = waits(status, Reason.DELETION_HELD, text, now, needs_person=True, remedy=remedy)
    return replace(decision, status=progress.of_task(task, held, now))


def _by_somebody(task: Task) -> str:
    """The finalizers of somebody else; "": there are none."""
    holders = [each for each in task.metadata.finalizers if each not in _KUBERNETES]
    return some((f"'{line(each, _NAME)}'" for each in holders), len(holders))


def _seconds_left(task: Task, now: datetime) -> float:
    """Until it is told that Kubernetes keeps it."""
    assert task.metadata.deletion_timestamp is not None
    return HELD_SECONDS + 1 - (now - task.metadata.deletion_timestamp).total_seconds()


def _by_kubernetes(snapshot: TaskSnapshot) -> str:
    """Its garbage collector's finalizers, and which of what the Task owns is there, of our kinds:
    objects of others may name it as their owner, too."""
    sessions = sorted(each.metadata.name for each in snapshot.own_sessions)
    left = [f"AgentSession '{name}'" for name in sessions]
    left += [f"Job '{name}'" for name in sorted(snapshot.jobs)]
    named = " and ".join(f"'{each}'" for each in snapshot.task.metadata.finalizers)
    there = some(left, len(left)) or "nothing of ours"
    return f"{named} until what it owns is gone, of which there is still {there}"
