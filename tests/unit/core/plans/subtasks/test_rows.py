"""Subtasks in the rows of their Plan: they are its, and it is whole without those given up."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import MAX_ROWS
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.actions import CancelTasks, PlanDecision
from bernstein.core.delivery.resolving import is_whole
from bernstein.core.plans import decide as plan_decide
from bernstein.core.plans import size
from bernstein.core.plans.subtasks.rows import have_room, with_rows
from bernstein.core.plans.tally import tally
from tests.unit.core import objects
from tests.unit.core.objects import Object, at, status

PARENT: Object = {"name": "work", "stage": "build", "step": 0, "uid": "uid-work"}


def parent(
    *names: str,
    state: TaskState = TaskState.WAITING_FOR_SUBTASKS,
    name: str = "work",
    **more: Any,
) -> Task:
    """The Task `work`, which waits for subtasks of these names."""
    over = more.pop("over", None)
    split = {"number": 1, "session": "work-s1", "sha256": "a" * 64, "since": at(0), "over": over}
    rows = [{"name": name} for name in names]
    return objects.task(name, status=status(state, split=split, subtasks=rows), **more)


def part(name: str, state: TaskState = TaskState.OPEN, **more: Any) -> Task:
    return objects.task(name, status=status(state, **more))


def plan(*names: str, parent_row: Object | None = None, **more: Any) -> Plan:
    """With rows for these subtasks of `work`, seen already."""
    rows = [{"name": n, "stage": "-", "parent": "work", "uid": f"uid-{n}"} for n in names]
    fields: Object = {
        "observed_generation": 1,
        "tasks": [parent_row or PARENT, *rows],
        "conditions": [
            {"type": "Validated", "status": "True", "reason": "Valid", "lastTransitionTime": at(0)}
        ],
    }
    return objects.plan(status=PlanStatus.model_validate(fields), **more)


def look(of: Plan, *tasks: Task) -> PlanDecision:
    return plan_decide.decide(objects.plan_snapshot(of, *tasks), at(60))


def rows(found: PlanDecision) -> list[tuple[str, str | None, str]]:
    return [(row.name, row.parent, row.state) for row in found.status.tasks]


def cancelled(found: PlanDecision) -> list[str]:
    return [n for a in found.actions if isinstance(a, CancelTasks) for n in a.names]


def test_a_task_that_is_split_gets_a_row_for_each_behind_all_others() -> None:
    found = look(plan(), parent("a", "b"))

    assert rows(found)[1:] == [("a", "work", "Open"), ("b", "work", "Open")]
    assert [row.name for row in found.status.extra] == ["a", "b"]
    assert cancelled(found) == []


def test_rows_are_added_once() -> None:
    of = plan("a", "b")

    assert len(look(of, parent("a", "b"), part("a"), part("b")).status.tasks) == 3


def test_those_of_a_plan_in_several_repositories_are_in_that_of_their_parent() -> None:
    of = plan(parent_row=PARENT | {"repository": "web"})
    snapshot = objects.plan_snapshot(of, parent("a"))

    assert with_rows(snapshot, of.status).tasks[1].repository == "web"


def test_no_more_rows_than_a_status_holds() -> None:
    own = plan().status
    many = [own.tasks[0].model_copy(update={"name": f"t{n}", "step": n}) for n in range(MAX_ROWS)]
    full = own.model_copy(update={"tasks": (own.tasks[0], *many[1:])})
    snapshot = objects.plan_snapshot(objects.plan(status=full), parent("a"))

    assert len(with_rows(snapshot, full).tasks) == MAX_ROWS


@pytest.mark.parametrize(
    ("room", "names"),
    [
        (1, []),
        (2, ["d", "e"]),
        (3, ["a", "b", "c"]),
        (4, ["a", "b", "c"]),
        (5, ["a", "b", "c", "d", "e"]),
    ],
)
def test_all_of_a_task_have_rows_or_none_where_its_object_has_no_room(
    monkeypatch: pytest.MonkeyPatch, room: int, names: list[str]
) -> None:
    first, other = parent("a", "b", "c"), parent("d", "e", name="z-other")
    of = plan()
    beside = of.status.tasks[0].model_copy(update={"name": "z-other", "uid": None})
    of = of.model_copy(
        update={"status": of.status.model_copy(update={"tasks": (*of.status.tasks, beside)})}
    )
    monkeypatch.setattr(size, "PLAN_BYTES", _bytes_with(of, rows=room))

    found = with_rows(objects.plan_snapshot(of, first, other), of.status)

    assert [row.name for row in found.extra] == names


def test_a_smaller_split_has_the_room_that_a_larger_one_has_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of = plan("a")
    monkeypatch.setattr(size, "PLAN_BYTES", _bytes_with(of, rows=2))

    assert have_room(of, parent("a", "b"), 1)
    assert not have_room(of, parent("a", "b", "c"), 2)


def _bytes_with(of: Plan, rows: int) -> int:
    """As many bytes as the Plan takes with room for so many rows of subtasks."""
    fits = range(0, size.PLAN_BYTES, 100)
    empty = of.model_copy(update={"status": of.status.model_copy(update={"tasks": ()})})
    with pytest.MonkeyPatch.context() as patch:
        for most in fits:
            patch.setattr(size, "PLAN_BYTES", most)
            if size.room_for_parts(empty) == rows:
                return most
    raise AssertionError


def test_their_cost_is_the_plans() -> None:
    of = plan("a")
    snapshot = objects.plan_snapshot(of, parent("a"), part("a", spend_usd="1.5"))

    assert tally(snapshot).spend_usd == "1.5"


def test_those_of_a_parent_that_was_cancelled_deleted_or_is_done_anew_are_cancelled() -> None:
    going = part("a", TaskState.IN_PROGRESS)

    assert cancelled(look(plan("a"), parent("a"), going)) == []
    assert cancelled(look(plan("a"), parent("a", state=TaskState.CANCELLED), going)) == ["a"]
    assert cancelled(look(plan("a"), parent("a", over=True, state=TaskState.OPEN), going)) == ["a"]
    assert cancelled(look(plan("a"), parent("b"), going)) == ["a"]
    assert cancelled(look(plan("a"), going)) == ["a"]


def test_so_are_those_that_failed_and_nobody_is_told_twice() -> None:
    failed = part("a", TaskState.FAILED, attempt=9)
    told = objects.task("a", status=status(TaskState.OPEN), cancel={"reason": "x"})

    assert cancelled(look(plan("a"), parent("b"), failed)) == ["a"]
    assert cancelled(look(plan("a"), parent("b"), told)) == []
    assert cancelled(look(plan("a"), parent("b"), part("a", TaskState.CLOSED))) == []


def test_one_that_was_never_made_and_is_waited_for_no_more_counts_as_cancelled() -> None:
    unmade: Object = {"name": "a", "stage": "-", "parent": "work"}
    own = plan().status.model_dump() | {"tasks": [PARENT, unmade]}
    of = objects.plan(status=PlanStatus.model_validate(own))

    assert rows(look(of, parent("a")))[1] == ("a", "work", "Open")
    assert rows(look(of, parent(state=TaskState.OPEN, over=True)))[1] == ("a", "work", "Cancelled")


def test_a_plan_is_whole_when_the_tasks_of_its_steps_are() -> None:
    def whole(*tasks: Task) -> bool:
        snapshot = objects.plan_snapshot(plan("a", "b"), *tasks)
        return is_whole(snapshot, tally(snapshot))

    done = parent("a", "b", state=TaskState.CLOSED, over=True)
    both = (part("a", TaskState.CLOSED), part("b", TaskState.CANCELLED))
    assert whole(done, *both)
    assert not whole(parent("a", "b"), *both)
    assert not whole(parent("a", "b", state=TaskState.CANCELLED), *both)


@pytest.mark.parametrize(
    "others",
    [(), (part("b", TaskState.CANCELLED),)],
    ids=["none of them could be made", "one of an earlier split is cancelled"],
)
def test_why_a_plan_stands_still_is_what_its_split_task_says(others: tuple[Task, ...]) -> None:
    waits = objects.waits("PodRejected", "exceeded quota: tasks", needs_person=True)
    stuck = objects.task(status=parent("a").status.model_copy(update={"waiting": waits}))
    of = plan("a", *(task.metadata.name for task in others))
    rows = [r.model_copy(update={"uid": None}) if r.name == "a" else r for r in of.status.tasks]
    of = of.model_copy(update={"status": of.status.model_copy(update={"tasks": tuple(rows)})})

    found = look(of, stuck, *others).status

    assert found.phase == "Stalled"
    assert found.waiting is not None
    assert (found.waiting.reason, "deleted" in found.waiting.message) == ("PodRejected", False)
    assert "Task 'work': exceeded quota: tasks" in found.waiting.message


def test_there_is_no_more_room_for_them_than_for_all_tasks_of_a_plan() -> None:
    large = tuple(f"{number}{'x' * 1000}" for number in range(50))

    def room(**spec: Any) -> int:
        return size.room_for_parts(plan(**spec))

    assert room() > 1500
    assert room(constraints=large) * 50_000 < size.TASKS_BYTES
    assert room(constraints=large) > 200
