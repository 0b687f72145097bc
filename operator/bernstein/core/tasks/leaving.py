"""A Task that is being deleted: nothing is done for it any more. Who holds its deletion up is told,
or its Plan would count on it for ever."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.reasons import Reason
from bernstein.api.task import Task, TaskStatus
from bernstein.core import labels, progress
from bernstein.core.approvals import asking
from bernstein.core.fsm import is_final
from bernstein.core.sanitise import line, some
from bernstein.core.waiting import waits

_KUBERNETES = (labels.FOREGROUND, "orphan")
"""Finalizers that its garbage collector sets, and takes off by itself."""
_NAME = 100
"""Characters of a finalizer that are shown."""
_REMEDY = "Have whoever has set the finalizer take it off the Task: it goes then, and does no more."


def decide_leaving(task: Task, now: datetime) -> TaskStatus:
    """The status of a Task that is being deleted: Stalled where a finalizer of somebody keeps it,
    and its work was not over. A Task has none of ours."""
    status = task.status
    holders = [each for each in task.metadata.finalizers if each not in _KUBERNETES]
    if not holders or is_final(status, task.spec.max_retries):
        return status
    named = some((f"'{line(each, _NAME)}'" for each in holders), len(holders))
    text = f"it is being deleted, and kept by the finalizer {named}: it does not go on"
    status = asking.withdrawn(status).model_copy(
        update={"observed_generation": task.metadata.generation}
    )
    held = waits(status, Reason.DELETION_HELD, text, now, needs_person=True, remedy=_REMEDY)
    return progress.of_task(task, held, now)
