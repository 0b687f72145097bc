"""A rejected Task and those that ran beside it: whom it waits for before its next attempt."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.states import TaskState
from bernstein.api.task import Attempt, Task, TaskStatus
from bernstein.core.fsm import move
from bernstein.core.scheduling.schedule import Schedule
from tests.unit.core import objects
from tests.unit.core.objects import at, status, verification
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import reasons, schedule, starts
from tests.unit.core.waits import waits

PLAN = objects.plan()
PROJECT = objects.project(
    gates={"pipeline": [{"name": "tests", "enabled": True}, {"name": "pii_scan"}]}
)
TESTS = [{"type": "test_passes", "command": "pytest -q"}]


def claimed(seconds: float, state: TaskState = TaskState.CLAIMED, **more: Any) -> TaskStatus:
    """At work in a session that was claimed so long after NOW."""
    found = move(status(TaskState.OPEN), TaskState.CLAIMED, "Scheduled", at(seconds))
    return found.model_copy(update={"state": state, **more})


def rejected(seconds: float, *checks: tuple[str, str]) -> TaskStatus:
    """Open again; these checks have rejected its work so long after NOW."""
    results = [
        {"name": name, "kind": "gate" if name.isalpha() else "signal", "verdict": verdict}
        for name, verdict in checks
    ]
    judged = verification(passed=False, python_changed=True, checks=results)
    done = claimed(-50, TaskState.DONE, attempt=1, verification=judged)
    failed = move(done, TaskState.FAILED, "SignalFailed", at(seconds))
    return move(failed, TaskState.OPEN, "Retry", at(seconds))


def task(name: str, found: TaskStatus, **spec: Any) -> Task:
    return objects.task(name, status=found, files=[f"{name}.py"], **spec)


def rejected_task(found: TaskStatus) -> Task:
    return task("tester", found, completionSignals=TESTS)


REJECTED = rejected_task(rejected(0, ("signal-0", "Failed")))


def plan_of(*tasks: Task) -> Schedule:
    return schedule(
        ProjectSnapshot(
            project=PROJECT,
            members=tasks,
            plan_of={t.metadata.name: PLAN for t in tasks if t.metadata.owner_references},
            tasks={t.metadata.name: t for t in tasks},
        ),
        at(60),
    )


@pytest.mark.parametrize("state", [TaskState.CLAIMED, TaskState.IN_PROGRESS, TaskState.DONE])
def test_whose_work_a_command_rejected_waits_for_those_that_were_at_work_beside_it(
    state: TaskState,
) -> None:
    found = plan_of(REJECTED, task("writer", claimed(-10, state)))

    assert starts(found) == []
    assert reasons(found) == {
        "tester": "SiblingsAtWork: its work may lack what ran beside it: "
        "tried again when writer landed or ended"
    }


def test_the_message_names_three_of_them_and_counts_the_others() -> None:
    writers = [task(f"w{number}", claimed(-10)) for number in range(5)]

    assert "when w0, w1, w2 and 2 more landed" in reasons(plan_of(REJECTED, *writers))["tester"]


@pytest.mark.parametrize(
    "beside",
    [
        task("later", claimed(10)),
        task("closed", objects.closed(1)),
        task("failed", rejected(-5, ("tests", "Failed"))),
        task(
            "stands-still",
            claimed(-10, TaskState.DONE, waiting=waits("MergeConflict", needs_person=True)),
        ),
        objects.task("of-another-plan", plan=None, status=claimed(-10), files=["z.py"]),
    ],
    ids=lambda t: t.metadata.name,
)
def test_nobody_else_is_waited_for(beside: Task) -> None:
    assert "tester" in starts(plan_of(REJECTED, beside))


def in_conflict(seconds: float) -> TaskStatus:
    """Open again; its work did not merge so long after NOW."""
    last = Attempt(session="second-s1", attempt=1, counted=True, reason="MergeConflict")
    done = claimed(-50, TaskState.DONE, attempt=1, resolved=True)
    failed = move(done, TaskState.FAILED, "MergeConflict", at(seconds))
    found = move(failed, TaskState.OPEN, "Retry", at(seconds))
    return found.model_copy(update={"attempts": (last,)})


@pytest.mark.parametrize("state", [TaskState.CLAIMED, TaskState.IN_PROGRESS, TaskState.DONE])
def test_whose_work_does_not_merge_waits_for_who_may_move_the_tip_once_more(
    state: TaskState,
) -> None:
    """Its one attempt for the conflict would meet the next one."""
    second = task("second", in_conflict(0))

    found = plan_of(second, task("first", claimed(-10, state, resolved=True)))
    assert starts(found) == []
    assert list(reasons(found)) == ["second"]

    later = plan_of(second, task("first", claimed(10, state)))
    assert starts(later) == ["second"], "who begins after it does not keep it back"


def test_two_that_were_rejected_do_not_wait_for_each_other() -> None:
    first = rejected_task(rejected(-5, ("signal-0", "Failed")))
    second = task("second", rejected(0, ("tests", "Failed")))

    assert sorted(starts(plan_of(first, second))) == ["second", "tester"]


@pytest.mark.parametrize(
    ("checks", "starts_at_once"),
    [
        ((("signal-0", "Failed"), ("lint", "Failed")), False),
        ((("tests", "TimedOut"),), False),
        ((("lint", "Failed"),), True),
        ((("pii", "Failed"),), True),
    ],
    ids=["signal and lint", "tests took too long", "lint looks at files", "a scan only reads"],
)
def test_only_what_judges_the_whole_tree_may_lack_the_work_of_others(
    checks: tuple[tuple[str, str], ...], starts_at_once: bool
) -> None:
    found = plan_of(rejected_task(rejected(0, *checks)), task("writer", claimed(-10)))

    assert (starts(found) == ["tester"]) is starts_at_once


def test_an_attempt_that_was_never_judged_is_tried_again_at_once() -> None:
    lost = claimed(-50, TaskState.IN_PROGRESS)
    again = move(lost, TaskState.OPEN, "PodLost", at(0))

    assert "tester" in starts(plan_of(rejected_task(again), task("writer", claimed(-10))))


def test_it_goes_on_when_the_last_of_them_has_landed() -> None:
    beside = (task("one", objects.closed(1)), task("two", objects.closed(2)))

    assert starts(plan_of(REJECTED, *beside)) == ["tester"]
