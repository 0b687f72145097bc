"""Tasks and Plans as scripts read them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.api.task import Task
from bernstein.core.serializers import STATUSES, blockers, is_blocked, plan_record, task_record
from tests.unit.cli.scenes import HOSTILE, condition, failed_task, name, plan, task, verification
from tests.unit.core import objects


def status_of(found: Task) -> str:
    status: str = task_record(found)["status"]
    return status


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ({}, "open"),
        ({"state": "Planned"}, "planned"),
        ({"state": "Open"}, "open"),
        ({"state": "Claimed"}, "claimed"),
        ({"state": "InProgress"}, "in_progress"),
        ({"state": "Done"}, "done"),
        ({"state": "PendingApproval"}, "done"),
        ({"state": "Closed"}, "closed"),
        ({"state": "Blocked"}, "blocked"),
        ({"state": "WaitingForSubtasks"}, "waiting_for_subtasks"),
        ({"state": "Cancelled"}, "cancelled"),
        ({"state": "Orphaned"}, "orphaned"),
        ({"state": "Failed", "attempt": 1}, "open"),
        ({"state": "Failed", "attempt": 4}, "failed"),
    ],
)
def test_a_task_is_failed_for_scripts_only_when_no_retry_follows(
    status: dict[str, Any], word: str
) -> None:
    assert status_of(task(0, **status)) == word
    assert word in STATUSES


def test_a_pending_approval_is_told_beside_done() -> None:
    assert task_record(task(0, state="PendingApproval"))["approval"] == "pending"
    assert "approval" not in task_record(task(0, state="Done"))


def test_a_task_has_the_names_of_the_task_files() -> None:
    record = task_record(task(2, state="InProgress", session="s", spendUsd="0.3"))

    assert record["id"] == name(2)
    assert record["title"] == "Add RateLimiter middleware"
    assert record["description"] == "Add RateLimiter middleware"
    assert record["role"] == "backend"
    assert record["estimated_minutes"] == 30
    assert record["depends_on"] == []
    assert record["depends_on_stages"] == ["design"]
    assert record["completion_signals"] == [
        {
            "type": "file_contains",
            "path": "src/api/middleware/rate_limiter.py",
            "contains": "class RateLimiter",
        }
    ]
    assert record["plan"] == "rate-limit-api"
    assert record["stage"] == "implement"
    assert record["cost_usd"] == 0.3


def test_a_refused_attempt_says_what_refused_it() -> None:
    record = task_record(failed_task())

    assert [a["reason"] for a in record["attempts"]] == ["SignalFailed", "GateFailed"]
    assert record["reason"] == "GateFailed"
    assert [c["verdict"] for c in record["verification"]["checks"]] == ["failed", "passed"]


def test_agents_words_are_sanitised_in_records_too() -> None:
    found = task(
        0,
        state="Open",
        queue={"reason": "X", "message": HOSTILE},
        verification=verification(
            checks=[{"name": "c", "kind": "gate", "verdict": "Failed", "excerpt": HOSTILE}]
        ),
    )

    text = json.dumps(task_record(found))

    assert "\\u001b" not in text
    assert "\\u202e" not in text
    assert "gnp.exe" in text


@pytest.mark.parametrize(("more", "cached"), [({"cached": True}, True), ({}, False)])
def test_of_a_check_it_is_told_whether_its_verdict_was_known(more: Any, cached: bool) -> None:
    gate = {"name": "c", "kind": "gate", "verdict": "Passed"} | more
    found = task(0, state="Done", verification=verification(checks=[gate]))

    (check,) = task_record(found)["verification"]["checks"]

    assert check["cached"] is cached


def test_a_phase_of_two_words_is_in_snake_case() -> None:
    assert plan_record(plan(phase="DeliveredPartially"))["status"] == "delivered_partially"


def test_a_plan_says_how_it_stands_and_what_it_cost() -> None:
    stalled = condition("Stalled", "True", "TaskFailed", "1 Task ended")
    record = plan_record(plan(phase="Failed", conditions=[stalled]), [task(0)])

    assert record["id"] == "rate-limit-api"
    assert record["status"] == "failed"
    assert (record["reason"], record["message"]) == ("TaskFailed", "1 Task ended")
    assert (record["budget_usd"], record["cost_usd"]) == (5.0, 0.42)
    assert record["counts"]["closed"] == 2
    assert [t["id"] for t in record["tasks"]] == [name(0)]


def test_how_the_spend_is_known_is_told() -> None:
    known = [task_record(task(0, spendSource=s))["spend_source"] for s in ("Unreported", None)]

    assert known == ["unreported", None]
    assert plan_record(plan(spendSource="Unpriced"))["spend_source"] == "unpriced"


def test_times_are_written_in_utc() -> None:
    record = task_record(task(0, state="Closed", endedAt="2030-01-01T10:00:00+02:00"))

    assert record["ended_at"] == "2030-01-01T08:00:00Z"


def test_a_task_that_waits_for_others_is_open_and_counts_as_blocked() -> None:
    unmet = condition("DependenciesMet", "False", "DependencyPending")
    first = objects.task("first", status=objects.closed(1), stage="a")
    second = objects.task("second", stage="a")
    waits = objects.task(
        "waits",
        status=objects.status(conditions=[unmet]),
        depends_on=["first", "second", "elsewhere"],
        depends_on_stages=["a"],
    )
    tasks = [first, second, waits]

    assert [is_blocked(each) for each in tasks] == [False, False, True]
    record = task_record(waits, blockers(tasks))
    assert (record["status"], record["blocked_by"]) == ("open", ["second", "elsewhere"])
    assert task_record(second, blockers(tasks))["blocked_by"] == []
