"""An agent splits its Task: who may, what is refused, and how its subtasks are made."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import MAX_ROWS
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core import labels, owners
from bernstein.core.actions import TaskDecision
from bernstein.core.documents import SUBTASKS
from bernstein.core.plans.size import room_for_parts, too_large
from bernstein.core.scheduling.parts import names_of
from bernstein.core.sessions.documents import expected, most_subtasks
from tests.unit.core import objects
from tests.unit.core.objects import (
    HEAD,
    Object,
    metadata,
    stalled_for,
    status,
)
from tests.unit.core.tasks.parts.splits import (
    LOST,
    NAMES,
    ROW,
    SHA,
    document,
    ends,
    left,
    look,
    manager,
    part,
    plan,
    rows,
    split,
)

# --- who may --------------------------------------------------------------------------------------


def may(of: Plan | None = None, subject: Task | None = None, **given: Any) -> tuple[str, ...]:
    found = subject or manager(objects.status())
    return expected(objects.snapshot(found, plan=of or plan(), **given))


def limits(**subtasks: int) -> Any:
    return objects.project(limits={"subtasks": subtasks})


def test_a_manager_of_a_plan_may_leave_subtasks_and_nobody_else() -> None:
    assert may() == (SUBTASKS.name,)
    assert may(subject=objects.task(role="backend")) == ()
    assert may(subject=manager(objects.status(), changes="none")) == ()
    alone = objects.snapshot(objects.task(role="manager", plan=None))
    assert expected(alone) == ()


def test_nor_where_each_task_of_the_plan_is_delivered_by_itself() -> None:
    begun = plan()
    assert begun.status.integration is not None
    each = begun.status.integration.model_copy(update={"per": "Task"})
    own = begun.status.model_copy(update={"integration": each})

    assert may(begun.model_copy(update={"status": own})) == ()


@pytest.mark.parametrize(("depth", "at_depth"), [(0, ()), (1, (0,)), (2, (0, 1))])
def test_what_is_split_is_split_again_only_so_often(depth: int, at_depth: tuple[int, ...]) -> None:
    chain = [ROW]
    for level, of in enumerate(("work", "part-1", "part-2"), 1):
        chain.append({"name": f"part-{level}", "stage": "-", "parent": of})
    own = PlanStatus.model_validate({"observed_generation": 1, "tasks": chain})
    found = objects.plan(status=own)
    tasks = [
        manager(objects.status()),
        *(objects.task(f"part-{n}", role="manager") for n in (1, 2)),
    ]

    allowed = [bool(may(found, task, project=limits(depth=depth))) for task in tasks]

    assert [level for level, yes in enumerate(allowed) if yes] == list(at_depth)


# --- split ----------------------------------------------------------------------------------------


def test_who_has_left_subtasks_waits_for_them_before_there_is_any() -> None:
    found = ends(document())

    assert found.state is TaskState.WAITING_FOR_SUBTASKS
    assert rows(found) == [(name, None, "Open") for name in NAMES]
    assert found.split is not None
    assert (found.split.number, found.split.session, found.split.sha256) == (1, "work-s1", SHA)
    assert [(a.reason, a.counted) for a in found.attempts] == [("Succeeded", True)]
    assert (found.attempt, found.history[-1].reason) == (1, "Split")
    assert found.waiting is not None
    assert (found.waiting.reason, found.waiting.message) == (
        "SubtasksPending",
        "0 of 2 subtasks Closed",
    )


def test_names_differ_between_tasks_and_between_splits_and_fit() -> None:
    long = objects.task("a" * 40)
    every = [*names_of(long, 1, 20), *names_of(long, 2, 20), *names_of(objects.task(), 1, 20)]

    assert len(set(every)) == 60
    assert max(map(len, every)) <= 40


def test_nothing_follows_before_the_document_was_read() -> None:
    assert ends(None).state is TaskState.IN_PROGRESS


def test_what_is_lost_costs_no_attempt_and_is_tried_again() -> None:
    found = ends(LOST)

    assert (found.state, found.attempt, found.infrastructure_failures) == (TaskState.OPEN, 0, 1)
    assert [(a.reason, a.counted) for a in found.attempts] == [("PodLost", False)]


def test_a_bad_document_costs_the_attempt_and_the_next_one_is_told_all_of_it() -> None:
    bad = {"subtasks": [{"title": "x", "cli": "big"}, {"role": "wizard", "title": "y"}]}
    found = ends(document(bad))

    assert (found.state, found.attempt, found.subtasks) == (TaskState.FAILED, 1, None)
    assert [a.reason for a in found.attempts] == ["SubtasksInvalid"]
    assert found.feedback is not None
    assert found.feedback.startswith("SubtasksInvalid: it is not split: what its agent left in")
    assert "\n> subtasks[0].cli: a subtask does not say that" in found.feedback
    assert "\n> subtasks[1].role: invalid value 'wizard'" in found.feedback


def test_who_is_split_changes_nothing_itself() -> None:
    found = ends(document(), left(HEAD))

    assert (found.state, found.attempts[-1].reason) == (TaskState.FAILED, "SubtasksInvalid")
    assert found.feedback is not None
    assert "it has changed files, too" in found.feedback


def test_it_is_split_into_no_more_than_the_project_and_the_plan_have_room_for() -> None:
    found = ends(document(), project=limits(count=1))
    assert found.feedback is not None
    assert "\n> subtasks: at most 1, got 2" in found.feedback

    own = plan().status
    full = own.model_copy(update={"tasks": own.tasks * (MAX_ROWS - 1)})
    assert (
        most_subtasks(objects.snapshot(manager(objects.status()), plan=objects.plan(status=full)))
        == 1
    )


def test_nor_into_more_than_the_object_of_the_plan_has_room_for() -> None:
    steps = [{"title": f"Do {n}", "description": "x" * 8192} for n in range(45)]
    stages = [{"name": f"stage {n}", "steps": steps[: 44 if n < 3 else 2]} for n in range(4)]
    large = plan(stages=stages)
    room = room_for_parts(large)
    assert tuple(too_large(large.spec)) == ()
    assert 0 < room < 20

    many = document({"subtasks": [{"title": f"t{n}"} for n in range(20)]})
    running = objects.with_session(TaskState.IN_PROGRESS)
    found = look(running, of=large, handed=many, sessions=(left(),)).status

    assert found.feedback is not None
    assert f"\n> subtasks: at most {room}, got 20" in found.feedback


def test_a_document_of_whom_nobody_asked_for_one_splits_nothing() -> None:
    found = ends(document(), project=limits(depth=0))

    assert (found.state, found.attempts[-1].reason) == (TaskState.FAILED, "SubtasksInvalid")


# --- made -----------------------------------------------------------------------------------------


def made(found: TaskDecision) -> list[Object]:
    return [obj for action in found.actions for obj in getattr(action, "objects", ())]


def test_they_are_made_once_the_plan_has_a_row_for_each() -> None:
    assert look(split(), of=plan(), handed=document()).actions == ()
    assert look(split(), of=plan(NAMES[0]), handed=document()).actions == ()

    found = look(split(), handed=document())

    assert [obj["metadata"]["name"] for obj in made(found)] == list(NAMES)
    assert found.status.state is TaskState.WAITING_FOR_SUBTASKS
    owner = owners.plan_of(
        Task.model_validate(made(found)[0] | {"metadata": _seen(made(found)[0])})
    )
    assert owner is not None
    assert owner.name == "web"


def _seen(obj: Object) -> Object:
    made: Object = metadata(obj["metadata"]["name"], "uid-x")
    made |= obj["metadata"]
    return made


def test_after_a_crash_between_them_only_the_others_are_made() -> None:
    found = look(split(), part(1), handed=document())

    assert [obj["metadata"]["name"] for obj in made(found)] == [NAMES[1]]
    assert rows(found.status)[0] == (NAMES[0], f"uid-{NAMES[0]}", "Open")
    assert made(look(split(), part(1), part(2))) == []


def test_what_another_plan_owns_under_a_name_is_none_of_them() -> None:
    stranger = objects.task(NAMES[0], status=status(), plan="other")

    found = look(split(), stranger, handed=document())

    assert [obj["metadata"]["name"] for obj in made(found)] == list(NAMES)
    assert rows(found.status)[0] == (NAMES[0], None, "Open")


def test_they_have_what_their_parent_has_but_for_what_they_say() -> None:
    signal: Object = {"type": "path_exists", "path": "a.py"}
    own: Object = {"type": "path_exists", "path": "b.py"}
    parent: Object = {
        "cli": "demo",
        "goal": "Better web",
        "constraints": ["no new library"],
        "files": ["src"],
        "priority": 4,
        "maxRetries": 1,
        "model": "opus",
        "completionSignals": [signal],
    }
    value = {
        "subtasks": [
            {"title": "One"},
            {
                "title": "Two",
                "role": "qa",
                "files": ["src/b.py"],
                "priority": 5,
                "completion_signals": [own],
                "estimated_minutes": 5,
            },
        ]
    }
    one, two = (obj["spec"] for obj in made(look(split(), handed=document(value), spec=parent)))

    shared = {key: parent[key] for key in ("cli", "model", "goal", "constraints")}
    assert {key: one[key] for key in shared} == {key: two[key] for key in shared} == shared
    assert (one["files"], one["priority"], one["maxRetries"]) == (["src"], 4, 1)
    assert one["completionSignals"][0]["path"] == "a.py"
    assert (two["files"], two["priority"], two["role"]) == (["src/b.py"], 5, "qa")
    assert two["completionSignals"][0]["path"] == "b.py"
    assert not any("stage" in spec for spec in (one, two))


def test_they_are_found_by_a_label_and_never_by_a_tool_that_delivers() -> None:
    for obj in made(look(split(), handed=document())):
        assert obj["metadata"]["labels"][labels.SUBTASK_OF] == "work"
        assert "app.kubernetes.io/instance" not in obj["metadata"]["labels"]


def test_what_the_api_server_refuses_is_tried_again_later() -> None:
    found = look(split(), handed=document(), refused="quota")

    assert stalled_for(found.status.conditions) == "PodRejected"
    again = look(found.status, handed=document())
    assert again.actions == ()
    assert again.requeue_after is not None


def test_a_document_that_is_lost_before_all_are_made_needs_a_person() -> None:
    found = look(split(), part(1), handed=LOST).status

    assert found.state is TaskState.BLOCKED
    assert found.waiting is not None
    assert "1 subtask of it cannot be made" in found.waiting.message
    assert "`bernstein unblock TASK --reason WHY`" in found.waiting.message
