"""Why an Open Task waits, and what it says while it does."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bernstein.api.meta import UsageCounts
from bernstein.api.plan import PartialDelivery, Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.session import AgentSession, Report
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.waiting import Waiting
from bernstein.core import conditions, owners
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.money.spending import Spending
from bernstein.core.routing import limits
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import (
    NOW,
    at,
    closed,
    plan,
    project,
    session,
    snapshot,
    stalled_for,
    status,
    told,
)

NO_PROJECT = Diagnosis("ProjectNotFound", "there is no Project 'x'")


def look(
    subject: Task,
    sessions: tuple[AgentSession, ...] = (),
    plans: dict[str, Plan] | None = None,
    **more: Any,
) -> TaskStatus:
    return scheduled.decide(snapshot(subject, **more), NOW, sessions, plans).status


def waits_for(subject: Task, **more: Any) -> str | None:
    found = look(subject, **more)
    if found.state is TaskState.CLAIMED:
        return None
    assert found.state is TaskState.OPEN
    assert found.waiting is not None
    return found.waiting.reason


def other(name: str = "first", **more: Any) -> Task:
    return objects.task(name, **more)


# --- dependencies -------------------------------------------------------------------------------


def test_a_task_waits_for_what_it_depends_on_and_says_for_what() -> None:
    subject = objects.task(status=status(), dependsOn=["first", "second"])
    others = (other(status=closed(1)), other("second", status=status(TaskState.DONE)))

    found = look(subject, others=others)

    assert found.waiting is not None
    assert (found.waiting.reason, found.waiting.message) == (
        "DependencyPending",
        "depends on 2 Tasks, of which second is not Closed yet",
    )
    assert told(found.conditions)["DependenciesMet"] == ("False", "DependencyPending")
    assert stalled_for(found.conditions) is None


def test_a_task_starts_when_all_it_depends_on_is_closed() -> None:
    subject = objects.task(status=status(), dependsOn=["first"])

    found = look(subject, others=(other(status=closed(1)),))

    assert found.state is TaskState.CLAIMED
    assert told(found.conditions)["DependenciesMet"] == ("True", "AllClosed")


@pytest.mark.parametrize(
    "ended",
    [
        status(TaskState.FAILED, attempt=4),
        status(TaskState.FAILED, infrastructure_failures=6),
        status(TaskState.CANCELLED),
        status(waiting=objects.waits("DependencyFailed")),
    ],
)
def test_dependants_of_what_ended_for_good_stay_open_and_say_so(ended: TaskStatus) -> None:
    subject = objects.task(status=status(), dependsOn=["first"])

    found = look(subject, others=(other(status=ended),))

    assert found.state is TaskState.OPEN
    assert told(found.conditions)["DependenciesMet"] == ("False", "DependencyFailed")
    assert stalled_for(found.conditions) == "DependencyFailed"


def test_a_failed_dependency_that_is_tried_again_is_waited_for() -> None:
    subject = objects.task(status=status(), dependsOn=["first"])
    retried = other(status=status(TaskState.FAILED, attempt=1))

    assert waits_for(subject, others=(retried,)) == "DependencyPending"


def test_a_dependency_that_does_not_exist_is_named_and_may_still_come() -> None:
    subject = objects.task(status=status(), dependsOn=["first"])

    found = look(subject)
    stall = conditions.find(found.conditions, "Stalled")
    assert stall is not None
    assert "'first'" in stall.message

    again = objects.task(status=found, dependsOn=["first"])
    assert look(again, others=(other(status=closed(1)),)).state is TaskState.CLAIMED


def test_tasks_in_a_circle_say_so_each_with_its_own_way() -> None:
    def alone(name: str, *upstream: str) -> Task:
        return objects.task(name, plan=None, status=status(), dependsOn=list(upstream))

    ring = (alone("a", "x", "b"), alone("b", "c"), alone("c", "a"), alone("x"))
    for me, way in (("a", "a → b → c → a"), ("b", "b → c → a → b")):
        subject = next(t for t in ring if t.metadata.name == me)
        found = look(subject, others=tuple(t for t in ring if t is not subject), plan=None)
        assert stalled_for(found.conditions) == "DependencyFailed"
        assert found.waiting is not None
        told_of = f"Tasks wait for each other in a circle: {way}. Remedy: "
        assert found.waiting.message.startswith(told_of)

    outside = look(alone("y", "a"), others=ring, plan=None)
    assert outside.waiting is not None
    assert outside.waiting.reason == "DependencyPending"
    itself = look(alone("z", "z"), plan=None)
    assert itself.waiting is not None
    assert "z → z. " in itself.waiting.message


@pytest.mark.parametrize(
    ("subject", "remedy"),
    [
        (
            objects.task("z", plan=None, status=status(), dependsOn=["z"]),
            "Apply the Task under a new name with other dependsOn",
        ),
        (
            objects.task("z", plan=None, status=status(), dependsOn=["first"]),
            "Apply Task 'first', or apply this one under a new name without it in dependsOn",
        ),
        (
            objects.task("z", status=status(), dependsOn=["first"]),
            "Give what has failed another round (`bernstein retry`), or apply the work that is",
        ),
    ],
)
def test_the_remedy_for_a_dependency_is_for_its_own_case(subject: Task, remedy: str) -> None:
    of_plan: dict[str, Any] = {} if owners.plan_of(subject) else {"plan": None}

    stall = conditions.find(look(subject, **of_plan).conditions, "Stalled")

    assert stall is not None
    assert f". Remedy: {remedy}" in stall.message


def test_no_agent_is_paid_for_a_pattern_that_is_none() -> None:
    signal = {"type": "file_contains", "path": "a.py", "contains": "def (", "regex": True}
    subject = objects.task(plan=None, status=status(), completionSignals=[signal])

    found = look(subject, plan=None)

    assert found.state is TaskState.OPEN
    stall = conditions.find(found.conditions, "Stalled")
    assert stall is not None
    assert stall.reason == "InvalidPattern"
    assert "'def (' is no regular expression: " in stall.message


def test_text_that_is_meant_as_it_stands_need_be_no_pattern() -> None:
    signal = {"type": "file_contains", "path": "a.py", "contains": "def ("}
    subject = objects.task(plan=None, status=status(), completionSignals=[signal])

    assert look(subject, plan=None).state is TaskState.CLAIMED


PART = PartialDelivery(request="d-1", after="Stalled")


# --- Plan, Project, agent -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (plan(begun=False), "PlanStarting"),
        (plan(suspend=True), "PlanSuspended"),
        (plan(cancel={"reason": "no"}), "PlanCancelled"),
        (plan(status=PlanStatus(phase="Delivering", partial=PART)), "PlanCancelled"),
        (plan(), None),
    ],
)
def test_a_task_waits_for_its_plan(found: Any, reason: str | None) -> None:
    assert waits_for(objects.task(status=status()), plan=found) == reason


def test_nothing_of_a_plan_that_has_ended_starts_when_its_dependency_comes_late() -> None:
    """A Task of no Plan may be made, and Closed, under a name that the Plan's Task waits for."""
    over = plan(status=PlanStatus(observed_generation=1, phase="Failed", ended_at=at(-60)))
    subject = objects.task(status=status(), dependsOn=["first"])
    late = other(plan=None, status=closed(1))

    found = look(subject, plan=over, others=(late,))

    assert found.state is TaskState.OPEN
    assert stalled_for(found.conditions) == "PlanEnded"
    assert told(found.conditions)["DependenciesMet"] == ("True", "AllClosed")


