"""Blocked: an agent says that it can go on only once something else has happened."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import TaskDecision
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.sanitise import quoting
from bernstein.core.tasks import decide as task_decide
from bernstein.core.tasks.blocked import MOST_IN_A_ROW
from tests.unit.core import objects
from tests.unit.core.objects import Object, at, plan, session, stalled_for, status, told, work

NO_PROJECT = Diagnosis("ProjectNotFound", "no Project")


def says(*tasks: str, text: str = "a key for the sandbox", **more: Any) -> Any:
    """A session of the Task `work` that has ended so."""
    message = quoting("it waits for something", text, 2000)
    outcome: Object = {"reason": "Blocked", "message": message, "started": True}
    outcome["waits_for"] = tasks or None
    left = more.pop("left", work(final=True))
    return session(state=SessionState.DEAD, outcome=outcome, work=left.model_dump(), **more)


def ends(
    *tasks: str, before: TaskStatus | None = None, others: tuple[Task, ...] = (), **more: Any
) -> TaskStatus:
    """The status that follows when the agent of `work` says that it waits for these."""
    found = before or objects.with_session(TaskState.IN_PROGRESS)
    return look(found, others=others, sessions=(says(*tasks, **more),)).status


def look(
    before: TaskStatus, *, others: tuple[Task, ...] = (), of: str | None = "web", **given: Any
) -> TaskDecision:
    """`of`: the Plan of the Task and of all the others."""
    subject = objects.task(status=before, plan=of)
    return task_decide.decide(objects.snapshot(subject, others=others, **given), at(60))


def blocked(*tasks: str, **more: Any) -> TaskStatus:
    said: Object = {"session": "work-s1", "text": "the API", "tasks": list(tasks)}
    return objects.with_session(TaskState.BLOCKED, blocked=said | more)


def other(name: str, state: TaskState = TaskState.OPEN, **more: Any) -> Task:
    spec = {key: more.pop(key) for key in ("dependsOn", "dependsOnStages", "plan") if key in more}
    return objects.task(name, status=status(state, **more), **spec)


# --- its end --------------------------------------------------------------------------------------


def test_who_names_nothing_waits_for_a_person() -> None:
    found = ends()

    assert (found.state, found.attempt) == (TaskState.BLOCKED, 0)
    assert found.blocked is not None
    assert (found.blocked.text, found.blocked.tasks) == ("a key for the sandbox", ())
    assert stalled_for(found.conditions) == "Blocked"
    assert found.waiting is not None
    assert "a key" not in found.waiting.message, "conditions quote nobody"
    assert "something; status.blocked has its words" in found.waiting.message
    assert "`bernstein unblock work`" in found.waiting.message


def test_it_is_written_down_as_a_session_that_cost_no_attempt_and_its_money() -> None:
    found = ends(usage={"input": 1_000_000, "output": 0})

    assert [(a.reason, a.counted) for a in found.attempts] == [("Blocked", False)]
    assert found.usage.input == 1_000_000
    assert (found.history[-1].actor, found.history[-1].reason) == ("operator", "Blocked")


def test_the_next_session_goes_on_from_what_it_wrote() -> None:
    assert ends().checkpoint == "refs/bernstein/1111222233334444/work/s1"
    assert ends(left=work(objects.BASE)).checkpoint is None


def test_who_names_a_task_of_its_plan_waits_for_that() -> None:
    found = ends("api", others=(other("api"),))

    assert found.blocked is not None
    assert (found.blocked.tasks, found.blocked.refused) == (("api",), None)
    assert told(found.conditions)["Reconciling"] == ("True", "Blocked")
    assert found.waiting is not None
    assert found.waiting.message == "its agent waits for api; status.blocked has its words"


@pytest.mark.parametrize(
    "stranger",
    [other("api", plan=None), other("api", plan="other"), None],
    ids=["of no Plan", "of another Plan", "missing"],
)
def test_a_name_that_is_none_of_its_business_is_refused_whatever_there_is(
    stranger: Task | None,
) -> None:
    found = ends("api", others=() if stranger is None else (stranger,))

    assert found.blocked is not None
    assert (found.blocked.tasks, found.blocked.refused) == ((), ("api",))
    assert stalled_for(found.conditions) == "Blocked"
    assert found.waiting is not None
    assert "It is no matter of its own what becomes of 1 name besides" in found.waiting.message


def test_a_task_does_not_wait_for_itself() -> None:
    found = ends("work")

    assert found.blocked is not None
    assert found.blocked.refused == ("work",)


def test_a_task_without_a_plan_waits_for_others_of_its_project_only() -> None:
    mine, elses = other("mine", plan=None), other("elses", plan=None, project="another")
    before = objects.with_session(TaskState.IN_PROGRESS)

    found = look(before, others=(mine, elses), of=None, sessions=(says("mine", "elses"),)).status

    assert found.blocked is not None
    assert (found.blocked.tasks, found.blocked.refused) == (("mine",), ("elses",))


def test_what_it_says_is_bounded_and_harmless() -> None:
    found = ends(text="\x1b[31mred\x1b[0m\n" + "x" * 1900)

    assert found.blocked is not None
    assert len(found.blocked.text) <= 500
    assert found.blocked.text.startswith("red x")


# --- too often ------------------------------------------------------------------------------------


def in_a_row(times: int) -> TaskStatus:
    said = {"session": "work-s0", "text": "the API", "times": times}
    return objects.with_session(TaskState.IN_PROGRESS, blocked=said)


def test_who_says_so_too_often_in_a_row_has_failed_and_the_next_attempt_is_told() -> None:
    before = in_a_row(MOST_IN_A_ROW - 1)
    assert ends(before=before).state is TaskState.BLOCKED

    found = ends(before=in_a_row(MOST_IN_A_ROW))

    assert (found.state, found.attempt, found.blocked) == (TaskState.FAILED, 1, None)
    assert [(a.reason, a.counted) for a in found.attempts] == [("BlockRefused", True)]
    assert found.feedback == (
        "BlockRefused: for the 4th time in a row it says that it waits for something:\n"
        "> a key for the sandbox"
    )


def test_an_attempt_that_counts_begins_the_count_anew() -> None:
    failed = objects.dead("AgentFailed", message="no", work=work())
    found = look(in_a_row(MOST_IN_A_ROW), sessions=(failed,)).status

    assert found.blocked is None


def test_a_session_that_was_lost_does_not() -> None:
    lost = objects.dead("Disrupted")
    found = look(in_a_row(2), sessions=(lost,)).status

    assert found.blocked is not None
    assert found.blocked.times == 2


# --- until ----------------------------------------------------------------------------------------


def test_it_is_open_again_when_all_that_it_named_are_closed() -> None:
    closed, open_ = other("api", TaskState.CLOSED), other("db")

    waits = look(blocked("api", "db"), others=(closed, open_)).status
    assert waits.state is TaskState.BLOCKED
    found = look(blocked("api"), others=(closed,)).status

    assert (found.state, found.waiting) == (TaskState.OPEN, None)
    assert (found.history[-1].actor, found.history[-1].reason) == ("operator", "Unblocked")
    assert found.blocked is not None, "its next agent is told"


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ((), "Task 'api' is gone"),
        ((other("api", TaskState.CANCELLED),), "Task 'api' ended as Cancelled"),
        ((other("api", TaskState.FAILED, attempt=4),), "Task 'api' ended as Failed"),
        (
            (other("api", waiting=objects.waits("DependencyFailed", needs_person=True)),),
            "Task 'api' itself waits for what never comes",
        ),
    ],
    ids=["deleted", "cancelled", "failed", "stuck"],
)
def test_a_person_is_needed_where_one_will_never_be_closed(
    others: tuple[Task, ...], why: str
) -> None:
    found = look(blocked("api"), others=others).status

    assert stalled_for(found.conditions) == "Blocked"
    assert found.waiting is not None
    assert found.waiting.message.startswith(f"{why}; its agent waits for api; ")


def test_of_one_that_stands_still_the_plan_tells_and_without_a_plan_the_task() -> None:
    stands = objects.waits("BudgetExceeded", needs_person=True)

    in_plan = look(blocked("api"), others=(other("api", waiting=stands),)).status
    alone = look(blocked("api"), others=(other("api", waiting=stands, plan=None),), of=None).status

    assert stalled_for(in_plan.conditions) is None
    assert stalled_for(alone.conditions) == "Blocked"


ROWS = (
    PlanTask(name="work", stage="build", uid="uid-work"),
    PlanTask(name="ship", stage="ship", uid="uid-ship"),
)
RING: Object = {"session": "x-s1", "text": "", "tasks": ["work"]}


@pytest.mark.parametrize(
    "others",
    [
        (other("api", dependsOn=["work"]),),
        (other("api", dependsOn=["db"]), other("db", dependsOn=["work"])),
        (other("api", TaskState.BLOCKED, blocked=RING),),
        (other("api", dependsOnStages=["build"]),),
        (other("api", dependsOnStages=["ship"]), other("ship", TaskState.BLOCKED, blocked=RING)),
    ],
    ids=["depends", "by another", "blocked on it", "on its stage", "by a stage"],
)
def test_two_that_wait_for_each_other_need_a_person(others: tuple[Task, ...]) -> None:
    of = plan(status=PlanStatus(expanded=True, tasks=ROWS))

    found = look(blocked("api"), others=others, plan=of).status

    assert stalled_for(found.conditions) == "Blocked"
    assert found.waiting is not None
    assert "Task 'api' itself waits for this one" in found.waiting.message


def test_a_circle_of_others_is_no_circle_of_its_own_and_is_looked_at_once() -> None:
    names = [f"t{n}" for n in range(300)]
    knot = tuple(other(name, dependsOn=names[:50]) for name in names)

    found = look(blocked("t0"), others=knot).status

    assert stalled_for(found.conditions) is None


def test_what_was_waited_for_before_it_closed_is_no_circle() -> None:
    found = look(blocked("api"), others=(other("api", TaskState.CLOSED, dependsOn=["work"]),))

    assert found.status.state is TaskState.OPEN


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        ({"project": None, "project_problem": NO_PROJECT}, "ProjectNotFound"),
        ({"plan": None}, "PlanGone"),
    ],
)
def test_without_its_owners_it_stays(gone: Any, reason: str) -> None:
    found = look(blocked("api"), others=(other("api", TaskState.CLOSED),), **gone).status

    assert (found.state, stalled_for(found.conditions)) == (TaskState.BLOCKED, reason)


def test_looked_at_again_it_says_the_same() -> None:
    once = look(blocked("api"), others=(other("api"),)).status

    assert look(once, others=(other("api"),)).status == once


def test_it_can_be_cancelled() -> None:
    subject = objects.task(status=blocked("api"), cancel={"reason": "not needed"})

    found = task_decide.decide(objects.snapshot(subject), at(60)).status

    assert (found.state, found.waiting) == (TaskState.CANCELLED, None)


# --- a person -------------------------------------------------------------------------------------

UNBLOCK: Object = {"id": "r-1", "verb": "Unblock", "by": "ann", "reason": "it is in the vault"}


def asked(before: TaskStatus, **more: Any) -> TaskStatus:
    subject = objects.task(status=before, requests=[UNBLOCK], **more)
    return task_decide.decide(objects.snapshot(subject), at(60)).status


def test_a_person_unblocks_it_and_the_next_agent_is_told_what_he_says() -> None:
    found = asked(blocked("api", times=3))

    assert found.state is TaskState.OPEN
    assert (found.history[-1].actor, found.history[-1].reason) == ("ann", "Unblocked")
    assert [(a.answer, a.reason) for a in found.requests or ()] == [("Done", "Unblock")]
    assert found.blocked is not None
    assert (found.blocked.answer, found.blocked.times) == ("it is in the vault", 0)


@pytest.mark.parametrize("state", [TaskState.OPEN, TaskState.CLOSED, TaskState.DONE])
def test_what_is_not_blocked_is_not_unblocked(state: TaskState) -> None:
    found = asked(status(state))

    assert found.state is state
    assert [(a.answer, a.reason) for a in found.requests or ()] == [("Refused", "NotBlocked")]
