"""Tasks whose work is verified, as decisions about their delivery see them."""

from __future__ import annotations

from typing import Any

from bernstein.api.delivery import Delivery
from bernstein.api.integration import Integration
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.pod import Changed
from bernstein.api.programs.merge import LandResult, PrepareResult
from bernstein.api.project import Project
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import TaskDecision
from bernstein.core.jobs import NO_LATE_REQUESTS, JobView, LateRequests
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import (
    BASE,
    COMPARED,
    HEAD,
    TIP,
    Object,
    at,
    done,
    project,
    result_job,
    sha,
    snapshot,
    verification,
)

LINT = objects.gate("lint")
INTEGRATION = "refs/bernstein/1111222233334444/integration"
CANDIDATE = "refs/bernstein/1111222233334444/work/candidate"
OWN = {"name": "own", "command": "true", "image": "own:1"}


def verified(delivery: Delivery | None = None, **more: Any) -> TaskStatus:
    judged: Object = {"passed": True, "checks": [LINT]}
    given = more.pop("verification", {})
    return done(verification=verification(**(judged | given)), delivery=delivery, **more)


def step(name: str, **more: Any) -> Delivery:
    fields: Object = {"state": "Pending", "step": name, "onto": INTEGRATION, "round": 1}
    return Delivery.model_validate(fields | more)


def look(
    status: TaskStatus,
    *jobs: JobView,
    others: tuple[Task, ...] = (),
    now: float = 0,
    of: Project | None = None,
    tip: str | None = None,
    late: LateRequests = NO_LATE_REQUESTS,
    **spec: Any,
) -> TaskDecision:
    """`tip`: that of the integration ref, by the Plan's ledger; else the Plan has just begun."""
    subject = objects.task(status=status, **spec)
    found = of or project(gates={"pipeline": [{"name": "pii_scan", "enabled": False}]})
    more: Object = {"late": late} if tip is None else {"late": late, "plan": plan_at(tip)}
    given = snapshot(subject, jobs=jobs, others=others, project=found, **more)
    return scheduled.decide(given, at(now))


def plan_at(tip: str) -> Plan:
    """A Plan of which something has landed: its integration ref is there."""
    begun = Integration(ref=INTEGRATION, target="refs/heads/main", target_sha=BASE, sha=tip)
    return objects.plan(status=PlanStatus(integration=begun, expanded=True))


LANDING = step("Landing")
PREPARING = step("Preparing")


def landed(state: str = "Landed", tip: str = HEAD) -> JobView:
    return result_job("work-s1-land-1", "land", LandResult(state, tip))


def prepared(**more: Any) -> JobView:
    changed = Changed(2, True, protected_by=COMPARED)
    fields: Object = {"base": TIP, "sha": sha(8), "tree": sha(9), "changed": changed}
    return result_job("work-s1-prepare-1", "prepare", PrepareResult(**(fields | more)))
