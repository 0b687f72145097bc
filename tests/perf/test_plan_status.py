"""What a Plan of 2,000 steps takes in the cluster, and what one Task's move sends.

The bytes are the same on any machine; they are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import json
from typing import Any

from bernstein.api.meta import UsageCounts
from bernstein.api.plan import LedgerEntry, Plan, PlanStatus, PlanTask
from bernstein.core.plans import size
from bernstein.core.plans.expansion import expand
from bernstein.core.plans.rows import in_place, names_by_stage, names_of_steps
from bernstein.kube.json_patch import json_patch
from bernstein.kube.writes import status_diff
from tests.unit.core import objects

STAGES, STEPS = 40, 50
MOST = 1_000_000


def test_tasks_of_a_plan_with_all_edges_do_not_grow_with_the_edges() -> None:
    stages: list[dict[str, Any]] = [
        {
            "name": f"stage {s}",
            "dependsOn": [f"stage {before}" for before in range(s)],
            "steps": [{"title": f"Write part {n} of module {s}"} for n in range(STEPS)],
        }
        for s in range(STAGES)
    ]
    made: Plan = objects.plan("a-plan-with-a-name-of-usual-length", stages=stages)
    tasks = expand(made, "default")
    names = names_by_stage(made)
    upstream = [
        sum(
            len(name) + 3
            for stage in task["spec"].get("dependsOnStages", ())
            for name in names[stage]
        )
        for task in tasks
    ]
    by_stage = sum(map(_bytes, tasks))
    print(f"Tasks of all edges {by_stage}, with names {by_stage + sum(upstream)}")
    assert by_stage < 2_500_000


def plan() -> Plan:
    """As large as a Plan may be by its steps, each with a line to say; all have landed."""
    stages: list[dict[str, Any]] = [
        {
            "name": f"stage {s}",
            "dependsOn": [],
            "steps": [{"title": f"Write part {n} of module {s}"} for n in range(STEPS)],
        }
        for s in range(STAGES)
    ]
    made: Plan = objects.plan("a-plan-with-a-name-of-usual-length", stages=stages)
    rows = in_place(made.spec, (), names_of_steps(made))
    landed = tuple(_landed(number, row) for number, row in enumerate(rows, 1))
    return made.model_copy(update={"status": made.status.model_copy(update={"tasks": landed})})


def _landed(number: int, row: PlanTask) -> PlanTask:
    return row.model_copy(
        update={
            "uid": "0b0c7c4e-0000-4000-8000-000000000000",
            "state": "Closed",
            "attempts": 3,
            "sessions": 4,
            "spend_usd": "12.345678",
            "usage": UsageCounts(input=123456, output=45678, cache_read=1234567, cache_write=12345),
            "landed": LedgerEntry(number=number, sha="a" * 40),
        }
    )


def _bytes(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":")).encode())


def test_the_largest_plan_fits_with_its_status_and_a_move_sends_its_own_row() -> None:
    full = plan()
    rows = full.status.tasks
    moved = (*rows[:999], rows[999].model_copy(update={"state": "Done"}), *rows[1000:])
    before = full.status.dump()
    after: dict[str, Any] = PlanStatus(**dict(full.status) | {"tasks": moved}).dump()

    spec, status = _bytes(full.spec.dump()), _bytes(before)
    patch = _bytes(json_patch(before, after, "/status"))
    print(
        f"spec {spec}, status {status}, a row {_bytes(rows[1999].dump())}, a move {patch}, "
        f"as a merge patch {_bytes(status_diff(before, after))}"
    )
    assert spec + status <= MOST
    assert _bytes(rows[1999].dump()) <= size._ROW_BYTES + len('"stage 39",')
    assert 2 < patch < 200
    assert not list(size.too_large(full.spec))
