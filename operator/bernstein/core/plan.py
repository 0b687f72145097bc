"""Plan: validated, expanded, begun, watched, delivered."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from functools import reduce
from typing import Any

from bernstein.api.meta import Condition
from bernstein.api.plan import Counts, Integration, PlanStatus, PlanTask, Settled
from bernstein.api.pod import BeginResult
from bernstein.api.project import Project
from bernstein.api.signals import ROLES
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core import conditions, holds, names, plan_delivery, projects, spend
from bernstein.core.estimate import estimate
from bernstein.core.expansion import expand
from bernstein.core.fsm import is_final
from bernstein.core.intents import (
    CancelTasks,
    CreateTasks,
    PlanDecision,
    PlanIntent,
    PlanSnapshot,
    RunBegin,
    give_up,
)
from bernstein.core.merge_job import result_of
from bernstein.core.plan_validation import validate_plan
from bernstein.core.pods import Diagnosis
from bernstein.core.pricing import add, money
from bernstein.core.problems import listed
from bernstein.core.progress import busy, ended, note, stalled
from bernstein.core.remedies import with_remedy

_LISTED = 3800
"""Characters of problems in a condition, which holds 4096 with the remedy."""
_RUNNING = (TaskState.CLAIMED, TaskState.IN_PROGRESS, TaskState.ORPHANED)
_VERIFYING = (TaskState.DONE, TaskState.PENDING_APPROVAL)
_MOVING = frozenset({"MaxAgents", "FileOverlap", "BatchWaits", "PlanStarting", "MergeQueue"})
_PASSING = frozenset({"InfrastructureError", "ProviderUnavailable", "RateLimited", "UsageLimited"})
"""Reasons to wait that go away by themselves."""


def decide(snapshot: PlanSnapshot, now: datetime) -> PlanDecision:
    """The Plan's next step."""
    plan = snapshot.plan
    fresh = plan.status.observed_generation != plan.metadata.generation
    status = tally(snapshot).model_copy(
        update={
            "observed_generation": plan.metadata.generation,
            "started_at": plan.status.started_at or now,
        }
    )
    if plan.status.ended_at is not None or plan.metadata.deletion_timestamp is not None:
        return PlanDecision(status)
    if plan.spec.cancel is not None:
        return _cancel(snapshot, status, now)
    if snapshot.project is None:
        text = snapshot.project_problem or "there is no Project"
        told = with_remedy(text, "ProjectNotFound")
        return PlanDecision(stalled(_phase(status, "Pending"), "ProjectNotFound", told, now))
    unready = projects.not_ready(snapshot.project)
    if unready is not None and status.integration is None:
        told = with_remedy(unready, "ProjectNotReady")
        return PlanDecision(stalled(_phase(status, "Pending"), "ProjectNotReady", told, now))
    status = status.model_copy(update={"project": snapshot.project.metadata.name})
    if fresh or not conditions.is_true(status.conditions, "Validated"):
        status = _validate(snapshot, status, now)
        if not conditions.is_true(status.conditions, "Validated"):
            return PlanDecision(status)
    return _go_on(snapshot, status, now)


def _phase(status: PlanStatus, phase: str) -> PlanStatus:
    return status.model_copy(update={"phase": phase})


