"""What is told when a Task's status was written: in metrics, in the log, in Events."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.controllers import stalls, verdict_metrics
from bernstein.controllers.wiring import Context
from bernstein.core import owners
from bernstein.kube.resource import Object
from bernstein.observe import logging
from bernstein.observe.metrics import Metrics

log = logging.logger(__name__)


def tell(context: Context, obj: Object, task: Task, new: TaskStatus, now: datetime) -> None:
    """`task`, and `obj` as it is served: before the write."""
    old, meta, plan = task.status, task.metadata, owners.plan_of(task)
    _count(context.metrics, task, new, now)
    if new.state != old.state and new.state is not None:
        context.metrics.task_moved(meta.namespace, new.state)
        last = new.history[-1] if new.history else None
        why = last.reason if last is not None else str(new.state)
        log.info(
            "task moved",
            # A controller's own key may be another object's.
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            attempt=new.attempt,
            plan=plan.name if plan is not None else None,
            before=old.state,
            after=new.state,
            reason=why,
        )
        context.writer.events.record(
            obj,
            reason=str(new.state),
            message=f"{old.state or 'New'} -> {new.state}: {why}",
            action="Move",
            warning=new.state in (TaskState.FAILED, TaskState.ORPHANED),
        )
    stalls.tell(
        context.writer,
        "task",
        obj,
        old,
        new,
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        attempt=new.attempt,
    )


def _count(metrics: Metrics, task: Task, new: TaskStatus, now: datetime) -> None:
    old, meta = task.status, task.metadata
    verdict_metrics.count(
        metrics,
        meta.namespace,
        "Task",
        old,
        new,
        attempt="first" if new.attempt == 1 else "later",
        signals=task.spec.completion_signals,
    )
    created = meta.creation_timestamp
    if new.state is TaskState.CLOSED and old.state is not TaskState.CLOSED and created:
        metrics.task_closed(meta.namespace, (now - created).total_seconds())
