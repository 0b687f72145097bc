"""Plans, and what is decided about them."""

from __future__ import annotations

from typing import Any

from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.actions import PlanDecision
from bernstein.core.jobs import JobView
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import (
    at,
    plan_snapshot,
    status,
)


def look(
    subject: Plan, *tasks: Task, jobs: tuple[JobView, ...] = (), now: float = 0, **more: Any
) -> PlanDecision:
    return scheduled.decide_plan(plan_snapshot(subject, *tasks, jobs=jobs, **more), at(now))


def again(subject: Plan, decision: PlanDecision, **spec: Any) -> Plan:
    """The Plan with the status that was decided."""
    newer = subject.spec.model_copy(update=spec)
    return subject.model_copy(update={"status": decision.status, "spec": newer})


def task(name: str = "work", state: TaskState = TaskState.OPEN, **more: Any) -> Task:
    return objects.task(name, status=status(state, **more), stage="build")


AT_WORK = task("busy", TaskState.IN_PROGRESS)
GIVEN_UP = task("gone-wrong", TaskState.FAILED, attempt=4)
CANCEL = {"reason": "not needed"}
