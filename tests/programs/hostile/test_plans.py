"""Plans that are made to fill the cluster's store and the operator's memory.

Each is first seen to do so where the protection is taken off.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from bernstein.api.plan import Plan
from bernstein.core.actions import CreateTasks, PlanDecision
from bernstein.core.plans import judgement, size
from bernstein.core.plans.expansion import expand
from bernstein.core.plans.rows import names_by_stage
from tests.unit.core import objects
from tests.unit.core.plans.decisions import look

MEGABYTE = 1_000_000


def every_edge(stages: int = 40, steps: int = 50, **spec: Any) -> Plan:
    """A small Plan whose stages depend on all before them."""
    made = [
        {
            "name": f"stage {s}",
            "dependsOn": [f"stage {before}" for before in range(s)],
            "steps": [
                {"title": f"Write step {s}.{n} of the plan", "model": "sonnet"}
                for n in range(steps)
            ],
        }
        for s in range(stages)
    ]
    return objects.plan("shop", begun=False, stages=made, **spec)


def in_bytes(made: Iterable[Any]) -> int:
    return sum(len(json.dumps(each)) for each in made)


def as_applied(plan: Plan) -> Any:
    """Its spec without the defaults that the API server puts in."""
    return plan.spec.model_dump(mode="json", by_alias=True, exclude_unset=True)


def test_134_kb_of_a_plan_make_no_87_mb_of_tasks_that_depend_on_2000_names() -> None:
    """40 stages of 50 steps, with all edges."""
    plan = every_edge()
    assert in_bytes([as_applied(plan)]) == pytest.approx(134_000, rel=0.01), "whoever applies it"
    made = expand(plan, "default")
    assert len(made) == 2000

    names = names_by_stage(plan, ())
    careless = [
        {**obj, "spec": obj["spec"] | {"dependsOn": named(obj["spec"], names)}} for obj in made
    ]
    most = max(len(obj["spec"]["dependsOn"]) for obj in careless)
    assert most == 1950, "of the last stage each names all others but its own 50"
    assert in_bytes(careless) == pytest.approx(87 * MEGABYTE, rel=0.01), "it explodes"

    assert max(len(obj["spec"].get("dependsOnStages", ())) for obj in made) == 39
    assert in_bytes(made) < 4 * MEGABYTE


def named(spec: Any, names: Any) -> list[str]:
    """Every Task of the stages that come first, as they were once written into each."""
    return [name for stage in spec.get("dependsOnStages", ()) for name in names[stage]]


def created(decision: PlanDecision) -> list[Any]:
    return [obj for a in decision.actions if isinstance(a, CreateTasks) for obj in a.objects]


def test_what_every_task_would_repeat_is_counted_before_any_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = every_edge(40, 40, constraints=["x" * 1024] * 50)
    assert in_bytes([plan.spec.dump()]) < MEGABYTE / 2

    with monkeypatch.context() as taken:
        taken.setattr(size, "TASKS_BYTES", 10**12)
        forget()
        assert in_bytes(created(look(plan))) > 50 * MEGABYTE, "it would all be made"

    forget()
    found = look(plan)
    assert created(found) == []
    assert objects.stalled_for(found.status.conditions) == "PlanInvalid"
    assert found.status.waiting is not None
    assert "make several plans of it" in found.status.waiting.message


def forget() -> None:
    """A Plan is judged once: what was judged of this one before."""
    judgement.problems_of.__self__._known.clear()  # type: ignore[attr-defined]
