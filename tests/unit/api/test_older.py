"""Statuses of older releases: what they wait for is read, and the old fields are gone."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.older import WithWaiting
from bernstein.api.plan import PlanStatus
from bernstein.api.task import TaskStatus
from bernstein.kube.patches import status_diff

BEGAN, RETRY = "2030-01-01T11:00:00Z", "2030-01-02T11:00:00Z"
HOLD = {"reason": "UsageLimited", "message": "used up", "retryAt": RETRY, "generation": 3}
TRIED = {"reason": "UsageLimited", "generation": 3}
VERIFIED = {"base": "a" * 40, "sha": "b" * 40, "tree": "c" * 40, "ref": "r", "passed": True}
QUEUED = {"state": "Pending", "step": "Queued", "onto": "refs/heads/main"}

Status = dict[str, Any]


def condition(kind: str, reason: str, message: str) -> Status:
    told = {"type": kind, "status": "True", "reason": reason, "message": message}
    return told | {"lastTransitionTime": BEGAN}


def waiting(**fields: Any) -> Status:
    """As it is written today."""
    return {"since": BEGAN, "message": "", "scope": "Task", "needsPerson": False} | fields


STALLED = condition("Stalled", "UsageLimited", "used up. Remedy: Wait.")
TASKS: dict[str, tuple[Status, Status | None]] = {
    "an Open Task that is held for a day goes on to be": (
        {
            "state": "Open",
            "hold": HOLD,
            "queue": {"reason": "UsageLimited", "message": "used up (tried again at 11:00:00 UTC)"},
            "conditions": [condition("Reconciling", "UsageLimited", "used up")],
        },
        waiting(reason="UsageLimited", message="used up", until=RETRY, tried=TRIED),
    ),
    "one that is suspended meanwhile, too": (
        {
            "state": "Open",
            "hold": HOLD,
            "queue": {"reason": "PlanSuspended", "message": "its Plan is suspended"},
            "conditions": [condition("Reconciling", "Queued", "its Plan is suspended")],
        },
        waiting(reason="UsageLimited", message="used up", until=RETRY, tried=TRIED),
    ),
    "one that needs a person says what helps": (
        {"state": "Open", "hold": HOLD, "conditions": [STALLED]},
        waiting(
            reason="UsageLimited",
            message="used up. Remedy: Wait.",
            until=RETRY,
            needsPerson=True,
            tried=TRIED,
        ),
    ),
    "one whose session tries it at the moment": (
        {
            "state": "Claimed",
            "hold": HOLD,
            "conditions": [condition("Reconciling", "Claimed", "its session is starting")],
        },
        waiting(reason="UsageLimited", message="used up", tried=TRIED),
    ),
    "one that waits for its turn to start": (
        {
            "state": "Open",
            "queue": {"reason": "MaxAgents", "message": "all are at work"},
            "conditions": [condition("Reconciling", "Queued", "all are at work")],
        },
        waiting(reason="MaxAgents", message="all are at work"),
    ),
    "one that asks for its turn to land": (
        {
            "state": "Done",
            "verification": VERIFIED,
            "delivery": QUEUED,
            "conditions": [condition("Reconciling", "MergeQueue", "it waits for its turn")],
        },
        waiting(reason="MergeQueue", message="it waits for its turn"),
    ),
    "one that is queued while it is judged again asks once it is": (
        {
            "state": "Done",
            "verification": VERIFIED | {"passed": None},
            "delivery": QUEUED,
            "queue": {"reason": "MergeQueue", "message": "'a' lands first"},
            "conditions": [condition("Reconciling", "MergeQueue", "'a' lands first")],
        },
        None,
    ),
    "one in conflict": (
        {
            "state": "Done",
            "verification": VERIFIED,
            "delivery": QUEUED | {"state": "Conflict"},
            "hold": HOLD | {"reason": "MergeConflict", "message": "in a.py"},
            "conditions": [condition("Stalled", "MergeConflict", "in a.py. Remedy: Mend it.")],
        },
        waiting(
            reason="MergeConflict",
            message="in a.py. Remedy: Mend it.",
            until=RETRY,
            needsPerson=True,
            tried={"reason": "MergeConflict", "generation": 3},
        ),
    ),
    "one that failed for good": (
        {
            "state": "Failed",
            "endedAt": BEGAN,
            "conditions": [
                condition("Succeeded", "GateFailed", "no") | {"status": "False"},
                condition("Stalled", "GateFailed", "no. Remedy: Mend it."),
            ],
        },
        waiting(reason="GateFailed", message="no. Remedy: Mend it.", needsPerson=True),
    ),
    "one that is over waits for nothing": (
        {"state": "Closed", "endedAt": BEGAN, "conditions": [condition("Succeeded", "Closed", "")]},
        None,
    ),
    "one at work waits for nothing": (
        {"state": "InProgress", "conditions": [condition("Reconciling", "InProgress", "")]},
        None,
    ),
}


PLANS: dict[str, tuple[Status, Status | None]] = {
    "a Plan that cannot begin": (
        {"phase": "Starting", "hold": HOLD, "conditions": [STALLED]},
        waiting(
            reason="UsageLimited",
            message="used up. Remedy: Wait.",
            until=RETRY,
            needsPerson=True,
            tried=TRIED,
        ),
    ),
    "one that is invalid": (
        {"phase": "Invalid", "conditions": [condition("Stalled", "PlanInvalid", "a circle")]},
        waiting(reason="PlanInvalid", message="a circle", needsPerson=True),
    ),
    "one whose target moved takes its next step": (
        {
            "phase": "Delivering",
            "verification": VERIFIED,
            "delivery": QUEUED,
            "conditions": [condition("Reconciling", "BaseMoved", "the tip moved")],
        },
        None,
    ),
    "one that rests": (
        {"phase": "Suspended", "conditions": [condition("Suspended", "BySpec", "")]},
        None,
    ),
}


EVERY = pytest.mark.parametrize(
    ("model", "old", "expected"),
    [
        pytest.param(model, *case, id=name)
        for model, cases in ((TaskStatus, TASKS), (PlanStatus, PLANS))
        for name, case in cases.items()
    ],
)


@EVERY
def test_it_waits_for_what_it_waited_for(
    model: type[WithWaiting], old: Status, expected: Status | None
) -> None:
    found = model.model_validate(old).dump()

    assert found.get("waiting") == expected
    assert found.get("delivery", {}).get("step") is None
    assert not {"hold", "queue"} & found.keys()
    assert model.model_validate(found).dump() == found


@EVERY
def test_the_next_write_takes_the_old_fields_away(
    model: type[WithWaiting], old: Status, expected: Status | None
) -> None:
    patch = status_diff(old, model.model_validate(old).dump())

    gone = {field for field, value in patch.items() if value is None}
    assert gone == {"hold", "queue"} & old.keys()
    assert patch.get("waiting") == expected


def test_what_is_written_today_counts_whatever_is_left_of_the_old() -> None:
    today = waiting(reason="MaxAgents")

    found = TaskStatus.model_validate({"state": "Open", "hold": HOLD, "waiting": today}).dump()

    assert found["waiting"] == today


@pytest.mark.parametrize("status", [TaskStatus, PlanStatus])
def test_a_merge_that_an_older_release_was_unsure_of_is_looked_up_first(
    status: type[TaskStatus | PlanStatus],
) -> None:
    landing: Status = {"state": "Pending", "step": "Landing", "onto": "refs/heads/main"}
    unsure = landing | {"reason": "Disrupted", "message": "the land pod did not finish"}

    def doubted(delivery: Status) -> bool | None:
        read = status.model_validate({"delivery": delivery}).delivery
        return read.may_have_landed if read is not None else None

    assert doubted(unsure) is True
    assert doubted(landing) is None
    assert doubted(unsure | {"step": None}) is None
