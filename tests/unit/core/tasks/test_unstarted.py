"""Sessions that never started an agent: the newest few stay, and nothing that counts goes."""

from __future__ import annotations

from typing import Any

from bernstein.api.meta import UsageCounts
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import DeleteSession, TaskDecision
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, snapshot
from tests.unit.core.tasks.decisions import after
from tests.unit.core.waits import held

MISSING = 'secret "model-key" not found'


def tried(number: int, reason: str = "SecretNotFound", **more: Any) -> AgentSession:
    return objects.dead(reason, started=False, message=MISSING, number=number, **more)


def waiting(sessions: int, state: TaskState = TaskState.OPEN) -> TaskStatus:
    """The status of a Task whose sessions so far never started an agent."""
    known = held("SecretNotFound", at(8), MISSING, needs_person=True)
    more: dict[str, Any] = {"sessions": sessions, "session": f"work-s{sessions}"}
    return objects.status(state, waiting=known, **more)


def look(status: TaskStatus, *sessions: AgentSession, **more: Any) -> TaskDecision:
    found = snapshot(objects.task(status=status), sessions=sessions, own_sessions=sessions, **more)
    return decide(found, NOW)


def deleted(decision: TaskDecision) -> list[str]:
    found = (a.session for a in decision.actions if isinstance(a, DeleteSession))
    return [session.metadata.name for session in found]


def test_of_many_that_never_started_an_agent_the_newest_three_stay() -> None:
    found = look(waiting(6), *(tried(number) for number in range(1, 7)))

    assert deleted(found) == ["work-s1", "work-s2", "work-s3"]


def test_the_project_says_how_many() -> None:
    project = objects.project(retention={"unstartedSessions": 1})

    found = look(waiting(3), *(tried(number) for number in (1, 2, 3)), project=project)

    assert deleted(found) == ["work-s1", "work-s2"]


def test_without_a_project_nobody_says_how_many() -> None:
    problem = {"project": None, "project_problem": Diagnosis("ProjectNotFound", "gone")}

    assert deleted(look(waiting(6), *(tried(number) for number in range(1, 7)), **problem)) == []


def test_the_current_session_stays_whatever_it_came_to() -> None:
    project = objects.project(retention={"unstartedSessions": 1})
    own = [tried(1), tried(2), objects.session(3, state=SessionState.DEAD)]

    assert "work-s3" not in deleted(look(waiting(3), *own, project=project))


def test_what_may_still_run_stays() -> None:
    new = [objects.session(number, state=None) for number in (1, 2)]
    starting = objects.session(3, state=SessionState.STARTING)
    working = objects.session(4, state=SessionState.WORKING)

    found = look(waiting(10), *new, starting, working, *(tried(n) for n in range(5, 11)))

    assert deleted(found) == ["work-s5", "work-s6", "work-s7"]


def test_who_has_started_an_agent_stays_and_is_none_of_the_three() -> None:
    ran = [objects.dead("AgentFailed", number=number) for number in (1, 3, 5)]

    found = look(waiting(9), *ran, *(tried(number) for number in (2, 4, 6, 7, 8, 9)))

    assert deleted(found) == ["work-s2", "work-s4", "work-s6"]


def test_whose_tokens_count_stays() -> None:
    paid = tried(1, usage=UsageCounts(input=10))
    heard = tried(2, usage=UsageCounts(output=1))

    found = look(waiting(7), paid, heard, *(tried(number) for number in range(3, 8)))

    assert deleted(found) == ["work-s3", "work-s4"]


def test_whose_end_its_task_has_not_written_down_yet_stays() -> None:
    own = [tried(number) for number in range(1, 7)]
    status = waiting(2, TaskState.CLAIMED)

    assert deleted(look(status, *own)) == ["work-s1"]


def test_one_that_is_being_deleted_is_not_deleted_again_nor_kept() -> None:
    first, *own = (tried(number) for number in range(1, 6))
    going = first.metadata.model_copy(update={"deletion_timestamp": NOW})
    own.append(first.model_copy(update={"metadata": going}))

    assert deleted(look(waiting(5), *own)) == ["work-s2"]


def test_a_task_that_has_ended_keeps_no_more_of_them() -> None:
    own = [tried(number) for number in range(1, 6)]
    done = objects.status(TaskState.CANCELLED, ended_at=NOW, sessions=5, session="work-s5")

    assert deleted(look(done, *own)) == ["work-s1", "work-s2"]


def test_few_are_deleted_at_a_time() -> None:
    found = look(waiting(200), *(tried(number) for number in range(1, 201)))

    assert deleted(found) == [f"work-s{number}" for number in range(1, 21)]


def test_its_task_tells_how_many_were_tried() -> None:
    status = objects.with_session(TaskState.CLAIMED)
    for number in range(1, 5):
        before = status.model_copy(
            update={"state": TaskState.CLAIMED, "sessions": number, "session": f"work-s{number}"}
        )
        status = after(tried(number), before)

    (attempt,) = status.attempts
    assert (attempt.session, attempt.times) == ("work-s4", 4)


def test_another_reason_is_told_apart() -> None:
    status = after(tried(1), objects.with_session(TaskState.CLAIMED))
    again = status.model_copy(
        update={"state": TaskState.CLAIMED, "sessions": 2, "session": "work-s2"}
    )

    told = after(tried(2, "ImagePullFailed"), again).attempts

    assert [a.reason for a in told] == ["SecretNotFound", "ImagePullFailed"]
    assert [a.times for a in told] == [None, None]


def test_of_another_task_nothing_is_deleted() -> None:
    subject: Task = objects.task(status=waiting(6))
    known: TaskSnapshot = snapshot(subject)

    assert deleted(decide(known, NOW)) == []
