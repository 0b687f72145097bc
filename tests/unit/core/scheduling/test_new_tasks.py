"""A Task that nobody has looked at yet: the schedule says the first of it, in one write."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.waiting import Cancel
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.decide import decide, is_left_to_schedule
from tests.unit.core import objects
from tests.unit.core.objects import at, project
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import schedule

NEW = objects.status(observed_generation=-1, project=None)
"""What the API server makes of a Task that is applied."""
RETRY = {"id": "r-1", "verb": "Retry", "by": "ann", "reason": "once more"}
PATTERN = {"type": "file_contains", "path": "a.py", "contains": "x+", "regex": True}


def task(name: str = "work", status: TaskStatus = NEW, **spec: Any) -> Task:
    return objects.task(name, plan=None, status=status, **spec)


def members(*tasks: Task, agents: int = 1) -> ProjectSnapshot:
    of = project(limits={"maxAgents": agents})
    return ProjectSnapshot(of, tasks, {}, {t.metadata.name: t for t in tasks})


def alone(subject: Task) -> TaskSnapshot:
    return TaskSnapshot(task=subject, project=project(), tasks={"work": subject})


def moves(status: TaskStatus) -> list[tuple[str | None, str, str]]:
    return [(each.from_state, each.to_state, each.reason) for each in status.history]


CREATED = (None, "Open", "Created")


def test_one_that_starts_at_once_is_open_and_claimed_in_one_write() -> None:
    ((subject, status),) = schedule(members(task()), at(5)).moves

    assert subject.status == NEW
    assert status.state is TaskState.CLAIMED
    assert moves(status) == [CREATED, ("Open", "Claimed", "Scheduled")]
    assert [(each.actor, each.time) for each in status.history] == [("operator", at(5))] * 2
    assert (status.project, status.observed_generation) == ("default", 1)
    assert (status.started_at, status.session) == (at(5), "work-s1")


def test_one_that_waits_says_why_with_its_first_move() -> None:
    running = task("first", objects.status(TaskState.CLAIMED, sessions=1, session="first-s1"))

    decided = schedule(members(running, task()), at(5))

    ((_, status),) = decided.waits
    assert decided.moves == ()
    assert (status.state, moves(status)) == (TaskState.OPEN, [CREATED])
    assert status.waiting is not None
    assert status.waiting.reason == "MaxAgents"
    assert (status.project, status.observed_generation) == ("default", 1)


def test_one_that_was_looked_at_is_not_opened_twice() -> None:
    ((_, status),) = schedule(members(task(status=objects.status())), at(5)).moves

    assert moves(status) == [("Open", "Claimed", "Scheduled")]


def test_its_own_reconcile_leaves_it_to_the_schedule() -> None:
    assert is_left_to_schedule(alone(task()))
    assert not is_left_to_schedule(alone(task(status=objects.status())))


def cancelled(subject: Task) -> Task:
    return subject.model_copy(update={"spec": subject.spec.model_copy(update={"cancel": Cancel()})})


OTHERS = {
    "its patterns are to be judged": alone(task(completionSignals=[PATTERN])),
    "it is cancelled": alone(cancelled(task())),
    "somebody asks for something": alone(task(requests=[RETRY])),
    "it has no Project": replace(
        alone(task()), project=None, project_problem=Diagnosis(Reason.PROJECT_NOT_FOUND, "none")
    ),
    "its CRD gives it no state": alone(task(status=objects.status(None, observed_generation=-1))),
}


@pytest.mark.parametrize("why", OTHERS)
def test_what_no_schedule_tells_it_tells_itself(why: str) -> None:
    snapshot = OTHERS[why]

    assert not is_left_to_schedule(snapshot)
    if snapshot.project is not None:
        assert not schedule(members(snapshot.task), at(5)).moves
    status = decide(snapshot, at(5)).status
    assert moves(status)[0] == CREATED
    assert status.observed_generation == 1