OTHER_AGENT = {"name": "b", "adapter": "generic", "image": "b", "command": ["b"]}


@pytest.mark.parametrize(
    ("gone", "reason", "remedy"),
    [
        (
            {
                "project": None,
                "project_problem": NO_PROJECT,
            },
            "ProjectNotFound",
            "'x'",
        ),
        ({"plan": None}, "PlanGone", "Delete the Task"),
        (
            {"project": project(agents=[OTHER_AGENT])},
            "AgentNotFound",
            "it has: b",
        ),
    ],
)
def test_what_a_person_must_put_right_is_said_with_a_remedy(
    gone: dict[str, Any], reason: str, remedy: str
) -> None:
    found = look(objects.task(status=status(), cli="demo"), **gone)

    stall = conditions.find(found.conditions, "Stalled")
    assert found.state is TaskState.OPEN
    assert stall is not None
    assert stall.reason == reason
    assert remedy in stall.message
    again = look(objects.task(status=found, cli="demo"))
    assert again.state is TaskState.CLAIMED
    assert stalled_for(again.conditions) is None


# --- money --------------------------------------------------------------------------------------

SPENT = UsageCounts(input=1_000_000, output=100_000)  # $4.50 at the price of sonnet


def running(name: str, usage: UsageCounts) -> tuple[Task, Any]:
    at_work = status(TaskState.IN_PROGRESS, sessions=1, session=f"{name}-s1", spend_usd="0.2")
    report = Report(usage=usage).model_dump()
    return other(name, status=at_work), session(
        task=name, state=SessionState.WORKING, report=report
    )


