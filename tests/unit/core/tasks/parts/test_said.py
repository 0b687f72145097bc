"""A Task whose step says its subtasks is split where it would start, and never has a session."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.meta import ConditionType
from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import CreateSession, CreateTasks, RunPrepare, TaskDecision
from bernstein.core.conditions import is_true
from bernstein.core.scheduling.parts import names_of
from bernstein.core.scheduling.schedule import WAITS_AT_ONCE, Schedule
from bernstein.core.tasks import decide as task_decide
from bernstein.core.tasks.parts import subtasks
from bernstein.core.verification.candidate import can_be_made_anew, origin_of
from bernstein.core.verification.expected.task import question
from tests.unit.core import objects
from tests.unit.core.objects import BASE, Object, at, sha, status
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import reasons, schedule, starts
from tests.unit.core.tasks.parts.splits import NAMES, plan

PARTS: Object = {"subtasks": [{"title": "The endpoint", "priority": 4}, {"title": "Its page"}]}


def says(before: TaskStatus | None = None, name: str = "work", **more: Any) -> Task:
    return objects.task(name, status=before or status(), **(PARTS | more))


def looked(*tasks: Task, of: Plan | None = None, **project: Any) -> Schedule:
    whole = objects.project(**project).whole
    its = of or plan()
    return schedule(
        ProjectSnapshot(
            project=whole,
            members=tasks,
            plan_of={t.metadata.name: its for t in tasks if t.metadata.owner_references},
            tasks={t.metadata.name: t for t in tasks},
        ),
        at(60),
    )


def split(before: TaskStatus | None = None, **more: Any) -> TaskStatus:
    ((_, found),) = looked(says(before, **more)).moves
    return found


def look(before: TaskStatus, *others: Task, **given: Any) -> TaskDecision:
    seen = objects.snapshot(says(before), others=others, plan=plan(*NAMES), **given)
    return task_decide.decide(seen, at(120))


def part(number: int, state: TaskState = TaskState.OPEN) -> Task:
    return objects.task(NAMES[number - 1], status=status(state))


# --- where it would start -------------------------------------------------------------------------


def test_it_is_split_where_it_would_be_claimed() -> None:
    found = split()

    assert found.state is TaskState.WAITING_FOR_SUBTASKS
    assert [row.name for row in found.subtasks or ()] == list(NAMES)
    assert found.split is not None
    assert (found.split.number, found.split.session, found.split.sha256) == (1, None, None)
    assert (found.session, found.sessions, found.attempt) == (None, 0, 1)
    assert found.waiting is not None
    assert found.waiting.message == "0 of 2 subtasks Closed"


def test_so_is_one_that_nobody_has_looked_at() -> None:
    moves = [move.to_state for move in split(TaskStatus(state=TaskState.OPEN)).history]

    assert moves == ["Open", "WaitingForSubtasks"]


def test_it_takes_nobodys_place() -> None:
    beside = objects.task("other", status=status())

    found = looked(says(priority=1), beside, limits={"maxAgents": 1})

    assert starts(found) == ["other"]
    assert len(found.moves) == 2


def test_so_many_are_split_at_once_behind_who_starts_or_lands() -> None:
    tasks = [says(name=f"t{n:03}", created=at(-n)) for n in range(WAITS_AT_ONCE + 1)]
    beside = objects.task("z-beside", status=status())
    delivery = Delivery(state="Pending", onto="refs/heads/main")
    asks = objects.done(delivery=delivery, waiting=objects.waits("MergeQueue"))
    lands = objects.task("z-lands", status=asks)

    own = plan().status
    rows = [
        own.tasks[0].model_copy(update={"name": f"t{n:03}", "step": n}) for n in range(len(tasks))
    ]
    of = objects.plan(status=own.model_copy(update={"tasks": tuple(rows)}))

    found = looked(*tasks, beside, lands, of=of)

    names = [task.metadata.name for task, _ in found.moves]
    assert names == ["z-beside", "z-lands", *(f"t{n:03}" for n in range(WAITS_AT_ONCE, 0, -1))]
    assert found.more
    assert not looked(*tasks[1:], of=of).more


def test_it_waits_for_what_it_depends_on() -> None:
    before = objects.task("before", status=status(TaskState.IN_PROGRESS), plan=None)

    found = looked(says(depends_on=["before"]), before)

    assert found.moves == ()
    assert reasons(found)["work"].startswith("DependencyPending")


def test_nor_is_it_split_while_its_plan_is_suspended() -> None:
    assert looked(says(), of=plan(suspend=True)).moves == ()


ROWS = "no step of a Plan that delivers all of its work together"


@pytest.mark.parametrize(
    ("task", "of", "project", "why"),
    [
        (says(plan=None), None, {}, ROWS),
        (says(), objects.plan(), {}, ROWS),
        (
            says(),
            objects.plan(begun=False),
            {"merge": {"strategy": "direct", "per": "Task"}},
            ROWS,
        ),
        (says(), plan(), {"limits": {"subtasks": {"depth": 0}}}, "lets no Task be split"),
        (says(), plan(), {"limits": {"subtasks": {"count": 1}}}, "a Task be split into 1"),
    ],
)
def test_what_cannot_be_split_so_waits_for_a_person(
    task: Task, of: Plan | None, project: Object, why: str
) -> None:
    found = looked(task, of=of, **project)

    assert found.moves == ()
    ((_, told),) = found.waits
    assert told.waiting is not None
    assert (told.waiting.reason, told.waiting.needs_person) == ("SubtasksInvalid", True)
    assert why in told.waiting.message
    assert "Remedy: " in told.waiting.message


# --- without a session ----------------------------------------------------------------------------


@pytest.mark.parametrize("state", [TaskState.OPEN, TaskState.FAILED])
def test_no_state_of_it_leads_to_a_session(state: TaskState) -> None:
    found = look(status(state, attempt=1))

    assert not any(isinstance(action, CreateSession) for action in found.actions)
    assert starts(looked(says(found.status))) == []


def test_nobody_reads_a_document_for_it() -> None:
    assert subtasks.needed(objects.snapshot(says(split()), plan=plan(*NAMES))) is None


def test_its_subtasks_are_made_of_what_its_spec_says_once_the_plan_has_rows() -> None:
    seen = objects.snapshot(says(split(), priority=3), plan=plan())
    assert task_decide.decide(seen, at(120)).actions == ()

    (made,) = look(split()).actions
    assert isinstance(made, CreateTasks)
    assert [each["metadata"]["name"] for each in made.objects] == list(NAMES)
    specs = [each["spec"] for each in made.objects]
    assert [spec["title"] for spec in specs] == ["The endpoint", "Its page"]
    assert [spec["priority"] for spec in specs] == [4, 2]
    assert not any("subtasks" in spec for spec in specs)


def test_what_a_subtask_says_of_itself_is_what_its_task_says() -> None:
    said = {
        "title": "The endpoint",
        "description": "With its errors.",
        "role": "security",
        "priority": 4,
        "scope": "large",
        "complexity": "high",
        "estimatedMinutes": 45,
        "files": ["src/api.py"],
        "completionSignals": [{"type": "path_exists", "path": "src/api.py"}],
    }
    before = status()
    ((_, waiting),) = looked(says(before, subtasks=[said])).moves

    seen = objects.snapshot(says(waiting, subtasks=[said]), plan=plan(*NAMES))
    (made,) = task_decide.decide(seen, at(120)).actions

    assert isinstance(made, CreateTasks)
    (spec,) = (each["spec"] for each in made.objects)
    assert {name: spec[name] for name in said} == said


def test_those_that_are_there_are_not_made_again() -> None:
    (made,) = look(split(), part(1)).actions

    assert isinstance(made, CreateTasks)
    assert [each["metadata"]["name"] for each in made.objects] == [NAMES[1]]


# --- what it is judged on -------------------------------------------------------------------------

TIP = sha(7)


def is_done() -> TaskStatus:
    return look(split(), part(1, TaskState.CLOSED), part(2, TaskState.CLOSED), plan_tip=TIP).status


def test_done_it_is_what_its_subtasks_have_landed() -> None:
    found = is_done()

    assert found.state is TaskState.DONE
    judged = found.verification
    assert judged is not None
    assert (judged.base, judged.sha, judged.lost) == (TIP, TIP, True)
    assert judged.ref == objects.snapshot(says()).target_ref


@pytest.mark.parametrize("has_moved", [False, True])
def test_no_tree_is_told_of_a_commit_that_it_is_not_of(has_moved: bool) -> None:
    own = plan(*NAMES)
    begun = own.status.integration
    assert begun is not None
    begun = begun.model_copy(update={"tree": sha(17)})
    of = own.model_copy(update={"status": own.status.model_copy(update={"integration": begun})})
    both = (part(1, TaskState.CLOSED), part(2, TaskState.CLOSED))
    seen = objects.snapshot(
        says(split()), others=both, plan=of, plan_tip=TIP if has_moved else begun.tip
    )

    judged = task_decide.decide(seen, at(120)).status.verification

    assert judged is not None
    found = judged.sha, judged.tree
    assert found == ((TIP, "") if has_moved else (begun.tip, sha(17)))


def test_its_candidate_is_made_of_the_tip_of_the_moment() -> None:
    newer = sha(8)
    waits = look(is_done(), plan_tip=newer).status
    assert waits.delivery is not None
    turn = waits.model_copy(
        update={"delivery": waits.delivery.model_copy(update={"step": "Next"}), "waiting": None}
    )

    (prepare,) = look(turn, plan_tip=newer).actions

    assert isinstance(prepare, RunPrepare)
    assert (prepare.ref, prepare.sha, prepare.onto) == (prepare.onto, newer, prepare.onto)
    assert prepare.job.startswith("work-s1-prepare-")


def test_a_candidate_that_is_lost_is_made_anew() -> None:
    """Somebody has landed meanwhile where it is."""
    judged = objects.verification(
        base=TIP, sha=TIP, ref=objects.snapshot(says()).target_ref, candidate=True
    )
    seen = objects.snapshot(says(is_done()), plan=plan(*NAMES))

    assert question(seen, judged).can_be_made_anew
    assert not can_be_made_anew(judged, origin_of(judged), "refs/heads/main")


def test_done_anew_its_subtasks_and_its_jobs_have_other_names() -> None:
    over = subtasks.given_up(split()).model_copy(update={"state": TaskState.OPEN})

    again = split(over)

    assert [row.name for row in again.subtasks or ()] == list(names_of(says(), 2, 2))
    assert again.attempt == 2
    seen = objects.snapshot(says())
    assert [seen.prefix_of_jobs(each) for each in (split(), again)] == ["work-s1", "work-s2"]


def test_what_a_person_says_who_has_it_done_anew_is_told_with_what_was_found() -> None:
    block = {"session": "", "text": "one ended as Failed", "times": 0, "answer": "use tabs"}
    before = status(attempt=1, feedback="SignalFailed: 2 failed", blocked=block)

    found = split(before)

    assert found.blocked is None
    assert (found.feedback or "").splitlines() == [
        "SignalFailed: 2 failed",
        "It was Blocked: one ended as Failed",
        "A person answers: use tabs",
    ]
    assert split(status(feedback="SignalFailed: 2 failed")).feedback == "SignalFailed: 2 failed"


def test_the_condition_says_that_what_it_waited_for_is_closed() -> None:
    before = objects.task("before", status=objects.closed(1), plan=None)
    found = looked(says(depends_on=["before"]), before)

    ((_, told),) = found.moves
    assert is_true(told.conditions, ConditionType.DEPENDENCIES_MET)


def test_what_a_session_has_begun_with_stays_what_it_is_judged_on() -> None:
    kept = split().model_copy(update={"verification": objects.verification(sha=BASE)})

    found = look(kept, part(1, TaskState.CLOSED), part(2, TaskState.CLOSED), plan_tip=TIP).status

    assert found.verification is not None
    assert found.verification.sha == BASE
