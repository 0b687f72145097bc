"""Names that are taken: what the status says while they are, and once they are free."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.states import TaskState
from bernstein.controllers import name_conflicts
from bernstein.core import conditions
from bernstein.core.plans.decide import decide
from bernstein.core.snapshot import PlanSnapshot
from bernstein.kube.errors import NameConflict
from tests.unit.core import objects
from tests.unit.core.objects import at, plan_snapshot, status, told

TAKEN = {
    "kind": "Job",
    "metadata": {
        "name": "work-s1",
        "ownerReferences": [{"kind": "Task", "name": "other", "uid": "u", "controller": True}],
    },
}
CONFLICT = NameConflict("the name is taken", live=TAKEN, differs="owner")


async def done(_: PlanSnapshot, action: Any) -> None:
    """Every action succeeds."""


async def refused(_: PlanSnapshot, action: Any) -> None:
    raise CONFLICT


async def look(subject: Plan, execute: Any, now: float, *tasks: Any) -> PlanStatus:
    snapshot = plan_snapshot(subject, *tasks)
    written, _ = await name_conflicts.carry_out(
        snapshot, decide, execute, at(now), before=subject.status
    )
    return written


def with_status(subject: Plan, new: PlanStatus) -> Plan:
    return subject.model_copy(update={"status": new})


async def test_a_taken_name_stalls_and_says_whose_it_is_until_it_is_free() -> None:
    subject = objects.plan(begun=False)
    stalled = await look(subject, refused, 0)
    stall = conditions.find(stalled.conditions, "Stalled")
    assert stall is not None
    assert stall.reason == "NameConflict"
    assert "belongs to Task 'other'" in stall.message

    still = await look(with_status(subject, stalled), refused, 300)
    assert still == stalled

    free = await look(with_status(subject, stalled), done, 600)
    assert "Stalled" not in told(free.conditions)


@pytest.mark.parametrize("later", [1, 3600])
async def test_a_plan_that_tells_of_a_conflict_of_its_task_writes_that_once(later: float) -> None:
    blocked = objects.task(
        status=conditions.stalled(status(TaskState.OPEN), "NameConflict", "it is taken", at(0))
    )
    subject = objects.plan()
    first = await look(subject, done, 0, blocked)
    assert told(first.conditions)["Stalled"][1] == "NameConflict"

    second = await look(with_status(subject, first), done, later, blocked)

    assert second == first
