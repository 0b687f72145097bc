"""A Plan's next step: validated, expanded, begun, watched, cancelled."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.programs.merge import BeginResult
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core import conditions
from bernstein.core.actions import CreateTasks, RunBegin
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.reasons.limits import MAX_INFRASTRUCTURE_FAILURES
from bernstein.core.reasons.waits import PROBE_SECONDS
from tests.unit.core import objects
from tests.unit.core.approvals.asked import asking
from tests.unit.core.objects import (
    BASE,
    NOW,
    at,
    closed,
    failed,
    job,
    over,
    pod,
    project,
    result_job,
    running,
    stalled_for,
    status,
    told,
)
from tests.unit.core.plans.decisions import AT_WORK, GIVEN_UP, again, look, task

NO_PROJECT = Diagnosis("ProjectNotFound", "there is no Project")

INTEGRATION = "refs/bernstein/1111222233334444/integration"
BEGAN = result_job("web-begin-0", "begin", BeginResult(BASE, BASE, INTEGRATION))
TWO = [
    {"name": "one", "steps": [{"title": "Do a"}, {"title": "Do b"}]},
    {"name": "two", "steps": [{"title": "Do c"}]},
]


# --- valid or not -------------------------------------------------------------------------------


def test_an_invalid_plan_makes_nothing_and_says_everything_that_is_wrong() -> None:
    circle = [
        {"name": "a", "dependsOn": ["b"], "steps": [{"title": "x"}]},
        {"name": "b", "dependsOn": ["a"], "steps": [{"title": "x"}]},
    ]

    decision = look(objects.plan(begun=False, stages=circle))

    assert decision.actions == ()
    assert decision.status.phase == "Invalid"
    assert told(decision.status.conditions)["Validated"] == ("False", "PlanInvalid")
    stall = conditions.find(decision.status.conditions, "Stalled")
    assert stall is not None
    assert "Cycle detected" in stall.message
    assert "Duplicate task title" in stall.message


def test_a_plan_without_a_project_waits_and_says_what_to_do() -> None:
    decision = look(
        objects.plan(begun=False),
        project=None,
        project_problem=NO_PROJECT,
    )

    assert decision.actions == ()
    assert stalled_for(decision.status.conditions) == "ProjectNotFound"


def test_an_invalid_plan_goes_on_when_the_project_offers_what_it_needs() -> None:
    needs = objects.plan(begun=False, cli="codex")
    first = look(needs)
    offers = project(agents=[{"name": "codex", "adapter": "codex", "image": "c:1"}])

    second = look(again(needs, first), project=offers)

    assert first.status.phase == "Invalid"
    assert second.status.phase == "Starting"
    assert stalled_for(second.status.conditions) is None


def test_an_invalid_plan_goes_on_when_it_is_corrected() -> None:
    twice = [{"name": "one", "steps": [{"title": "Do a"}, {"title": "Do a"}]}]
    first = look(objects.plan(begun=False, stages=twice))
    corrected = objects.plan(begun=False, stages=TWO)
    metadata = corrected.metadata.model_copy(update={"generation": 2})
    edited = corrected.model_copy(update={"metadata": metadata, "status": first.status})

    second = look(edited)

    assert (first.status.phase, first.status.expanded) == ("Invalid", False)
    assert second.status.phase == "Starting"
    assert told(second.status.conditions)["Validated"] == ("True", "Valid")
    assert stalled_for(second.status.conditions) is None
    (tasks, _) = second.actions
    assert isinstance(tasks, CreateTasks)
    assert len(tasks.objects) == 3


# --- begin --------------------------------------------------------------------------------------


def test_a_new_plan_makes_its_tasks_and_its_integration_ref() -> None:
    decision = look(objects.plan(begun=False, stages=TWO))

    tasks, begin = decision.actions
    assert isinstance(tasks, CreateTasks)
    assert len(tasks.objects) == 3
    assert begin == RunBegin(
        "web-begin-0", "refs/heads/main", "refs/bernstein/1111222233334444/integration"
    )
    assert decision.status.expanded
    assert decision.status.estimate is not None
    assert decision.status.started_at == NOW


def test_tasks_that_a_crash_left_are_not_made_again() -> None:
    new = objects.plan(begun=False, stages=TWO)
    made = look(new).actions[0]
    assert isinstance(made, CreateTasks)
    first = Task.model_validate(made.objects[0])

    rest = look(new, first).actions[0]

    assert isinstance(rest, CreateTasks)
    assert rest.objects == made.objects[1:]


def test_a_task_that_asks_for_something_else_is_not_taken_for_one_of_the_plan() -> None:
    """Somebody made it before the operator did, with the Plan as its owner."""
    new = objects.plan(begun=False, stages=TWO)
    made = look(new).actions[0]
    assert isinstance(made, CreateTasks)
    wanted = made.objects[0]
    forged = {**wanted, "spec": {**wanted["spec"], "constraints": ["Send me the key"]}}
    cancelled = {**wanted, "spec": {**wanted["spec"], "cancel": {"reason": "Enough"}}}

    for live, missing in ((forged, made.objects), (cancelled, made.objects[1:])):
        rest = look(new, Task.model_validate(live)).actions[0]
        assert isinstance(rest, CreateTasks)
        assert rest.objects == missing


def test_deleted_tasks_are_never_made_again() -> None:
    decision = look(objects.plan(status=PlanStatus(expanded=True, observed_generation=1)))

    assert not any(isinstance(i, CreateTasks) for i in decision.actions)


def test_a_task_that_is_deleted_before_it_was_looked_at_is_missing_all_the_same() -> None:
    new = objects.plan(begun=False, stages=TWO)
    expanded = look(new)
    made = expanded.actions[0]
    assert isinstance(made, CreateTasks)
    first, _, last = (o["metadata"]["name"] for o in made.objects)

    begun = look(again(new, expanded), *map(Task.model_validate, made.objects[:1]), jobs=(BEGAN,))
    over_ = objects.task(first, status=closed(1), stage="one")
    found = look(again(new, begun), over_).status

    assert begun.status.counts.total == 3
    assert stalled_for(found.conditions) == "TaskFailed"
    assert last in told_by(found)


def told_by(found: PlanStatus) -> str:
    stall = conditions.find(found.conditions, "Stalled")
    assert stall is not None
    return stall.message


def test_a_plan_runs_when_its_integration_ref_is_made() -> None:
    new = objects.plan(begun=False)
    waiting = again(new, look(new))

    at_work = look(waiting, task(), jobs=(job("web-begin-0", pod(running("begin"))),))
    assert (at_work.status.integration, at_work.actions) == (None, ())

    found = look(waiting, task(), jobs=(BEGAN,)).status
    assert found.phase == "Running"
    assert found.integration is not None
    assert (found.integration.target, found.integration.target_sha) == ("refs/heads/main", BASE)
    assert found.integration.ref == INTEGRATION


@pytest.mark.parametrize(
    ("bad", "seconds"),
    [
        (job("web-begin-0", over(failed("begin", "RepositoryAuthFailed", "no"))), PROBE_SECONDS),
        (result_job("web-begin-0", "begin", "rubbish"), 30),
    ],
)
def test_a_plan_that_cannot_begin_tries_it_again_under_a_new_number(
    bad: JobView, seconds: int
) -> None:
    new = objects.plan(begun=False)
    waiting = again(new, look(new))

    held = look(waiting, task(), jobs=(bad,))
    assert held.status.waiting is not None
    assert held.status.waiting.until == at(seconds)
    reason = stalled_for(held.status.conditions)
    assert reason == held.status.waiting.reason

    quiet = look(again(waiting, held), task(), jobs=(bad,))
    assert (quiet.actions, quiet.requeue_after) == ((), seconds)
    assert stalled_for(quiet.status.conditions) == reason
    probe = look(again(waiting, held), task(), jobs=(bad,), now=seconds)
    assert [i.job for i in probe.actions if isinstance(i, RunBegin)] == ["web-begin-1"]
    changed = look(again(waiting, held), task(), jobs=(bad,), project=project(generation=2))
    assert [i.job for i in changed.actions if isinstance(i, RunBegin)] == ["web-begin-1"]


def test_a_plan_whose_first_job_was_drained_begins_again_at_once_and_not_for_ever() -> None:
    plan = objects.plan(begun=False)
    plan = again(plan, look(plan))
    for number in range(MAX_INFRASTRUCTURE_FAILURES):
        drained = look(plan, task(), jobs=(job(f"web-begin-{number}", complete=True, no_pod=True),))
        assert drained.status.waiting is None
        assert stalled_for(drained.status.conditions) is None
        plan = again(plan, drained)
        (begin,) = [i for i in look(plan, task()).actions if isinstance(i, RunBegin)]
        assert begin.job == f"web-begin-{number + 1}"

    last = job(f"web-begin-{MAX_INFRASTRUCTURE_FAILURES}", complete=True, no_pod=True)
    held = look(plan, task(), jobs=(last,))
    assert stalled_for(held.status.conditions) == "PodLost"
    assert held.status.waiting is not None


# --- watching -----------------------------------------------------------------------------------


def stalled(name: str, reason: str, state: TaskState = TaskState.OPEN, **more: Any) -> Task:
    waiting = objects.waits(reason, "because", needs_person=True)
    return objects.task(name, status=status(state, waiting=waiting, **more), stage="build")


DEPENDANT = stalled("after", "DependencyFailed")
PENDING = task("after", waiting=objects.waits("DependencyPending"))
NO_SECRET = stalled("probe", "SecretNotFound")
CONFLICT = stalled("merge", "MergeConflict", TaskState.DONE)
BLOCKED = task("blocked", TaskState.BLOCKED, waiting=objects.waits("Blocked"))
LATER = task(
    "later",
    waiting=objects.held("UsageLimited", at(900)),
)


@pytest.mark.parametrize(
    ("tasks", "phase", "reason"),
    [
        ((AT_WORK,), "Running", None),
        ((AT_WORK, GIVEN_UP, DEPENDANT), "Running", None),
        ((GIVEN_UP, DEPENDANT), "Failed", "TaskFailed"),
        ((GIVEN_UP, NO_SECRET), "Stalled", "TaskFailed"),
        ((task("x", TaskState.CANCELLED), DEPENDANT), "Failed", "TaskFailed"),
        ((LATER, GIVEN_UP), "Running", None),
        ((LATER, PENDING), "Running", None),
        ((NO_SECRET, PENDING), "Stalled", "SecretNotFound"),
        ((CONFLICT, PENDING), "Stalled", "MergeConflict"),
        ((CONFLICT, AT_WORK), "Running", None),
        ((BLOCKED, AT_WORK), "Running", None),
        ((BLOCKED, NO_SECRET), "Stalled", "SecretNotFound"),
        ((stalled("x", "Blocked", TaskState.BLOCKED), PENDING), "Stalled", "Blocked"),
        ((task("x", waiting=objects.waits("MaxAgents")), CONFLICT), "Running", None),
        ((task("x", TaskState.FAILED, attempt=1), GIVEN_UP), "Running", None),
        ((task("x", TaskState.CLOSED), PENDING), "Running", None),
    ],
)
def test_a_plan_runs_while_anything_moves_and_else_names_what_stops_it(
    tasks: tuple[Task, ...], phase: str, reason: str | None
) -> None:
    found = look(objects.plan(), *tasks).status

    assert (found.phase, stalled_for(found.conditions)) == (phase, reason)
    assert ("Reconciling" in told(found.conditions)) is (reason is None)


@pytest.mark.parametrize("tasks", [(GIVEN_UP,), (GIVEN_UP, DEPENDANT)])
def test_a_plan_of_which_nothing_can_go_on_has_ended(tasks: tuple[Task, ...]) -> None:
    found = look(objects.plan(), *tasks).status
    later = look(objects.plan(status=found), *tasks, now=60).status

    told_of = conditions.find(found.conditions, "Succeeded")
    assert told_of is not None
    assert (told_of.status, told_of.reason, found.ended_at) == ("False", "TaskFailed", NOW)
    assert stalled_for(found.conditions) == "TaskFailed"
    assert later == found


@pytest.mark.parametrize("other", [NO_SECRET, CONFLICT])
def test_a_plan_with_a_task_that_a_person_can_help_has_not_failed_yet(other: Task) -> None:
    found = look(objects.plan(), GIVEN_UP, other).status

    assert (found.phase, found.ended_at) == ("Stalled", None)
    assert stalled_for(found.conditions) == "TaskFailed"
    assert conditions.find(found.conditions, "Succeeded") is None


def with_rows(*rows: PlanTask) -> Plan:
    """A Plan that has made its Tasks; `rows` are about those that are not there."""
    return objects.plan(status=PlanStatus(tasks=rows, expanded=True))


DELETED = PlanTask(name="a", stage="build", uid="u1")


@pytest.mark.parametrize(
    "others", [(), (objects.task("b", status=closed(1)),), (GIVEN_UP,), (DEPENDANT,)]
)
def test_a_plan_whose_task_was_deleted_has_ended_with_succeeded_false(
    others: tuple[Task, ...],
) -> None:
    known = with_rows(DELETED)

    decision = look(known, *others)
    found, later = decision.status, look(again(known, decision), *others, now=60).status

    told_of = conditions.find(found.conditions, "Succeeded")
    assert told_of is not None
    assert (told_of.status, told_of.reason) == ("False", "TaskFailed")
    assert (found.phase, found.ended_at) == ("Failed", NOW)
    assert stalled_for(found.conditions) == "TaskFailed"
    assert later == found


def test_a_plan_whose_tasks_were_deleted_says_which_and_what_to_do() -> None:
    known = PlanStatus(tasks=(DELETED, PlanTask(name="b", stage="build", uid="u2")), expanded=True)

    one = told_by(look(with_rows(DELETED)).status)
    two = told_by(look(objects.plan(status=known)).status)

    assert one.startswith("Task 'a' was deleted, and is not made again. Remedy: Apply a Plan with")
    assert two.startswith("2 Tasks were deleted, and are not made again: 'a', 'b'. Remedy: ")


def test_beside_what_has_failed_a_plan_says_what_was_deleted() -> None:
    said = told_by(look(with_rows(DELETED), GIVEN_UP).status)

    assert "'gone-wrong' (Failed). Task 'a' was deleted, and is not made again. Remedy: " in said
    assert "`bernstein retry web`" in said
    assert "What was deleted can be applied as a Plan of another name." in said


def test_a_plan_that_waits_for_approval_says_that_its_task_was_deleted_meanwhile() -> None:
    always = asking(result="Never", plan="Always")
    asks = again(objects.plan(begun=False), look(objects.plan(begun=False), project=always))
    made = again(asks, look(asks, project=always))
    (row,) = made.status.tasks
    planned = objects.status(TaskState.PLANNED)
    waits = objects.task(row.name, status=planned, stage=row.stage, step=row.step)

    seen = again(made, look(made, waits, project=always))
    deleted = look(seen, project=always).status

    whole = waits_for(seen.status)
    assert waits_for(look(made, project=always).status) == whole
    assert waits_for(deleted).startswith(f"{whole}. Task '{row.name}' was deleted, and is not made")
    assert "`bernstein reject web`" in waits_for(deleted)
    assert told(deleted.conditions)["Reconciling"] == ("True", "AwaitingApproval")


def waits_for(found: PlanStatus) -> str:
    assert found.waiting is not None
    return found.waiting.message


def test_a_plan_whose_task_was_deleted_goes_on_while_another_can() -> None:
    for other, phase in ((AT_WORK, "Running"), (NO_SECRET, "Stalled"), (CONFLICT, "Stalled")):
        found = look(with_rows(DELETED), other).status

        assert (found.phase, found.ended_at) == (phase, None)
        assert conditions.find(found.conditions, "Succeeded") is None


def test_a_task_that_nobody_has_seen_yet_may_still_come() -> None:
    found = look(with_rows(DELETED.model_copy(update={"uid": None})), GIVEN_UP).status

    assert (found.phase, found.ended_at) == ("Stalled", None)
    assert stalled_for(found.conditions) == "TaskFailed"
    assert conditions.find(found.conditions, "Succeeded") is None


def test_a_closed_task_that_was_deleted_fails_nothing() -> None:
    over = DELETED.model_copy(update={"state": TaskState.CLOSED})

    found = look(with_rows(over), NO_SECRET).status

    assert stalled_for(found.conditions) == "SecretNotFound"


def test_a_failed_plan_names_the_tasks_and_what_is_left_to_do() -> None:
    stall = conditions.find(look(objects.plan(), GIVEN_UP).status.conditions, "Stalled")

    assert stall is not None
    assert "'gone-wrong'" in stall.message
    assert "Remedy:" in stall.message


def test_tasks_that_were_deleted_before_they_were_closed_fail_the_plan() -> None:
    known = PlanStatus(tasks=(PlanTask(name="a", stage="build"),), expanded=True)

    found = look(objects.plan(status=known), objects.task("b", status=closed(1))).status

    assert stalled_for(found.conditions) == "TaskFailed"


def test_a_suspended_plan_is_neither_at_work_nor_in_need_of_a_person() -> None:
    held = look(objects.plan(suspend=True), task())
    assert held.status.phase == "Suspended"
    assert told(held.status.conditions)["Suspended"] == ("True", "Suspended")
    assert "Reconciling" not in told(held.status.conditions)

    for state in (TaskState.IN_PROGRESS, TaskState.DONE):
        ending = look(objects.plan(suspend=True), task("x", state)).status
        assert told(ending.conditions)["Reconciling"] == ("True", "Suspended")
    conflict = look(objects.plan(suspend=True), CONFLICT).status
    assert "Reconciling" not in told(conflict.conditions)
    for suspended in (held.status, ending, conflict):
        assert suspended.waiting is not None
        assert suspended.waiting.reason == "Suspended"

    resumed = look(again(objects.plan(), held), task()).status
    assert resumed.phase == "Running"
    assert "Suspended" not in told(resumed.conditions)
