"""WaitingForSubtasks: others do the parts of a Task."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bernstein.api.plans.rows import MAX_ROWS
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import CancelTasks, CreateTasks
from bernstein.core.scheduling.parts import names_of
from bernstein.core.tasks.parts import subtasks
from bernstein.core.tasks.parts.subtasks import PATIENCE
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    Object,
    at,
    session,
    sha,
    stalled_for,
    status,
    work,
)
from tests.unit.core.tasks.parts.splits import (
    NAMES,
    SHA,
    document,
    left,
    look,
    manager,
    part,
    plan,
    rows,
    split,
    waiting,
)

# --- while they are at work -----------------------------------------------------------------------


def test_its_status_says_how_far_they_are() -> None:
    found = waiting(part(1, TaskState.CLOSED), part(2, TaskState.IN_PROGRESS)).status

    assert found.state is TaskState.WAITING_FOR_SUBTASKS
    assert [state for *_, state in rows(found)] == ["Closed", "InProgress"]
    assert found.waiting is not None
    assert found.waiting.message == "1 of 2 subtasks Closed"


def test_once_all_are_closed_what_they_landed_is_judged() -> None:
    found = waiting(part(1, TaskState.CLOSED), part(2, TaskState.CLOSED)).status

    assert found.state is TaskState.DONE
    assert found.verification is not None
    assert (found.verification.lost, found.verification.sha) == (True, BASE)
    assert found.split is not None
    assert found.split.over is True
    assert not subtasks.is_split(found)
    assert rows(found)[0][0] == NAMES[0], "whoever looks sees what it was split into"


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ((part(1), part(2, TaskState.CANCELLED)), f"'{NAMES[1]}' ended as Cancelled"),
        (
            (part(1, status=status(TaskState.FAILED, attempt=4)), part(2)),
            f"'{NAMES[0]}' ended as Failed",
        ),
        ((part(2),), f"'{NAMES[0]}' was deleted"),
    ],
)
def test_one_that_ends_without_result_needs_a_person(parts: tuple[Task, ...], why: str) -> None:
    found = waiting(*parts).status

    assert found.state is TaskState.BLOCKED
    assert stalled_for(found.conditions) == "SubtasksStalled"
    assert found.waiting is not None
    assert why in found.waiting.message


def test_a_failed_one_with_an_attempt_left_is_no_end() -> None:
    tried = part(1, status=status(TaskState.FAILED, attempt=1))

    assert waiting(tried, part(2)).status.state is TaskState.WAITING_FOR_SUBTASKS


@pytest.mark.parametrize("before", [TaskState.BLOCKED])
def test_it_goes_on_with_one_that_goes_on(before: TaskState) -> None:
    stuck = waiting(part(1), part(2, TaskState.CANCELLED)).status
    blocked = look(stuck, part(1), part(2, TaskState.CANCELLED)).status
    assert blocked.state is before

    opened = look(blocked, part(1), part(2)).status
    assert (opened.state, opened.blocked) == (TaskState.OPEN, None)
    assert subtasks.is_split(opened)
    back = look(opened, part(1), part(2)).status
    assert back.state is TaskState.WAITING_FOR_SUBTASKS


OVER = PATIENCE / timedelta(seconds=1)


def moved(number: int, state: TaskState, seconds: float, **more: Any) -> Task:
    move = {"to_state": state, "reason": "x", "attempt": 0, "time": at(seconds)}
    return part(number, status=status(state, history=[move], **more))


def test_where_none_makes_progress_for_half_an_hour_a_person_is_needed() -> None:
    parts = (moved(1, TaskState.OPEN, 100), part(2))

    found = waiting(*parts, seconds=99 + OVER)
    assert found.status.state is TaskState.WAITING_FOR_SUBTASKS
    assert found.requeue_after == 1

    stuck = waiting(*parts, seconds=100 + OVER).status
    assert stuck.state is TaskState.BLOCKED
    assert stuck.waiting is not None
    assert "none of its subtasks has made progress for 30 minutes" in stuck.waiting.message


def test_where_the_plan_has_no_room_for_them_it_is_said_at_once() -> None:
    full = plan().status
    rows = [full.tasks[0].model_copy(update={"name": f"t{n}"}) for n in range(MAX_ROWS - 1)]
    of = objects.plan(status=full.model_copy(update={"tasks": (*full.tasks, *rows)}))

    found = look(split(), of=of, handed=document())

    assert found.actions == ()
    assert found.status.state is TaskState.BLOCKED
    assert stalled_for(found.status.conditions) == "SubtasksStalled"
    assert found.status.waiting is not None
    told = found.status.waiting.message
    assert told == (
        "its Plan has no room for 2 more Tasks. Remedy: Cancel it, and apply what is left of it as "
        "another Plan."
    )


def test_until_the_plan_has_rows_for_them_it_is_looked_at_again_in_time() -> None:
    found = look(split(), of=plan(), handed=document(), seconds=60)

    assert found.actions == ()
    assert found.status.state is TaskState.WAITING_FOR_SUBTASKS
    assert found.requeue_after == OVER - 60


def test_one_at_work_makes_progress_however_long_it_takes() -> None:
    parts = (moved(1, TaskState.IN_PROGRESS, 100), part(2))

    assert waiting(*parts, seconds=10 * OVER).status.state is TaskState.WAITING_FOR_SUBTASKS


def test_those_of_a_suspended_plan_are_waited_for() -> None:
    found = waiting(part(1), part(2), seconds=10 * OVER, of=plan(*NAMES, suspend=True)).status

    assert found.state is TaskState.WAITING_FOR_SUBTASKS


def test_where_none_goes_on_without_a_person_it_says_so_itself() -> None:
    poor = {"reason": "BudgetExceeded", "message": "$5 of $5", "since": at(0), "needs_person": True}
    parts = (part(1, TaskState.CLOSED), part(2, status=status(waiting=poor)))

    found = waiting(*parts).status

    assert (found.state, stalled_for(found.conditions)) == (
        TaskState.WAITING_FOR_SUBTASKS,
        "BudgetExceeded",
    )
    beside = waiting(part(1), parts[1]).status
    assert stalled_for(beside.conditions) is None, "another one goes on"


# --- cancelled, done anew -------------------------------------------------------------------------

CANCEL: Object = {"cancel": {"reason": "not needed", "by": "ann"}}


def test_a_cancel_goes_down_to_them_and_waits_for_their_end() -> None:
    found = look(split(), part(1, TaskState.IN_PROGRESS), part(2, TaskState.CLOSED), spec=CANCEL)

    (action,) = found.actions
    assert isinstance(action, CancelTasks)
    assert (action.names, action.cancel.reason, action.cancel.by) == (
        (NAMES[0],),
        "not needed",
        "ann",
    )
    assert found.status.state is TaskState.WAITING_FOR_SUBTASKS

    told = part(1, TaskState.IN_PROGRESS, **CANCEL)
    assert look(split(), told, part(2, TaskState.CLOSED), spec=CANCEL).actions == ()
    over = look(split(), part(1, TaskState.CANCELLED), part(2, TaskState.CLOSED), spec=CANCEL)
    assert over.status.state is TaskState.CANCELLED


def test_so_it_does_of_one_that_is_blocked() -> None:
    blocked = waiting(part(1), part(2, TaskState.CANCELLED)).status

    found = look(blocked, part(1), part(2, TaskState.CANCELLED), spec=CANCEL)

    assert [type(action) for action in found.actions] == [CancelTasks]


def test_nothing_is_made_of_one_that_is_cancelled() -> None:
    found = look(split(), handed=document(), spec=CANCEL)

    assert not any(isinstance(action, CreateTasks) for action in found.actions)
    assert found.status.state is TaskState.CANCELLED


def test_a_person_has_it_done_anew_without_them() -> None:
    blocked = waiting(part(1), part(2, TaskState.CANCELLED)).status
    asks: Object = {
        "requests": [{"id": "r1", "verb": "Unblock", "by": "ann", "reason": "do it yourself"}]
    }

    found = look(blocked, part(1), part(2, TaskState.CANCELLED), spec=asks).status

    assert found.state is TaskState.OPEN
    assert not subtasks.is_split(found)
    assert found.blocked is not None
    assert found.blocked.answer == "do it yourself"
    assert look(found, part(1), spec=asks).status.state is TaskState.OPEN


def test_it_may_be_split_once_more_under_other_names() -> None:
    before = split(TaskState.IN_PROGRESS)
    assert before.split is not None
    over = before.model_copy(update={"split": before.split.model_copy(update={"over": True})})

    found = look(over, of=plan(*NAMES), handed=document(), sessions=(left(),)).status

    assert found.split is not None
    assert (found.split.number, found.split.over) == (2, None)
    assert [row.name for row in found.subtasks or ()] == list(names_of(objects.task(), 2, 2))


# --- what is read ---------------------------------------------------------------------------------


def test_the_document_is_read_only_where_the_next_step_needs_it() -> None:
    def needs(before: TaskStatus, *others: Task, **given: Any) -> tuple[str, str] | None:
        return subtasks.needed(objects.snapshot(manager(before), others=others, **given))

    at_work = objects.with_session(TaskState.IN_PROGRESS)
    assert needs(at_work, sessions=(left(),)) == ("work-s1", SHA)
    assert needs(at_work, sessions=(objects.dead(work=work()),)) is None
    assert needs(at_work, sessions=(session(state=SessionState.WORKING),)) is None
    assert needs(split()) == ("work-s1", SHA)
    assert needs(split(), part(1)) == ("work-s1", SHA)
    assert needs(split(), part(1), part(2)) is None
    assert needs(objects.done()) is None
    assert sha(1) != SHA
