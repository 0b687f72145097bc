"""WaitingForSubtasks: an agent splits its Task, others do the parts."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.subtasks import Split
from bernstein.api.task import Task, TaskStatus
from bernstein.core import labels, owners
from bernstein.core.actions import CancelTasks, CreateTasks, TaskDecision
from bernstein.core.documents import SUBTASKS
from bernstein.core.plans.subtasks.objects import names_of
from bernstein.core.sessions.documents import expected
from bernstein.core.snapshot import Handed
from bernstein.core.tasks import decide as task_decide
from bernstein.core.tasks import subtasks
from bernstein.core.tasks.subtasks import PATIENCE
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    HEAD,
    Object,
    at,
    metadata,
    session,
    sha,
    stalled_for,
    status,
    work,
)

SHA = "a" * 64
TWO = {"subtasks": [{"title": "The endpoint", "role": "backend"}, {"title": "Its page"}]}
NAMES = names_of(objects.task(), 1, 2)
ROW: Object = {"name": "work", "stage": "build", "step": 0}


def document(value: object = TWO) -> Handed:
    return Handed(json.dumps(value).encode())


LOST = Handed(None)


def left(sha_of_work: str = BASE) -> AgentSession:
    """A session of the Task `work` that has ended and left subtasks."""
    return session(
        state=SessionState.DEAD,
        outcome={"reason": "Succeeded", "started": True},
        work=work(sha_of_work).model_dump(),
        documents=[{"name": SUBTASKS.name, "bytes": 10, "sha256": SHA}],
    )


def plan(*names: str, **spec: Any) -> Plan:
    """The Plan of `work`, with rows for these subtasks of it."""
    rows = [ROW, *({"name": name, "stage": "-", "parent": "work"} for name in names)]
    own = PlanStatus.model_validate({"observed_generation": 1, "tasks": rows})
    return objects.plan(status=own, **spec)


def manager(before: TaskStatus, **spec: Any) -> Task:
    return objects.task(status=before, role="manager", **spec)


def split(state: TaskState = TaskState.WAITING_FOR_SUBTASKS, **more: Any) -> TaskStatus:
    """The status of `work` once it was split."""
    fields: Object = {
        "attempt": 1,
        "split": Split(number=1, session="work-s1", sha256=SHA, since=at(0)).model_dump(),
        "subtasks": [{"name": name} for name in NAMES],
        "verification": objects.verification(sha=BASE, files_changed=0),
    }
    return objects.with_session(state, **(fields | more))


def part(number: int, state: TaskState = TaskState.OPEN, **more: Any) -> Task:
    """The subtask of this number, which the Plan owns."""
    own = more.pop("status", None) or status(state)
    return objects.task(NAMES[number - 1], status=own, **more)


def look(
    before: TaskStatus,
    *others: Task,
    seconds: float = 60,
    of: Plan | None = None,
    handed: Handed | None = None,
    spec: Object | None = None,
    **given: Any,
) -> TaskDecision:
    subject = manager(before, **(spec or {}))
    seen = objects.snapshot(subject, others=others, plan=of or plan(*NAMES), handed=handed, **given)
    return task_decide.decide(seen, at(seconds))


def ends(handed: Handed | None, of: AgentSession | None = None, **given: Any) -> TaskStatus:
    """What follows from a session that has left this document."""
    found = look(
        objects.with_session(TaskState.IN_PROGRESS),
        of=given.pop("of", plan()),
        handed=handed,
        sessions=(of or left(),),
        **given,
    )
    assert found.actions == ()
    return found.status


def rows(found: TaskStatus) -> list[tuple[str, str | None, str]]:
    return [(row.name, row.uid, row.state) for row in found.subtasks or ()]


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
    return metadata(obj["metadata"]["name"], "uid-x") | obj["metadata"]


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
                "priority": 1,
                "completion_signals": [own],
                "estimated_minutes": 5,
            },
        ]
    }
    one, two = (obj["spec"] for obj in made(look(split(), handed=document(value), spec=parent)))

    shared = {"cli": "demo", "goal": "Better web", "constraints": ["no new library"]}
    assert {key: one[key] for key in shared} == {key: two[key] for key in shared} == shared
    assert (one["files"], one["priority"], one["maxRetries"]) == (["src"], 4, 1)
    assert one["completionSignals"][0]["path"] == "a.py"
    assert (two["files"], two["priority"], two["role"]) == (["src/b.py"], 1, "qa")
    assert two["completionSignals"][0]["path"] == "b.py"
    assert not any("model" in spec or "stage" in spec for spec in (one, two))


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
    assert "`bernstein unblock TASK`" in found.waiting.message


# --- while they are at work -----------------------------------------------------------------------


def waiting(*parts: Task, seconds: float = 60, of: Plan | None = None) -> TaskDecision:
    made = [{"name": name, "uid": f"uid-{name}"} for name in NAMES]
    return look(split(subtasks=made), *parts, seconds=seconds, of=of)


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
