"""How far a workflow is, from one look to the next.

    begun ──▶ a run is due: its row ──▶ its Task ──▶ it ends ──▶ what follows is decided ──▶ ...
                                                                       │
    all has ended: delivered as any Plan, or Failed with a reason ◀────┘

What follows is decided by `core/plans/workflows` alone, of what is written in the status and of how
Tasks have ended. It is written before anything is done about it: whatever crashes, the next look
finds the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from bernstein.api.integration import RepositoryStatus
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.workflow import WorkflowStatus
from bernstein.api.reasons import Reason
from bernstein.core.actions import PlanDecision
from bernstein.core.delivery import resolving
from bernstein.core.fsm import is_final
from bernstein.core.plans.nodes import phases, standing, tasks
from bernstein.core.plans.nodes.endings import endings
from bernstein.core.plans.places import named
from bernstein.core.plans.standstill import watch
from bernstein.core.plans.workflows import course, definition, reopening
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.waiting import waits

_CHANGED = "its workflow is not the one that it began with"
_REMEDY = "Apply the workflow as a Plan of another name."


def begun(snapshot: PlanSnapshot, status: PlanStatus) -> PlanStatus:
    """The status of a Plan that is to make its Tasks when it is their turn."""
    workflow, project = snapshot.plan.spec.workflow, snapshot.project
    assert workflow is not None
    assert project is not None
    course_ = course.begun(definition.of(workflow), definition.digest(workflow))
    used = named.used(snapshot.plan.spec, project.spec)
    rows = tuple(RepositoryStatus(name=each.name) for each in used) if len(used) > 1 else ()
    return status.model_copy(update={"expanded": True, "workflow": course_, "repositories": rows})


def step(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision | PlanStatus:
    """What is to be done for nodes; a status: all has ended well, and may be delivered."""
    workflow, before = snapshot.plan.spec.workflow, status.workflow
    if workflow is None or before is None:
        return status
    if definition.digest(workflow) != before.digest:
        stalled = status.model_copy(update={"phase": "Stalled"})
        return PlanDecision(
            waits(stalled, Reason.PLAN_INVALID, _CHANGED, now, needs_person=True, remedy=_REMEDY)
        )
    status = tasks.with_rows(snapshot, _advanced(snapshot, status))
    seen = phases.look(snapshot, status, now)
    status = seen.status
    if status.workflow != before:
        stage = standing.current_phase(workflow, status.workflow)
        status = status.model_copy(update={"current_stage": stage})
        return PlanDecision(watch(snapshot, status, now))
    objects = tasks.missing(snapshot, status)
    if objects:
        made = resolving.made(snapshot, status, objects, now)
        again = [t for t in (made.requeue_after, seen.seconds) if t is not None]
        return PlanDecision(made.status, (*seen.actions, *made.actions), min(again, default=None))
    if standing.is_whole(snapshot.plan, status):
        return status
    return PlanDecision(watch(snapshot, status, now), seen.actions, seen.seconds)


def _advanced(snapshot: PlanSnapshot, status: PlanStatus) -> PlanStatus:
    workflow, before = snapshot.plan.spec.workflow, status.workflow
    assert workflow is not None
    assert before is not None
    its = definition.of(workflow)
    after = reopening.reopened(its, before, [*_granted(snapshot, status)])
    status = status if after is before else status.model_copy(update={"workflow": after})
    may_enter = partial(phases.may_enter, snapshot, status)
    after = course.advance(its, after, endings(snapshot, status), may_enter)
    return status if after is before else status.model_copy(update={"workflow": after})


def _granted(snapshot: PlanSnapshot, status: PlanStatus) -> Iterator[str]:
    """Nodes that have failed, and whose Tasks were granted another round since."""
    for node, row in tasks.current(status):
        task = snapshot.tasks.get(row.name)
        if node.state != "Failed" or task is None:
            continue
        if not is_final(task.status, task.spec.max_retries):
            yield node.name


def closed(status: PlanStatus) -> PlanStatus:
    """The status of a Plan that has ended: nothing of its workflow runs any more."""
    workflow = status.workflow
    if workflow is None or all(node.state in course.ENDED for node in workflow.nodes):
        return phases.withdrawn(status)
    nodes = tuple(
        node if node.state in course.ENDED else node.model_copy(update={"state": "Cancelled"})
        for node in workflow.nodes
    )
    ended: WorkflowStatus = workflow.model_copy(update={"nodes": nodes})
    return phases.withdrawn(status.model_copy(update={"workflow": ended}))