@pytest.mark.parametrize(("budget", "reason"), [("5", None), ("4.70", "BudgetExceeded")])
def test_a_budget_counts_what_running_agents_have_reported(budget: str, reason: str | None) -> None:
    peer, reported = running("first", SPENT)

    found = waits_for(
        objects.task(status=status()),
        others=(peer,),
        sessions=(reported,),
        plan=plan(budget=budget),
    )

    assert found == reason


def test_a_budget_counts_sessions_that_do_not_say_which_plan_is_theirs() -> None:
    peer, reported = running("first", SPENT)
    older = reported.model_copy(
        update={"spec": reported.spec.model_copy(update={"plan_ref": None})}
    )

    more: dict[str, Any] = {"others": (peer,), "plan": plan(budget="4.70")}
    assert waits_for(objects.task(status=status()), sessions=(older,), **more) == "BudgetExceeded"


def test_a_budget_remembers_tasks_that_were_deleted() -> None:
    gone = PlanTask(name="gone", stage="build", spend_usd="3")
    spent = plan(budget="3", status=PlanStatus(tasks=(gone,)))

    assert waits_for(objects.task(status=status()), plan=spent) == "BudgetExceeded"


def test_raising_the_budget_lets_a_task_go_on() -> None:
    peer, reported = running("first", SPENT)
    with_peer: dict[str, Any] = {"others": (peer,), "sessions": (reported,)}

    found = look(objects.task(status=status()), plan=plan(budget="1"), **with_peer)
    assert stalled_for(found.conditions) == "BudgetExceeded"
    again = look(objects.task(status=found), plan=plan(budget="9"), **with_peer)

    assert again.state is TaskState.CLAIMED
    assert stalled_for(again.conditions) is None


# --- holds and peers ----------------------------------------------------------------------------

BROKEN = objects.held("SecretNotFound", at(100), "no Secret")
OVER = BROKEN.model_copy(update={"until": at(-1)})


def held(waiting: Waiting, state: TaskState = TaskState.OPEN, **more: Any) -> Task:
    return other(status=status(state, waiting=waiting), created=at(-99), **more)


def test_a_hold_is_told_with_the_time_of_the_next_probe() -> None:
    decision = scheduled.decide(snapshot(objects.task(status=status(waiting=BROKEN))), NOW)

    assert decision.requeue_after == 100
    assert decision.status.waiting is not None
    assert decision.status.waiting.until == at(100)


