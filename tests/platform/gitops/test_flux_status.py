"""What Flux waits for, by kstatus alone and by the expressions of the examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bernstein.kube.resource import Object
from tests.platform.gitops import statuses
from tests.platform.gitops.judges import Waited, waited

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples" / "gitops" / "flux"
BOUNDED = ("Plan", "Task", "AgentSession", "Approval")
"""Kinds that end. What people apply of them is never at work and in need of a person at once."""


def expressions() -> list[Object]:
    found: list[Any] = []
    for path in sorted(EXAMPLES.glob("*.yaml")):
        found += yaml.safe_load(path.read_text())["spec"].get("healthCheckExprs", [])
    return found


@pytest.fixture(scope="module")
def told() -> list[tuple[Object, Waited]]:
    there = statuses.objects()
    return list(zip(there, waited(there, expressions()), strict=True))


def _has(obj: Object, kind: str, truth: str = "True") -> bool:
    found = statuses.conditions_of(obj).get(kind)
    return found is not None and found["status"] == truth


def test_what_nobody_has_looked_at_is_in_progress(told: list[tuple[Object, Waited]]) -> None:
    young = [(obj, says) for obj, says in told if not statuses.is_current(obj)]
    assert young
    for obj, says in young:
        assert says.kstatus == "InProgress"
        assert says.expressions in ("", "InProgress"), obj


def test_kstatus_alone_tells_what_is_at_work_and_what_needs_a_person(
    told: list[tuple[Object, Waited]],
) -> None:
    for obj, says in told:
        if obj["kind"] in BOUNDED and statuses.is_current(obj):
            stands = "Failed" if _has(obj, "Stalled") else "Current"
            assert says.kstatus == ("InProgress" if _has(obj, "Reconciling") else stands), obj


def test_kstatus_alone_takes_a_project_for_good_only_once_it_is_ready(
    told: list[tuple[Object, Waited]],
) -> None:
    seen = [(o, s) for o, s in told if o["kind"] == "Project" and statuses.is_current(o)]
    assert {says.kstatus for _, says in seen} == {"Current", "InProgress"}
    assert all((says.kstatus == "Current") == _has(obj, "Ready") for obj, says in seen)


PHASES = {
    "Succeeded": {"Current"},
    "Suspended": {"Current", "InProgress"},
    "Failed": {"Failed"},
    "Cancelled": {"Failed"},
    "DeliveredPartially": {"Failed"},
    "Invalid": {"Failed"},
    "Stalled": {"Failed"},
    "Pending": {"InProgress", "Failed"},
    "PendingApproval": {"InProgress"},
    "Starting": {"InProgress"},
    "Running": {"InProgress"},
    "Delivering": {"InProgress"},
    "Cancelling": {"InProgress", "Failed"},
}
"""What may be said of a Plan."""


def test_with_its_expressions_a_plan_is_current_only_once_it_is_delivered_or_rests(
    told: list[tuple[Object, Waited]],
) -> None:
    for obj, says in told:
        if obj["kind"] == "Plan" and statuses.is_current(obj):
            assert says.expressions in PHASES[str(statuses.phase_of(obj))], obj


def test_with_its_expressions_a_task_is_current_only_once_its_work_has_landed(
    told: list[tuple[Object, Waited]],
) -> None:
    for obj, says in told:
        if obj["kind"] == "Task" and statuses.is_current(obj):
            assert (says.expressions == "Current") == (statuses.phase_of(obj) == "Closed"), obj
            over = statuses.phase_of(obj) == "Cancelled" or _has(obj, "Stalled")
            assert (says.expressions == "Failed") == over, obj


def test_with_its_expressions_a_project_that_cannot_be_used_has_failed(
    told: list[tuple[Object, Waited]],
) -> None:
    ready = {"True": "Current", "False": "Failed", "Unknown": "InProgress"}
    for obj, says in told:
        if obj["kind"] == "Project" and statuses.is_current(obj):
            assert says.expressions == ready[statuses.conditions_of(obj)["Ready"]["status"]], obj
