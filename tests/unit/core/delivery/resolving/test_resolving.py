"""A Plan whose work does not merge with its branch: a Task resolves that, where it is to."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask, Resolves
from bernstein.api.pod import Changed
from bernstein.api.programs.merge import PrepareResult
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core import names
from bernstein.core.actions import CancelTasks, CreateTasks, PlanDecision, RunPrepare
from bernstein.core.delivery import resolving
from bernstein.core.jobs import JobView
from bernstein.core.plans import decide as plan_decide
from bernstein.core.reasons.waits import PROBE_SECONDS
from tests.unit.core import objects
from tests.unit.core.delivery.plans import ONTO, prepared
from tests.unit.core.objects import (
    TIP,
    at,
    closed,
    plan_snapshot,
    sha,
    stalled_for,
)
from tests.unit.core.objects import status as status_of

RESOLVE = objects.project(merge={"strategy": "direct", "conflicts": "Resolve"})
MARKS = "refs/bernstein/1111222233334444/conflict"
NAME = names.resolver("web", 1)
WORK = objects.task(status=closed(1))
IN_CONFLICT = prepared(sha="", tree="", conflicts=("a.py",), marked=sha(77))
ROW = PlanTask(
    name=NAME,
    stage="-",
    resolves=Resolves(ref=MARKS, sha=sha(77), onto=TIP, base=sha(1), files=("a.py",)),
)


def look(
    status: PlanStatus,
    *jobs: JobView,
    resolver: Task | None = None,
    now: float = 0,
    project: Any = RESOLVE,
    **more: Any,
) -> PlanDecision:
    spec = {k: more.pop(k) for k in ("suspend", "cancel") if k in more}
    tasks = (WORK,) if resolver is None else (WORK, resolver)
    subject = objects.plan(status=status, **spec)
    found = plan_snapshot(subject, *tasks, jobs=jobs, project=project, **more)
    return plan_decide.decide(found, at(now))


def preparing(**more: Any) -> PlanStatus:
    delivery = Delivery(state="Pending", step="Preparing", onto=ONTO, round=1)
    rows = (PlanTask(name="work", stage="build", step=0),)
    return PlanStatus(
        **{"observed_generation": 1, "delivery": delivery, "jobs": 1, "tasks": rows} | more
    )


def met() -> PlanStatus:
    """A Task is to resolve it, and nobody has made that yet."""
    return look(preparing(), IN_CONFLICT).status


def made(status: TaskStatus | None = None, **spec: Any) -> Task:
    return objects.task(NAME, status=status, maxRetries=1, stage=None, **spec)


def over(state: TaskState = TaskState.CANCELLED) -> PlanStatus:
    """The status once its Task has ended without result."""
    return look(met(), resolver=made(status_of(state))).status


def test_a_conflict_with_the_branch_becomes_a_row_before_there_is_a_task() -> None:
    decision = look(preparing(), IN_CONFLICT)

    assert decision.actions == ()
    assert decision.status.tasks[-1] == ROW
    assert stalled_for(decision.status.conditions) is None
    assert (decision.status.delivery and decision.status.delivery.state) == "Conflict"


def test_both_sides_are_asked_for_only_where_a_task_may_resolve_it() -> None:
    (asks,) = look(preparing()).actions
    assert isinstance(asks, RunPrepare)
    assert (asks.marks, asks.resolves) == (MARKS, None)

    (holds,) = look(preparing(), project=objects.project()).actions
    assert isinstance(holds, RunPrepare)
    assert holds.marks is None


@pytest.mark.parametrize(
    ("project", "said"),
    [(objects.project(), IN_CONFLICT), (RESOLVE, prepared(sha="", tree="", conflicts=("a.py",)))],
)
def test_without_the_field_or_without_both_sides_it_is_held_as_ever(
    project: Any, said: JobView
) -> None:
    found = look(preparing(), said, project=project).status

    assert [row.name for row in found.tasks] == ["work"]
    assert stalled_for(found.conditions) == "MergeConflict"


def test_the_task_is_the_plans_own_and_says_the_same_each_time() -> None:
    (create,) = look(met()).actions
    assert isinstance(create, CreateTasks)
    (obj,) = create.objects

    assert obj["metadata"]["name"] == NAME
    assert len(NAME) <= names.NAME_LIMIT
    assert [o["uid"] for o in obj["metadata"]["ownerReferences"]] == [objects.PLAN_UID]
    assert obj["spec"]["files"] == ["a.py"]
    assert obj["spec"]["maxRetries"] == 1
    assert "- Do work" in obj["spec"]["description"]
    assert look(met(), now=50).actions == (create,)


def test_a_path_that_no_list_of_files_can_name_leaves_it_without_any() -> None:
    said = prepared(sha="", tree="", conflicts=("a*.py",), marked=sha(77))
    (create,) = look(look(preparing(), said).status).actions

    assert isinstance(create, CreateTasks)
    assert "files" not in create.objects[0]["spec"]


def test_a_path_that_is_not_called_as_it_is_shown_leaves_it_without_any() -> None:
    shown = ("packages/\uff20scope/a.js",)
    said = prepared(sha="", tree="", conflicts=shown, marked=sha(77), altered=True)
    found = look(preparing(), said).status
    (create,) = look(found).actions

    assert isinstance(create, CreateTasks)
    assert "files" not in create.objects[0]["spec"], "another file may be called so"
    assert found.delivery is not None
    assert shown[0] in (found.delivery.message or "")


def test_a_plan_that_is_suspended_makes_none() -> None:
    assert look(met(), suspend=True).actions == ()


def test_it_counts_as_a_task_of_the_plan_and_the_plan_runs() -> None:
    found = look(met(), resolver=made(status_of(TaskState.IN_PROGRESS))).status

    assert (found.phase, found.counts.total, found.counts.closed) == ("Running", 2, 1)
    assert found.tasks[-1].uid == f"uid-{NAME}"


def landed() -> Task:
    status = closed(5)
    assert status.verification is not None
    judged = status.verification.model_copy(update={"base": sha(1)})
    return made(status.model_copy(update={"verification": judged}))


def test_what_it_has_landed_is_put_on_the_branch_by_a_candidate_of_its_own() -> None:
    done = look(met(), resolver=landed())

    (prepare,) = done.actions
    assert isinstance(prepare, RunPrepare)
    assert (prepare.job, prepare.sha, prepare.onto) == ("web-prepare-2", sha(5), ONTO)
    assert done.status.integration is not None
    assert done.status.integration.sha == sha(5)


def test_one_candidate_that_was_judged_before_lacks_what_was_resolved() -> None:
    judged = objects.verification(passed=True, candidate=True)
    begun = look(preparing(verification=judged), IN_CONFLICT).status

    assert begun.verification is not None
    assert begun.verification.lost


@pytest.mark.parametrize(
    "ended",
    [
        status_of(TaskState.FAILED, attempt=2),
        status_of(
            TaskState.DONE,
            delivery=Delivery(state="Conflict"),
            waiting=objects.held("MergeConflict", None, needs_person=True),
        ),
    ],
)
def test_one_that_has_no_result_is_cancelled_so_that_nobody_gives_it_another_round(
    ended: TaskStatus,
) -> None:
    decision = look(met(), resolver=made(ended))

    assert [a.names for a in decision.actions if isinstance(a, CancelTasks)] == [(NAME,)]
    assert decision.status.ended_at is None
    told = look(met(), resolver=made(ended, cancel={"reason": "no"}))
    assert (told.actions, told.status.ended_at) == ((), None)


def test_without_result_it_stands_as_ever_and_the_merge_alone_is_tried_again() -> None:
    found = over()

    assert stalled_for(found.conditions) == "MergeConflict"
    assert found.waiting is not None
    assert f"no result came: '{NAME}'" in found.waiting.message
    quiet = look(found, resolver=made(status_of(TaskState.CANCELLED)), now=5)
    assert (quiet.actions, quiet.requeue_after) == ((), PROBE_SECONDS - 5)
    ended = made(status_of(TaskState.CANCELLED))
    (prepare,) = look(found, resolver=ended, now=PROBE_SECONDS).actions
    assert isinstance(prepare, RunPrepare)


def test_one_that_was_deleted_has_no_result() -> None:
    seen = look(met(), resolver=made(status_of(TaskState.IN_PROGRESS))).status
    found = look(seen)

    assert found.actions == ()
    assert stalled_for(found.status.conditions) == "MergeConflict"


def again(status: PlanStatus, tip: str) -> PlanStatus:
    """The status once the merge was tried again on this tip."""
    ended = made(status_of(TaskState.CANCELLED))
    asked = look(status, resolver=ended, now=PROBE_SECONDS)
    (prepare,) = asked.actions
    assert isinstance(prepare, RunPrepare)
    said = PrepareResult(tip, "", "", Changed(), ("a.py",), marked=sha(78))
    job = objects.result_job(prepare.job, "prepare", said)
    return look(asked.status, job, resolver=ended, now=PROBE_SECONDS).status


def test_the_same_two_commits_get_no_second_one() -> None:
    found = again(over(), TIP)

    assert [row.resolves is not None for row in found.tasks] == [False, True]
    assert stalled_for(found.conditions) == "MergeConflict"


def test_a_branch_that_has_moved_gets_another_one() -> None:
    found = again(over(), sha(0x71A))

    assert [row.resolves is not None for row in found.tasks] == [False, True, True]
    assert found.tasks[-1].name != NAME


def test_a_plan_gets_only_so_many() -> None:
    rows = tuple(ROW.model_copy(update={"name": f"r{n}"}) for n in range(resolving.MOST))
    status = preparing()
    full = status.model_copy(update={"tasks": (*status.tasks, *rows)})
    subject = objects.plan(status=full)

    assert resolving.marks(plan_snapshot(subject, WORK, project=RESOLVE), subject.status) is None


def test_a_part_of_a_plan_gets_none() -> None:
    partial = {"request": "r", "after": "Stalled", "tip": sha(1)}
    subject = objects.plan(status=preparing(partial=partial))
    assert resolving.marks(plan_snapshot(subject, WORK, project=RESOLVE), subject.status) is None


def test_what_git_cannot_mark_waits_for_people_who_are_told_of_what() -> None:
    asked = look(preparing())
    (prepare,) = asked.actions
    assert isinstance(prepare, RunPrepare)
    people = tuple(f"{name}.png" for name in "abcde")
    said = PrepareResult(TIP, "", "", Changed(), ("a.py", *people), for_people=people)

    found = look(asked.status, objects.result_job(prepare.job, "prepare", said)).status

    assert not found.resolvers
    assert stalled_for(found.conditions) == "MergeConflict"
    told = next(each.message for each in found.conditions if each.type == "Stalled")
    assert "people have to resolve it" in told
    assert "'a.png', 'b.png', 'c.png' and 2 more" in told
    assert "a.py" in told


def test_one_that_the_api_server_refuses_is_tried_again_later() -> None:
    found = look(met(), refused="denied by a policy").status

    assert stalled_for(found.conditions) == "PodRejected"
