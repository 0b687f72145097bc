"""When work is merged, and when it will not be."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli.commands.tasks.merge import standing
from bernstein.core.plans import expansion
from tests.unit.cli.scenes import SHA, condition, move, name, plan, task

STALLED = {"reason": "MergeConflict", "message": "it conflicts. Remedy: Mend it.",
           "since": "2030-01-01T12:00:00Z", "needsPerson": True}  # fmt: skip
CLOSED = {"state": "Closed", "delivery": {"state": "Merged", "sha": SHA}}


def rows(state: str = "Closed", number: int = 7) -> list[dict[str, Any]]:
    stages = [s for s in plan().spec.stages for _ in s.steps]
    return [
        {"name": name(i), "stage": stages[i].name, "step": 0, "state": state} for i in range(number)
    ]


def owned(one: Task, by: Plan) -> Task:
    obj = expansion.expand(by, "default")[0]
    owners = {**one.dump()["metadata"], "ownerReferences": obj["metadata"]["ownerReferences"]}
    return Task.model_validate(one.dump() | {"metadata": owners})


@pytest.mark.parametrize(
    "status",
    [
        {"state": "Done"},
        {"state": "Done", "verification": None},
        {"state": "Open"},
        {"state": "InProgress"},
        {"state": "Failed", "attempt": 1},
        {"state": "Done", "waiting": STALLED | {"needsPerson": False}},
    ],
    ids=["done", "judged", "open again", "at work again", "tried again", "waits its turn"],
)
def test_what_goes_on_by_itself_has_not_ended(status: dict[str, Any]) -> None:
    assert standing.of_task(task(0, **status), decided=True) is None


def test_a_change_that_the_operator_has_not_seen_may_let_it_go_on() -> None:
    stands = task(0, state="Done", waiting=STALLED)
    meta = stands.metadata.model_copy(update={"generation": 2})
    changed = stands.model_copy(update={"metadata": meta})

    assert standing.of_task(changed, decided=False) is None
    assert standing.of_task(changed, decided=True) is not None


def test_what_is_closed_is_merged() -> None:
    end = standing.of_task(task(0, **CLOSED), decided=False)

    assert end is not None
    assert (end.good, end.message) == (True, "merged a1b2c3d4")


@pytest.mark.parametrize(
    ("status", "reason", "message"),
    [
        ({"state": "Done", "waiting": STALLED}, "MergeConflict", "it conflicts."),
        (
            {"state": "Failed", "attempt": 4,
             "history": [move("Failed", "GateFailed", attempt=4, seconds=1)]},
            "GateFailed", "it has ended: failed",
        ),
        (
            {"state": "Cancelled",
             "history": [move("Cancelled", "Rejected", attempt=1, seconds=1)]},
            "Rejected", "it has ended: cancelled",
        ),
        ({"state": "PendingApproval"}, "ApprovalPending", "it waits for the decision of a person"),
    ],
)  # fmt: skip
def test_what_is_kept_back_says_why_and_what_helps(
    status: dict[str, Any], reason: str, message: str
) -> None:
    end = standing.of_task(task(0, **status), decided=True)

    assert end is not None
    assert (end.good, end.reason, end.message) == (False, reason, message)
    assert end.remedy


def test_work_that_waits_for_a_person_names_the_command_that_approves_it() -> None:
    end = standing.of_task(task(0, state="PendingApproval"), decided=True)

    assert end is not None
    assert end.remedy == f"approve it with `bernstein approve {name(0)}`, then ask again"


def test_a_decision_that_was_made_just_before_is_waited_for() -> None:
    assert standing.of_task(task(0, state="PendingApproval"), decided=False) is None


@pytest.mark.parametrize(
    ("status", "live", "due"),
    [
        ({"tasks": rows()}, [], True),
        ({"tasks": rows("Done")}, [], False),
        ({"tasks": []}, [], False),
        ({"tasks": rows("Closed", 6) + rows("Done")[6:]}, [6], True),
    ],
    ids=["all closed", "none is", "not begun", "the last one just now"],
)
def test_a_plan_whose_tasks_are_all_closed_is_due(
    status: dict[str, Any], live: list[int], due: bool
) -> None:
    found = plan(**status | {"endedAt": None})
    tasks = [owned(task(index, **CLOSED), found) for index in live]

    assert standing.is_due(found, tasks) is due


def test_a_plan_that_has_ended_is_not_due_any_more() -> None:
    assert not standing.is_due(plan(tasks=rows(), endedAt="2030-01-01T00:03:12Z"), [])


def test_a_plan_is_waited_for_until_it_has_ended_or_needs_somebody() -> None:
    running = plan(endedAt=None)
    good = plan(conditions=[condition("Succeeded", "True", "Delivered")])
    counts = {"total": 7, "closed": 7}
    bad = plan(endedAt=None, conditions=[], counts=counts, waiting=STALLED)
    spec = running.spec.model_copy(update={"suspend": True})
    ends = [
        standing.of_plan(each, [])
        for each in (running, good, bad, running.model_copy(update={"spec": spec}))
    ]

    assert ends[0] is None
    assert [(end.good, end.reason) for end in ends[1:] if end is not None] == [
        (True, ""),
        (False, "MergeConflict"),
        (False, "Suspended"),
    ]


def test_a_plan_that_is_delivered_names_its_commits() -> None:
    done = [condition("Succeeded", "True", "Delivered")]
    whole = plan(conditions=done, delivery={"state": "Merged", "sha": SHA})
    begun = {"target": "refs/heads/main", "targetSha": SHA, "ref": "refs/x", "per": "Task"}
    by_task = plan(conditions=done, integration=begun, tasks=rows())
    theirs = [owned(task(n, **CLOSED), by_task) for n in range(5)]

    ends = [standing.of_plan(whole, []), standing.of_plan(by_task, theirs)]

    assert [end.message for end in ends if end is not None] == [
        "delivered a1b2c3d4",
        "delivered a1b2c3d4, a1b2c3d4, a1b2c3d4 and 2 more",
    ]