def _validate(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    assert snapshot.project is not None
    problems = validate_plan(snapshot.plan.spec, snapshot.project.spec, ROLES)
    if problems and not status.expanded:
        text = listed(problems, _LISTED)
        invalid = note(_phase(status, "Invalid"), "Validated", False, "PlanInvalid", text, now)
        return stalled(invalid, "PlanInvalid", with_remedy(text, "PlanInvalid"), now)
    guess = estimate(snapshot.plan.spec, snapshot.project.spec)
    status = note(status, "Validated", True, "Valid", "", now)
    return status.model_copy(update={"estimate": guess})


def _go_on(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    intents: list[PlanIntent] = []
    if not status.expanded:
        assert snapshot.project is not None
        objects = expand(snapshot.plan, snapshot.project.metadata.name)
        missing = tuple(o for o in objects if o["metadata"]["name"] not in snapshot.tasks)
        intents.append(CreateTasks(missing))
        status = status.model_copy(update={"expanded": True, "tasks": _rows(status, objects)})
    if status.integration is None:
        begun = _begin(snapshot, status, now)
        return PlanDecision(begun.status, (*intents, *begun.intents), begun.requeue_after)
    if snapshot.plan.spec.suspend:
        status = note(_phase(status, "Suspended"), "Suspended", True, "BySpec", "", now)
        return PlanDecision(_rest(snapshot, status, now), tuple(intents))
    status = _with(status, conditions.drop(status.conditions, "Suspended"))
    if status.counts.total and status.counts.closed == status.counts.total and not intents:
        if not conditions.is_true(status.conditions, "Stalled"):
            status = _phase(status, "Delivering")
        return plan_delivery.deliver(snapshot, status, now)
    return PlanDecision(_watch(snapshot, status, now), tuple(intents))


def _rows(status: PlanStatus, objects: list[dict[str, Any]]) -> tuple[PlanTask, ...]:
    """Of all Tasks: one that is deleted before anybody has seen it is missing, too."""
    known = {row.name for row in status.tasks}
    made = ((o["metadata"]["name"], o["spec"]["stage"]) for o in objects)
    return (*status.tasks, *(PlanTask(name=n, stage=s) for n, s in made if n not in known))


def _rest(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    """A suspended Plan is at work until what had begun has ended."""
    active = (*_RUNNING, *_VERIFYING)
    if any(t.status.state in active and not _is_stalled(t) for t in snapshot.tasks.values()):
        return busy(status, "Suspending", "what had begun goes on to its end", now)
    return _with(status, conditions.drop(status.conditions, "Reconciling"))


def _is_stalled(task: Task) -> bool:
    return conditions.is_true(task.status.conditions, "Stalled")


def _with(status: PlanStatus, new: tuple[Condition, ...]) -> PlanStatus:
    return status.model_copy(update={"conditions": new})


def _begin(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    project, plan = snapshot.project, snapshot.plan
    assert project is not None
    left = holds.seconds_left(status.hold, project, now)
    if left is not None:
        return PlanDecision(status, (), left)
    number = status.jobs if status.hold is None else status.jobs + 1
    name = names.check_job(plan.metadata.name, "begin", number)
    integration = names.integration_ref(plan.metadata.uid)
    target = names.branch_ref(project.spec.repository.branch)
    status = _phase(status.model_copy(update={"jobs": number, "hold": None}), "Starting")
    job = snapshot.jobs.get(name)
    if job is None:
        status = busy(status, "Starting", "the integration ref is being made", now)
        return PlanDecision(status, (RunBegin(name, target, integration),))
    result = result_of(BeginResult, job, "begin", now)
    if result is None:
        return PlanDecision(status, (), 5)
    if isinstance(result, Diagnosis):
        return PlanDecision(_cannot_begin(status, result, project, now), give_up((job,)))
    begun = Integration(ref=integration, target=target, target_sha=result.target_sha)
    status = status.model_copy(update={"integration": begun, "hold": None})
    return PlanDecision(busy(_phase(status, "Running"), "Running", "Tasks are running", now))


def _cannot_begin(
    status: PlanStatus, problem: Diagnosis, project: Project, now: datetime
) -> PlanStatus:
    held = holds.hold(problem.reason, problem.message, project, now)
    status = status.model_copy(update={"hold": held})
    told = with_remedy(held.message, problem.reason, project)
    return stalled(status, problem.reason, told, now)


def tally(snapshot: PlanSnapshot) -> PlanStatus:
    """Counts, stage and spend, from the Tasks and from what is known of deleted ones."""
    status = snapshot.plan.status
    rows, settled = spend.tally(status, snapshot.tasks, snapshot.sessions, snapshot.project)
    beside = settled or Settled()
    spent = sum((Decimal(r.spend_usd) for r in rows), Decimal(beside.spend_usd))
    open_stages = {r.stage for r in rows if r.state != TaskState.CLOSED}
    stages = (stage.name for stage in snapshot.plan.spec.stages)
    return status.model_copy(
        update={
            "tasks": rows,
            "counts": _counts(snapshot, rows),
            "current_stage": next((s for s in stages if s in open_stages), None),
            "usage": reduce(add, (r.usage for r in rows), beside.usage),
            "integration": _follow(snapshot, status.integration),
            "spend_usd": money(spent),
            "settled": settled,
        }
    )


def _follow(snapshot: PlanSnapshot, integration: Integration | None) -> Integration | None:
    """Up to the last commit that a Task landed; each was made on the one before.

    Remembered, so that deleting a Task takes nothing from what is delivered. Clocks play no part.
    """
    if integration is None:
        return None
    landed = {
        task.status.verification.base: task.status.delivery
        for task in snapshot.tasks.values()
        if task.status.verification is not None
        and task.status.delivery is not None
        and task.status.delivery.state == "Merged"
    }
    while (last := landed.pop(integration.tip, None)) is not None:
        update = {"sha": last.sha, "tree": last.tree}
        integration = integration.model_copy(update=update)
    return integration


def _counts(snapshot: PlanSnapshot, rows: tuple[PlanTask, ...]) -> Counts:
    def number(of: Callable[[str], bool]) -> int:
        return sum(of(row.state) for row in rows)

    failed = sum(_failed_for_good(t) for t in snapshot.tasks.values())
    counts = Counts(
        total=len(rows),
        running=number(lambda s: s in _RUNNING),
        verifying=number(lambda s: s in _VERIFYING),
        closed=number(lambda s: s == TaskState.CLOSED),
        failed=failed,
        cancelled=number(lambda s: s == TaskState.CANCELLED),
    )
    rest = counts.running + counts.verifying + counts.closed + counts.failed + counts.cancelled
    return counts.model_copy(update={"open": counts.total - rest})


def _failed_for_good(task: Task) -> bool:
    return task.status.state is TaskState.FAILED and is_final(task.status, task.spec.max_retries)


def _watch(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    cause = None if any(_moves(t) for t in snapshot.tasks.values()) else _what_stops(snapshot)
    if cause is None:
        return busy(_phase(status, "Running"), "Running", "Tasks are running", now)
    reason, text = cause
    status = _phase(status, "Failed" if reason == "TaskFailed" else "Stalled")
    # A Task's own message has its remedy already.
    told = with_remedy(text, reason) if reason == "TaskFailed" else text
    return stalled(status, reason, told, now)


def _moves(task: Task) -> bool:
    """Whether the Task gets further without a person and without other Tasks."""
    status = task.status
    if status.state in (TaskState.CLOSED, TaskState.CANCELLED) or _failed_for_good(task):
        return False
    if conditions.is_true(status.conditions, "Stalled"):
        return False
    if status.state is TaskState.OPEN and status.queue is not None:
        return status.queue.reason in _MOVING | _PASSING
    return True


def _what_stops(snapshot: PlanSnapshot) -> tuple[str, str] | None:
    """The cause that nothing moves; None when Tasks have only not looked again yet."""
    tasks = list(snapshot.tasks.values())
    failed = [t for t in tasks if _failed_for_good(t) or t.status.state is TaskState.CANCELLED]
    if failed:
        which = ", ".join(f"'{t.metadata.name}' ({_reason(t)})" for t in failed[:5])
        return "TaskFailed", f"{len(failed)} Tasks ended without result: {which}."
    gone = [r.name for r in snapshot.plan.status.tasks if r.name not in snapshot.tasks]
    if gone:
        text = f"Tasks were deleted and are not made again: {', '.join(gone[:5])}."
        return "TaskFailed", text
    for task in tasks:
        why = conditions.find(task.status.conditions, "Stalled")
        if why is not None and why.reason != "DependencyFailed":
            return why.reason, f"Task '{task.metadata.name}': {why.message}"
    return None


def _reason(task: Task) -> str:
    return task.status.history[-1].reason if task.status.history else str(task.status.state)


def _cancel(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    assert snapshot.plan.spec.cancel is not None
    reason = snapshot.plan.spec.cancel.reason
    if plan_delivery.has_started(status):
        status = note(
            status, "CancelRefused", True, "MergeInProgress", "the merge has started", now
        )
        return plan_delivery.deliver(snapshot, status, now)
    left = [t for t in snapshot.tasks.values() if not is_final(t.status, t.spec.max_retries)]
    if left:
        to_tell = tuple(t.metadata.name for t in left if t.spec.cancel is None)
        status = busy(_phase(status, "Cancelling"), "Cancelling", "Tasks are being ended", now)
        intents: tuple[PlanIntent, ...] = (CancelTasks(to_tell, reason),) if to_tell else ()
        return PlanDecision(status, intents)
    status = _phase(status, "Cancelled").model_copy(update={"ended_at": now, "hold": None})
    return PlanDecision(ended(status, False, "Cancelled", reason, now))