@pytest.mark.parametrize(
    ("peer", "reason"),
    [
        (held(BROKEN), "SecretNotFound"),
        (held(OVER), "SecretNotFound"),
        (held(OVER, TaskState.CLAIMED), "SecretNotFound"),
        (held(OVER, cancel={"reason": "no"}), None),
        (held(OVER, TaskState.CLOSED), None),
        (held(OVER, TaskState.DONE), None),
    ],
)
def test_one_task_probes_and_the_others_wait_for_it(peer: Task, reason: str | None) -> None:
    assert waits_for(objects.task(status=status()), others=(peer,)) == reason


def test_a_prober_that_may_not_start_is_not_waited_for() -> None:
    suspended = objects.waits("PlanSuspended", tried=OVER.tried)
    peer = other(plan="paused", status=status(waiting=suspended), created=at(-99))

    assert waits_for(objects.task(status=status()), others=(peer,)) is None


def test_a_plan_that_is_full_does_not_keep_places_from_another() -> None:
    at_work = other("a1", plan="full", status=status(TaskState.IN_PROGRESS))
    waiting = other("a2", plan="full", status=status(), created=at(-99))
    full = plan("full", maxAgents=1)

    found = waits_for(
        objects.task(status=status()),
        others=(at_work, waiting),
        project=project(limits={"maxAgents": 2}),
        plans={"full": full},
    )

    assert found is None


@pytest.mark.parametrize(("exclusive", "reason"), [(False, None), (True, "FileOverlap")])
def test_undeclared_files_keep_others_out_only_where_the_project_says_so(
    exclusive: bool, reason: str | None
) -> None:
    at_work = other(status=status(TaskState.IN_PROGRESS), files=["a.py"])
    limits = {"undeclaredFilesExclusive": exclusive}

    found = waits_for(
        objects.task(status=status()), others=(at_work,), project=project(limits=limits)
    )

    assert found == reason


@pytest.mark.parametrize(
    "state_of_peer", [TaskState.OPEN, TaskState.CLAIMED, TaskState.IN_PROGRESS, TaskState.DONE]
)
def test_a_task_of_another_project_holds_neither_files_nor_places(
    state_of_peer: TaskState,
) -> None:
    peer = other(files=["a.py"], status=status(state_of_peer, project="elsewhere", waiting=BROKEN))
    subject = objects.task(status=status(), files=["a.py"])

    assert waits_for(subject, others=(peer,), project=project(limits={"maxAgents": 1})) is None


# --- times --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "seconds"),
    [
        ({"scope": "small"}, 1800),
        ({"scope": "medium"}, 5400),
        ({"scope": "large"}, 10800),
        ({"scope": "small", "estimatedMinutes": 45}, 5400),
        ({"scope": "small", "estimatedMinutes": 5}, 1800),
        ({"scope": "small", "role": "architect"}, 3600),
        ({"scope": "small", "role": "security", "estimatedMinutes": 45}, 10800),
    ],
)
def test_a_session_may_take_the_scopes_time_at_least_twice_the_estimate(
    spec: dict[str, Any], seconds: int
) -> None:
    assert limits.timeout_seconds(objects.task(**spec), project()) == seconds


@pytest.mark.parametrize(("scope", "seconds"), [("small", 90), ("medium", 120), ("large", 150)])
def test_a_project_says_how_long_a_session_of_each_scope_may_take(scope: str, seconds: int) -> None:
    times = {"timeoutSeconds": {"small": 90, "medium": 120, "large": 150}}

    assert limits.timeout_seconds(objects.task(scope=scope), project(limits=times)) == seconds


def test_spend_of_a_plan_counts_each_of_its_tasks_once() -> None:
    peer, reported = running("first", SPENT)
    known = PlanTask(name="first", stage="build", spend_usd="0.2")
    subject = objects.task(status=status(spend_usd="1"))
    stranger = other("stranger", plan=None, status=status(spend_usd="50"))
    tasks = {t.metadata.name: t for t in (subject, peer, stranger)}
    found = plan(status=PlanStatus(tasks=(known,)), budget="9")

    spending = Spending()
    for name, task in tasks.items():
        spending.put_task(name, None, task)
    spending.put_session(None, reported)
    assert spending.of(found, project()) == Decimal("5.7")
