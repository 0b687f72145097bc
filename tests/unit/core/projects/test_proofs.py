"""What has gone well of a Project, and what that speaks against."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.plan import Plan
from bernstein.api.project import ProbeFinding
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.projects.proofs import against, proofs
from tests.unit.core import objects
from tests.unit.core.objects import at

PROJECT = objects.project()


def plan(since: datetime | None) -> Plan:
    found = objects.plan()
    assert found.status.integration is not None
    begun = found.status.integration.model_copy(update={"since": since})
    return found.model_copy(
        update={"status": found.status.model_copy(update={"integration": begun})}
    )


def task(state: TaskState = TaskState.IN_PROGRESS) -> Task:
    """One without a Plan."""
    moves = [("Open", -30), ("InProgress", -20), ("Failed", -15), ("InProgress", -10)]
    history = [{"toState": to, "attempt": 0, "reason": "x", "time": at(when)} for to, when in moves]
    return objects.task(status=objects.status(state, history=history), plan=None)


def test_the_last_begin_of_a_plan_and_the_last_start_of_an_agent_count() -> None:
    plans = (plan(at(-5)), plan(at(-2)), plan(None), objects.plan(begun=False))

    assert proofs(PROJECT, plans, (task(),)) == {"work": at(-2), "read": at(-10)}


def test_nothing_is_proved_by_a_task_of_a_plan_or_one_without_an_agent() -> None:
    of_plan = objects.task(status=task().status, stage="build")

    assert proofs(PROJECT, (), (of_plan, task(TaskState.OPEN), task(TaskState.CLAIMED))) == {}


def finding(subject: str, reason: str) -> ProbeFinding:
    return ProbeFinding(subject=subject, reason=reason, message="x")


def test_that_a_branch_or_a_server_is_there_every_account_proves_and_of_itself_only_its_own() -> (
    None
):
    proved = {"work": at(-2), "read": at(-10)}

    assert against([finding("deliver", "RefNotFound")], proved) == at(-2)
    assert against([finding("read", "RepositoryUnreachable")], proved) == at(-2)
    assert against([finding("read", "RepositoryAuthFailed")], proved) == at(-10)
    assert against([finding("deliver", "CredentialRefused")], proved) is None
    assert against([], proved) is None


def test_that_the_server_does_not_answer_who_delivers_he_alone_disproves() -> None:
    away = [finding("deliver", "RepositoryUnreachable")]

    assert against(away, {"work": at(-2), "read": at(-10)}) is None
    assert against(away, {"work": at(-2), "deliver": at(-5)}) == at(-5)
