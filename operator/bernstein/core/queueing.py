"""Why an Open Task waits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import QueueReason, Task, TaskStatus
from bernstein.core import conditions, names, projects, scheduling, spend, stages
from bernstein.core.fsm import is_final
from bernstein.core.intents import TaskSnapshot
from bernstein.core.pricing import price_of
from bernstein.core.progress import busy, note, stalled
from bernstein.core.remedies import with_remedy
from bernstein.core.routing import Route, route
from bernstein.core.scheduling import Capacity, Peer

_EDGES = 5000
"""Looked at for a circle of Tasks: people wrote them, and this is asked with every look."""


@dataclass(frozen=True)
class Waits:
    status: TaskStatus
    requeue_after: float | None = None


def session_name(task: Task, number: int) -> str:
    return names.session(task.metadata.name, number)


def route_of(snapshot: TaskSnapshot) -> Route:
    """Model and effort of the Task's next session; project and agent are known to exist."""
    assert snapshot.project is not None
    agent = snapshot.project.spec.agent(snapshot.task.spec.cli)
    assert agent is not None
    return route(snapshot.task.spec, agent)


def why_open_waits(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> Waits | None:
    """The status of a Task that may not start, or None when it may."""
    blocked = needs_a_person(snapshot)
    if blocked is not None:
        return Waits(_stopped(status, *blocked, now))
    dependency = _dependencies(snapshot)
    if dependency is not None:
        return Waits(_waits_for_others(status, *dependency, now))
    status = met(snapshot, status, now)
    waits = _plan_waits(snapshot) or _money_waits(snapshot)
    if waits is not None:
        return Waits(_queued(status, waits, now))
    held = _held(snapshot, status, now)
    if held is not None:
        return held
    waits = _turn(snapshot, now)
    return Waits(_queued(status, waits, now)) if waits is not None else None


def _turn(snapshot: TaskSnapshot, now: datetime) -> QueueReason | None:
    """Why it is not this Task's turn; None = it is."""
    assert snapshot.project is not None
    me, capacity = snapshot.task.metadata.name, _capacity(snapshot)
    key = (snapshot.project.metadata.name, int(now.timestamp()))
    if key not in snapshot.turns:
        for outdated in [k for k in snapshot.turns if k[1] != key[1]]:
            del snapshot.turns[outdated]
        shared = [peer_of(t, snapshot, now, me=None) for t in snapshot.peers]
        snapshot.turns[key] = scheduling.queue_reasons(shared, capacity)
    if me in snapshot.turns[key]:
        return snapshot.turns[key][me]
    # Its own status does not show yet that it is ready.
    peers = [peer_of(t, snapshot, now, me=me) for t in snapshot.peers]
    return scheduling.queue_reasons(peers, capacity)[me]


def met(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    """With DependenciesMet, and nothing that says it waits."""
    if snapshot.task.spec.depends_on:
        status = note(status, "DependenciesMet", True, "AllClosed", "", now)
    return status.model_copy(update={"queue": None})


def owners_gone(snapshot: TaskSnapshot) -> tuple[str, str] | None:
    """(reason, message) when there is no Project or Plan any more that says where work goes."""
    if snapshot.project is None:
        return "ProjectNotFound", snapshot.project_problem or "there is no Project"
    if snapshot.plan_missing:
        return "PlanGone", "its Plan is gone or being deleted"
    return None


def needs_a_person(snapshot: TaskSnapshot) -> tuple[str, str] | None:
    """(reason, message) of what no session can be made without."""
    gone = owners_gone(snapshot)
    if gone is not None:
        return gone
    assert snapshot.project is not None
    problem = projects.not_ready(snapshot.project)
    if problem is not None:
        return "ProjectNotReady", problem
    if snapshot.project.spec.agent(snapshot.task.spec.cli) is None:
        offered = ", ".join(a.name for a in snapshot.project.spec.agents)
        wanted = snapshot.task.spec.cli
        return "AgentNotFound", f"the Project has no agent '{wanted}', it has: {offered}"
    return None


def _stopped(status: TaskStatus, reason: str, message: str, now: datetime) -> TaskStatus:
    queued = status.model_copy(update={"queue": QueueReason(reason=reason, message=message)})
    return stalled(queued, reason, with_remedy(message, reason), now)


def _queued(status: TaskStatus, waits: QueueReason, now: datetime) -> TaskStatus:
    queued = status.model_copy(update={"queue": waits})
    if conditions.is_true(status.conditions, "Stalled") and status.hold is not None:
        return queued
    if waits.reason in ("BudgetExceeded", "NoPricing"):
        return stalled(queued, waits.reason, with_remedy(waits.message, waits.reason), now)
    return busy(queued, "Queued", waits.message, now)


def _dependencies(snapshot: TaskSnapshot) -> tuple[bool, str] | None:
    """(ended for good, message) of what is not Closed yet."""
    waiting: list[Task] = []
    for name in snapshot.task.spec.depends_on:
        other = snapshot.tasks.get(name)
        if other is None:
            return True, f"Task '{name}', which this one depends on, does not exist"
        if other.status.state is TaskState.CLOSED:
            continue
        if is_final(other.status, other.spec.max_retries):
            return True, f"Task '{name}' ended as {other.status.state}"
        waiting.append(other)
    if not waiting:
        return None
    circle = _circle(snapshot)
    if circle:
        return True, f"Tasks wait for each other in a circle: {' → '.join(circle)}"
    for task in waiting:
        if _dependency_failed(task):
            return True, f"Task '{task.metadata.name}' itself waits for what never comes"
    upstream = [task.metadata.name for task in waiting]
    more = f" and {len(upstream) - 3} more" if len(upstream) > 3 else ""
    return False, "waits for " + ", ".join(upstream[:3]) + more


def _circle(snapshot: TaskSnapshot) -> tuple[str, ...]:
    """The shortest way from the Task back to itself; empty when there is none.

    A Plan's are checked before there are Tasks.
    """
    me = snapshot.task.metadata
    if names.LABEL_PLAN in me.labels:
        return ()
    graph = {name: task.spec.depends_on for name, task in snapshot.tasks.items()}
    return stages.circle(graph, me.name, _EDGES)


def _dependency_failed(task: Task) -> bool:
    return task.status.queue is not None and task.status.queue.reason == "DependencyFailed"


def _waits_for_others(
    status: TaskStatus, for_good: bool, message: str, now: datetime
) -> TaskStatus:
    reason = "DependencyFailed" if for_good else "DependencyPending"
    status = note(status, "DependenciesMet", False, reason, message, now)
    if for_good:
        return _stopped(status, reason, message, now)
    queued = status.model_copy(update={"queue": QueueReason(reason=reason, message=message)})
    return busy(queued, "Queued", message, now)


def _plan_waits(snapshot: TaskSnapshot) -> QueueReason | None:
    plan = snapshot.plan
    if plan is None:
        return None
    if plan.spec.cancel is not None:
        return QueueReason(reason="PlanCancelled", message="its Plan was cancelled")
    if plan.spec.suspend:
        return QueueReason(reason="PlanSuspended", message="its Plan is suspended")
    if plan.status.integration is None:
        return QueueReason(reason="PlanStarting", message="its Plan has not begun yet")
    return None


def _money_waits(snapshot: TaskSnapshot) -> QueueReason | None:
    plan, project = snapshot.plan, snapshot.project
    if plan is None or plan.spec.budget is None or project is None:
        return None
    spent = spend_of_plan(snapshot)
    if spent >= Decimal(plan.spec.budget):
        text = f"${spent:.2f} of the Plan's budget of ${Decimal(plan.spec.budget):.2f} is spent"
        return QueueReason(reason="BudgetExceeded", message=text)
    model = route_of(snapshot).model
    if project.spec.budget.on_unpriced == "deny" and _unpriced(model, project):
        text = f"the Plan has a budget, and model '{model}' has no price"
        return QueueReason(reason="NoPricing", message=text)
    return None


def _unpriced(model: str, project: Project) -> bool:
    return price_of(model, project.spec.budget.prices) is None


def spend_of_plan(snapshot: TaskSnapshot) -> Decimal:
    """US dollars that the Task's Plan has spent so far."""
    assert snapshot.plan is not None
    plan = snapshot.plan
    tasks = {
        name: task
        for name, task in snapshot.tasks.items()
        if task.metadata.labels.get(names.LABEL_PLAN) == plan.metadata.name
    }
    own = {task.metadata.uid for task in tasks.values()}
    sessions = (
        session
        for session in snapshot.sessions.values()
        # One that an older release made does not say which Plan is its own.
        if spend.belongs(session, plan)
        or (session.spec.plan_ref is None and session.spec.task_ref.uid in own)
    )
    return spend.plan_spend(plan.status, tasks, sessions, snapshot.project)


def _held(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> Waits | None:
    hold = status.hold
    if hold is None or not _still(snapshot, hold.generation, hold.retry_at, now):
        return None
    left = (hold.retry_at - now).total_seconds()
    message = f"{hold.message} (tried again at {hold.retry_at:%H:%M:%S} UTC)"
    queued = status.model_copy(
        update={"queue": QueueReason(reason=hold.reason, message=message[:1024])}
    )
    return Waits(queued, left)


def _still(snapshot: TaskSnapshot, generation: int, retry_at: datetime, now: datetime) -> bool:
    assert snapshot.project is not None
    return now < retry_at and snapshot.project.metadata.generation == generation


def _capacity(snapshot: TaskSnapshot) -> Capacity:
    assert snapshot.project is not None
    limits = snapshot.project.spec.limits
    found = dict(snapshot.plans)
    if snapshot.plan is not None:
        found[snapshot.plan.metadata.name] = snapshot.plan
    plans = {n: p.spec.max_agents for n, p in found.items() if p.spec.max_agents is not None}
    return Capacity(limits.max_agents, plans, limits.undeclared_files_exclusive)


def peer_of(task: Task, snapshot: TaskSnapshot, now: datetime, *, me: str | None) -> Peer:
    """The Task as scheduling sees it; the one called `me` is known to be ready."""
    meta = task.metadata
    is_me = meta.name == me
    deps = [snapshot.tasks.get(name) for name in task.spec.depends_on]
    closed = all(d is not None and d.status.state is TaskState.CLOSED for d in deps)
    is_open = task.status.state is TaskState.OPEN
    hold = task.status.hold
    holding = hold is not None and _still(snapshot, hold.generation, hold.retry_at, now)
    ready = is_me or (
        is_open
        and closed
        and not holding
        and _waits_for_capacity(task.status)
        and task.spec.cancel is None
    )
    probes = ready or task.status.state is TaskState.CLAIMED
    assert snapshot.project is not None
    agent = snapshot.project.spec.agent(task.spec.cli)
    return Peer(
        name=meta.name,
        plan=meta.labels.get(names.LABEL_PLAN),
        state=task.status.state,
        priority=task.spec.priority,
        batch=task.spec.mode == "batch",
        created=meta.creation_timestamp or now,
        files=task.spec.files,
        agent=agent.name if agent else "",
        depends_on=task.spec.depends_on,
        hold=hold if (is_open and holding) or probes else None,
        ready=ready,
        stalled=conditions.is_true(task.status.conditions, "Stalled"),
    )


def _waits_for_capacity(status: TaskStatus) -> bool:
    """It has looked, and only capacity, files or a hold that may be over kept it."""
    if status.queue is None or status.queue.reason in _CAPACITY_REASONS:
        return True
    return status.hold is not None and status.queue.reason == status.hold.reason


_CAPACITY_REASONS = frozenset({"MaxAgents", "FileOverlap", "BatchWaits"})

_DOUBLED = frozenset({"architect", "security", "manager"})


def timeout_seconds(task: Task, project: Project) -> int:
    """Seconds one session may take.

    The scope's limit, at least twice the estimate; some roles double it.
    """
    by_scope: int = getattr(project.spec.limits.timeout_seconds, task.spec.scope)
    limit = max(by_scope, 2 * 60 * (task.spec.estimated_minutes or 0))
    return limit * 2 if task.spec.role in _DOUBLED else limit
