"""The next step of a Task or a Plan as its controller and the scheduler take it together, one after
the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import owners, progress
from bernstein.core.actions import PlanDecision, TaskDecision
from bernstein.core.delivery.landing import is_queued
from bernstein.core.plans import decide as plan_decide
from bernstein.core.scheduling import begin_turns, chain
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.core.tasks import decide as task_decide
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import schedule


def decide(
    subject: TaskSnapshot,
    now: datetime,
    sessions: Iterable[AgentSession] = (),
    plans: Mapping[str, Plan] | None = None,
) -> TaskDecision:
    """What the Task's controller decides; of one that is Open, or whose turn to land it asks for,
    what the scheduler says to that; and of one that is next then what the controller does."""
    decision = task_decide.decide(subject, now)
    state = decision.status.state
    asks = _asks(subject.task.status, decision.status)
    if subject.project is None or not (state is TaskState.OPEN or asks):
        return decision
    if state is TaskState.OPEN and subject.task.status.state not in (None, TaskState.OPEN):
        return decision
    status = scheduled(subject, decision.status, now, sessions, plans)
    if _step(status) == "Next":
        again = task_decide.decide(_with(subject, status), now)
        return replace(again, actions=(*decision.actions, *again.actions))
    if subject.task.status.state is None and status.state is not TaskState.OPEN:
        return decision
    own = chain.first(chain.CHAIN, _with(subject, status), now)
    seconds = own.seconds if own is not None and state is TaskState.OPEN else None
    return TaskDecision(status, decision.actions, decision.requeue_after or seconds)


def decide_plan(subject: PlanSnapshot, now: datetime) -> PlanDecision:
    """What the Plan's controller decides; of one that asks for its turn to begin, which it gets at
    once, what the controller does then."""
    decision = plan_decide.decide(subject, now)
    turns = begin_turns.turns([subject.with_status(decision.status).plan], 1)
    if not turns:
        return decision
    seen = subject.with_status(turns[0][1])
    again = plan_decide.decide(seen, now)
    first = decision.status
    kept = {"counts": first.counts, "current_stage": first.current_stage}
    status = progress.of_plan(subject.plan, again.status.model_copy(update=kept), now)
    return replace(again, status=status, actions=(*decision.actions, *again.actions))


def _asks(before: TaskStatus, after: TaskStatus) -> bool:
    """Whether it has nothing to do but to wait for its turn to land."""
    return is_queued(after) and _step(before) is None and after.state is TaskState.DONE


def scheduled(
    subject: TaskSnapshot,
    status: TaskStatus,
    now: datetime,
    sessions: Iterable[AgentSession] = (),
    plans: Mapping[str, Plan] | None = None,
) -> TaskStatus:
    """The status that a Task with this status has after the schedule."""
    assert subject.project is not None
    seen = _with(subject, status)
    name, project = seen.task.metadata.name, subject.project.metadata.name
    known = dict(plans or {})
    if subject.plan is not None:
        known[subject.plan.metadata.name] = subject.plan
    of_uid = {plan.metadata.uid: plan for plan in known.values()}
    named = {n: owners.plan_uid(t) or "" for n, t in seen.tasks.items()}
    if subject.plan_missing:
        named.pop(name)
    found = schedule(
        ProjectSnapshot(
            project=subject.project,
            members=[t for n, t in seen.tasks.items() if n == name or t.status.project == project],
            plan_of={n: of_uid[plan] for n, plan in named.items() if plan in of_uid},
            tasks=seen.tasks,
            sessions={s.metadata.name: s for s in sessions},
        ),
        now,
    )
    statuses = {t.metadata.name: s for t, s in (*found.moves, *found.waits)}
    return statuses.get(name, status)


def _with(subject: TaskSnapshot, status: TaskStatus) -> TaskSnapshot:
    task = subject.task.model_copy(update={"status": status})
    return replace(subject, task=task, tasks={**subject.tasks, task.metadata.name: task})


def _step(status: TaskStatus) -> str | None:
    return status.delivery.step if status.delivery is not None else None
