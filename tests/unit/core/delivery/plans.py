"""A Plan whose Tasks are all Closed, and looks at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.pod import Changed
from bernstein.api.programs.merge import LandResult, PrepareResult
from bernstein.api.task import Task
from bernstein.core.actions import (
    PlanDecision,
)
from bernstein.core.jobs import JobView
from bernstein.core.plans import decide as plan_decide
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    COMPARED,
    TIP,
    Object,
    at,
    closed,
    plan_snapshot,
    result_job,
    sha,
)

ONTO = "refs/heads/main"
INTEGRATION = "refs/bernstein/1111222233334444/integration"
CANDIDATE = "refs/bernstein/1111222233334444/candidate"


def landed(number: int, base: str, when: float = -10) -> Task:
    """A Task whose commit was made on `base` and landed."""
    found = closed(number, landed_at=at(when))
    assert found.verification is not None
    judged = found.verification.model_copy(update={"base": base})
    return objects.task(f"t{number}", status=found.model_copy(update={"verification": judged}))


TASKS = (landed(1, BASE), landed(2, sha(1)))


def look(
    status: PlanStatus | None = None,
    *jobs: JobView,
    tasks: tuple[Task, ...] = TASKS,
    now: float = 0,
    **more: Any,
) -> PlanDecision:
    spec = {field: more.pop(field, None) for field in ("cancel", "suspend", "merge", "requests")}
    subject: Plan = objects.plan(status=status, **{k: v for k, v in spec.items() if v})
    return plan_decide.decide(plan_snapshot(subject, *tasks, jobs=jobs, **more), at(now))


def step(name: str, round_: int = 1, **more: Any) -> PlanStatus:
    fields: Object = {"state": "Pending", "step": name, "onto": ONTO, "round": round_}
    return PlanStatus(
        observed_generation=1,
        delivery=Delivery.model_validate(fields),
        jobs=round_,
        conditions=validated(),
        **more,
    )


def validated() -> Any:
    return look(tasks=()).status.conditions


def landing(state: str = "Landed", tip: str = "") -> JobView:
    return result_job("web-land-1", "land", LandResult(state, tip or sha(2)))


def prepared(**more: Any) -> JobView:
    changed = Changed(2, True, protected_by=COMPARED)
    fields: Object = {"base": TIP, "sha": sha(8), "tree": sha(9), "changed": changed}
    return result_job("web-prepare-1", "prepare", PrepareResult(**(fields | more)))


def there(
    look: Callable[..., Any], begun: Any, prefix: str = "web", state: str = "Landed", **more: Any
) -> Any:
    """The status once a Job has looked on the branch for what people have merged."""
    name = f"{prefix}-land-{begun.delivery.round}"
    return look(begun, result_job(name, "land", LandResult(state, sha(3))), **more).status
