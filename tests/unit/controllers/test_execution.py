"""What the cluster does not let happen: what the status says meanwhile, and once it does."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.controllers import execution
from bernstein.core import conditions, progress
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
    written, _ = await execution.carry_out(
        snapshot,
        decide,
        execute,
        at(now),
        before=lambda: subject.status,
        has_ended=subject.status.ended_at is not None,
        tell=partial(progress.of_plan, subject),
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

    still = await look(with_status(subject, stalled), refused, 299)
    assert still == stalled
    assert still.waiting is not None
    assert still.waiting.until == at(300)

    tried = await look(with_status(subject, stalled), refused, 300)
    assert tried.conditions == stalled.conditions
    assert tried.waiting == still.waiting.model_copy(update={"until": at(600)})

    free = await look(with_status(subject, stalled), done, 600)
    assert "Stalled" not in told(free.conditions)


@pytest.mark.parametrize("later", [1, 3600])
async def test_a_plan_that_tells_of_a_conflict_of_its_task_writes_that_once(later: float) -> None:
    blocked = objects.task(
        status=status(waiting=objects.waits("NameConflict", "it is taken", needs_person=True))
    )
    subject = objects.plan()
    first = await look(subject, done, 0, blocked)
    assert told(first.conditions)["Stalled"][1] == "NameConflict"

    second = await look(with_status(subject, first), done, later, blocked)

    assert second == first
