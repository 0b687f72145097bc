"""What few fields tell of a Closed Task: never that nothing is to be done where the decision about
all of it would do anything."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import Task, parse
from bernstein.core import owners, progress, projects, waiting
from bernstein.core.actions import TaskAction
from bernstein.core.jobs import JobView
from bernstein.core.projects import repositories
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks import closed
from bernstein.core.tasks.decide import decide
from bernstein.core.tasks.retention import DELIVERED_BY
from bernstein.kube.patches import status_diff
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object, at
from tests.unit.core.tasks.closed.one_change import changed

WEEK = 7 * 86400.0
DEFAULT = objects.project().whole
ATTEMPT = {"session": "work-s1", "attempt": 1, "counted": True, "reason": "Succeeded"}
MOVE = {"toState": "Closed", "reason": "Merged", "attempt": 1, "time": at(-100)}
SEEN: Object = {"projectUid": "uid-default", "sessions": 1, "session": "work-s1"}
SEEN |= {"attempts": [ATTEMPT], "history": [MOVE], "endedAt": at(-100), "startedAt": at(-900)}


@dataclass(frozen=True)
class Beside:
    """What there is beside the Task."""

    projects: Mapping[str, Project]
    plan: Plan | None = None
    sessions: tuple[AgentSession, ...] = ()
    jobs: tuple[JobView, ...] = ()
    dependants: tuple[Task, ...] = ()


ALONE = Beside({"default": DEFAULT})


def served(plan: str | None = None) -> Object:
    """A Closed Task of which all is written, as the API server serves it."""
    task = objects.task(plan=plan, status=objects.closed(1, **SEEN))
    status = progress.of_task(task, task.status, NOW)
    made = task.model_copy(update={"status": status}).dump()
    return {**made, "status": status.dump()}


def by_fields(task: Object, beside: Beside) -> float:
    found = closed.read(task)
    if found is None:
        return closed.AT_ONCE
    around = closed.Around(
        projects=beside.projects,
        plan=beside.plan,
        sessions=len(beside.sessions),
        has_jobs=bool(beside.jobs),
        has_dependants=bool(beside.dependants),
    )
    return closed.seconds_left(found[0], around, NOW)


def decided(
    obj: Object, beside: Beside, plan: Plan | None
) -> tuple[Object, Collection[TaskAction], float | None]:
    """What a look at all of it comes to: changes of its status, actions, and the next look."""
    task = parse(obj)
    found = projects.of_task(task, plan, beside.projects)
    its = repositories.place_of_task(task, plan, found.project)
    snapshot = TaskSnapshot(
        task=task,
        project=its.project,
        project_problem=found.problem or its.problem,
        plan=plan,
        own_sessions=beside.sessions,
        jobs={job.name: job for job in beside.jobs},
        dependants=beside.dependants,
    )
    decision = decide(snapshot.with_status(waiting.unblocked(task.status)), NOW)
    status = progress.of_task(task, decision.status, NOW)
    changes = status_diff(obj.get("status") or {}, status.dump())
    return changes, decision.actions, decision.requeue_after


def holds(obj: Object, beside: Beside) -> float:
    """What few fields tell, which the whole decision must not contradict."""
    left = by_fields(obj, beside)
    plans: list[Plan | None] = [None]  # its Plan is gone, or has no row for it
    if beside.plan is not None and owners.plan_of(parse(obj)) is not None:
        plans.append(beside.plan)
    for plan in plans if left else ():
        again = None if math.isinf(left) else left
        assert decided(obj, beside, plan) == ({}, (), again)
    return left


def came_to_nothing(number: int) -> AgentSession:
    ended = objects.dead("PodRejected", started=False, number=number)
    return ended.model_copy(update={"spec": ended.spec.model_copy(update={"number": number})})


_PROJECTS = st.sampled_from(
    [
        objects.project().whole,
        objects.project(retention={"tasksSeconds": 0}).whole,
        objects.project(retention={"tasksSeconds": 3600, "unstartedSessions": 1}).whole,
        objects.project(retention={"tasksSeconds": 60}).whole,
        DEFAULT.model_copy(
            update={"metadata": DEFAULT.metadata.model_copy(update={"uid": "uid-other"})}
        ),
        DEFAULT.model_copy(
            update={"metadata": DEFAULT.metadata.model_copy(update={"deletion_timestamp": NOW})}
        ),
    ]
)
_PLANS = st.sampled_from(
    [
        None,
        *(
            objects.plan(status=PlanStatus(project=name, project_uid=uid))
            for name, uid in (("default", "uid-default"), ("other", "uid-other"), (None, None))
        ),
    ]
)
_BESIDE = st.builds(
    Beside,
    projects=st.fixed_dictionaries(
        {}, optional={"default": _PROJECTS, "other": st.just(objects.project("other").whole)}
    ),
    plan=_PLANS,
    sessions=st.integers(0, 5).map(lambda n: tuple(came_to_nothing(k + 1) for k in range(n))),
    jobs=st.sampled_from([(), (), (objects.job("work-s1-land"),)]),
    dependants=st.sampled_from(
        [(), (), (objects.task("next", plan=None, dependsOn=["work"], status=objects.status()),)]
    ),
)


@pytest.mark.parametrize("plan", [None, "web"])
def test_of_whatever_task_few_fields_never_tell_that_there_is_nothing_to_do_where_there_is(
    plan: str | None,
) -> None:
    whole = served(plan)
    told = []

    @settings(
        max_examples=1500,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    )
    @given(changed(whole, "metadata", "spec", "status"), _BESIDE)
    def tried(obj: Object, beside: Beside) -> None:
        try:
            parse(obj)
        except (ValueError, KeyError, TypeError):
            assume(False)
        told.append(holds(obj, beside))

    tried()
    assert any(told)
    assert not all(told)


def test_a_task_without_a_plan_is_looked_at_when_its_time_is_over() -> None:
    assert holds(served(), ALONE) == WEEK - 100
    short = Beside({"default": objects.project(retention={"tasksSeconds": 3600}).whole})
    assert holds(served(), short) == 3500
    over = Beside({"default": objects.project(retention={"tasksSeconds": 99}).whole})
    assert holds(served(), over) == closed.AT_ONCE
    for_ever = Beside({"default": objects.project(retention={"tasksSeconds": 0}).whole})
    assert math.isinf(holds(served(), for_ever))


def test_one_of_a_plan_is_looked_at_when_something_changes() -> None:
    plan = objects.plan(status=PlanStatus(project="default", project_uid="uid-default"))

    assert math.isinf(holds(served("web"), ALONE))
    assert math.isinf(holds(served("web"), replace(ALONE, plan=plan)))


@pytest.mark.parametrize("name", DELIVERED_BY)
@pytest.mark.parametrize("where", ["labels", "annotations"])
def test_one_that_a_tool_would_apply_again_is_looked_at_when_something_changes(
    name: str, where: str
) -> None:
    task = served()
    task["metadata"][where] = {name: "shop"}

    assert math.isinf(holds(task, ALONE))


@pytest.mark.parametrize(
    "more",
    [
        {"jobs": (objects.job("work-s1-land"),)},
        {"dependants": (objects.task("next", plan=None, dependsOn=["work"]),)},
        {"sessions": tuple(came_to_nothing(number) for number in range(1, 5))},
    ],
    ids=["a Job", "a dependant", "sessions to be deleted"],
)
def test_with_these_beside_it_is_looked_at_as_a_whole(more: Any) -> None:
    assert by_fields(served(), ALONE)
    assert not by_fields(served(), replace(ALONE, **more))


@pytest.mark.parametrize("state", [s for s in TaskState if s is not TaskState.CLOSED])
def test_in_any_other_state_it_is_looked_at_as_a_whole(state: TaskState) -> None:
    task = served()
    task["status"]["state"] = state

    assert closed.read(task) is None


def _older(status: Object) -> None:
    del status["reports"]


def _crashed(status: Object) -> None:
    status["conditions"] = [c for c in status["conditions"] if c["type"] != "Succeeded"]


def _spoken_to(status: Object) -> None:
    status["observedGeneration"] = 0


@pytest.mark.parametrize("other", [_older, _crashed, _spoken_to])
def test_one_of_which_something_is_left_to_be_written_is_looked_at_as_a_whole(other: Any) -> None:
    task = served()
    other(task["status"])

    assert closed.read(task) is None
    changes, _, _ = decided(task, ALONE, None)
    assert changes
