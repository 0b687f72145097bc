"""What is said of a Plan's pull request: a Task of the Plan's own is made because of it."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import PlanStatus
from bernstein.api.programs.forge import ListenResult
from bernstein.api.projects.watching import PullRequestWatch, WatchedPullRequest
from bernstein.api.projects.workplace import Workplace
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core import names
from bernstein.core.actions import CancelTasks, CreateTasks, PlanDecision, RunLand, RunListen
from bernstein.core.jobs import JobView
from tests.unit.core import objects
from tests.unit.core.delivery.plans import ONTO, TASKS, landed, there
from tests.unit.core.delivery.proposed.proposals import BRANCH, opened, project
from tests.unit.core.delivery.proposed.proposals import seen as look
from tests.unit.core.objects import result_job, sha, snapshot
from tests.unit.core.objects import status as status_of

NAME = names.answerer("web", 1)
SAID = "ann says:\n> Use a constant."
FEEDBACK: Any = ["Comments"]


def seen(state: str = "Open", said: str = "d1", **pulls: Any) -> Workplace:
    fields = {"repository": "app", "number": 7, "state": state, "sha": sha(2), "base": "main"}
    row = WatchedPullRequest.model_validate({**fields, "said": said})
    return project(PullRequestWatch(pull_requests=(row,)), **({"feedback": FEEDBACK} | pulls))


def step(
    status: PlanStatus,
    *jobs: JobView,
    answerer: Task | None = None,
    of: Workplace | None = None,
    **more: Any,
) -> PlanDecision:
    tasks = TASKS if answerer is None else (*TASKS, answerer)
    return look(status, *jobs, of=of or seen(), tasks=tasks, **more)


def heard(said: str = "d1", *ids: str) -> JobView:
    result = ListenResult(sha(2), said, ids or ("line-12",), text=SAID)
    return result_job("web-listen-0", "listen", result)


def met() -> PlanStatus:
    """A Task is to be made, and nobody has made that yet."""
    return step(opened(), heard()).status


def made(status: TaskStatus | None = None, **spec: Any) -> Task:
    return objects.task(NAME, status=status, maxRetries=1, stage=None, **spec)


def done() -> Task:
    """It has landed on what the others have."""
    its = landed(3, sha(2), when=-5)
    return made(its.status)


def told(status: PlanStatus) -> Delivery:
    assert status.delivery is not None
    return status.delivery


def test_what_is_new_becomes_a_row_before_there_is_a_task_and_nobody_is_asked_twice() -> None:
    assert step(opened()).actions == (RunListen("web-listen-0", 7),)
    status = met()

    assert (status.tasks[-1].name, status.tasks[-1].answers) == (NAME, 1)
    assert (status.phase, told(status).state) == ("Running", "PullRequestOpen")
    feedback = told(status).feedback
    assert feedback is not None
    assert (feedback.task, feedback.text) == (NAME, SAID)


def test_the_task_is_the_plans_own_and_has_no_word_of_what_was_said() -> None:
    (create,) = step(met()).actions
    assert isinstance(create, CreateTasks)
    (obj,) = create.objects
    assert obj["metadata"]["name"] == NAME
    assert [o["uid"] for o in obj["metadata"]["ownerReferences"]] == [objects.PLAN_UID]
    assert "constant" not in str(obj)
    assert step(met(), now=50).actions == (create,)


def test_its_agent_alone_is_told_what_was_said() -> None:
    plan = objects.plan(status=met())
    assert snapshot(made(), plan=plan).said == SAID
    assert snapshot(objects.task("t2"), plan=plan).said == ""
    rows = met().tasks[-1].model_copy(update={"uid": "another"})
    other = plan.status.model_copy(update={"tasks": (*met().tasks[:-1], rows)})
    assert snapshot(made(), plan=objects.plan(status=other)).said == ""


def test_while_it_is_at_work_the_pull_request_is_as_it_was_and_nothing_else_is_begun() -> None:
    decision = step(met(), answerer=made(status_of(TaskState.IN_PROGRESS)), of=seen(said="d2"))
    assert decision.actions == ()
    assert (decision.status.phase, told(decision.status).state) == ("Running", "PullRequestOpen")


def test_what_it_has_landed_goes_to_the_same_branch_once_it_is_verified() -> None:
    begun = step(met(), answerer=done())
    delivery = told(begun.status)
    assert (delivery.state, delivery.branch, delivery.sha) == ("Pending", BRANCH, sha(2))
    assert delivery.pull_request is not None
    assert delivery.feedback is not None
    assert delivery.feedback.task is None

    (land,) = step(begun.status, answerer=done()).actions
    assert isinstance(land, RunLand)
    assert (land.sha, land.onto, land.branch, land.branch_at) == (sha(3), ONTO, BRANCH, sha(2))


@pytest.mark.parametrize(
    ("ended", "state", "of"),
    [
        (status_of(TaskState.FAILED, attempt=2), "Failed", seen()),
        (status_of(TaskState.IN_PROGRESS), "merged", seen("Merged")),
        (status_of(TaskState.IN_PROGRESS), "closed", seen("Closed")),
    ],
)
def test_without_result_or_too_late_it_is_cancelled(
    ended: TaskStatus, state: str, of: Workplace
) -> None:
    decision = step(met(), answerer=made(ended), of=of)
    assert [a.names for a in decision.actions if isinstance(a, CancelTasks)] == [(NAME,)]
    assert decision.status.ended_at is None


def test_then_the_pull_request_is_waited_for_as_before() -> None:
    cancelled = made(status_of(TaskState.CANCELLED))
    status = step(met(), answerer=cancelled).status
    assert (status.phase, told(status).state) == ("Delivering", "PullRequestOpen")
    assert told(status).feedback is not None
    assert step(status, answerer=cancelled).actions == ()

    begun = step(met(), answerer=cancelled, of=seen("Merged")).status
    merged = there(step, begun, answerer=cancelled, of=seen("Merged"))
    assert (merged.phase, told(merged).state) == ("Succeeded", "Merged")


def test_people_who_merge_what_was_verified_while_it_lands_have_merged_that() -> None:
    begun = step(met(), answerer=done(), of=seen("Merged")).status
    merged = there(step, begun, answerer=done(), of=seen("Merged"))
    assert (merged.phase, told(merged).state, told(merged).sha) == ("Succeeded", "Merged", sha(2))


def test_above_the_cap_it_is_for_people_and_the_plan_says_so() -> None:
    first = step(met(), answerer=made(status_of(TaskState.CANCELLED))).status
    decision = step(
        first,
        answerer=made(status_of(TaskState.CANCELLED)),
        of=seen(said="d2", maxFeedback=1),
    )
    assert decision.actions == ()
    assert decision.status.phase == "Stalled"
    assert decision.status.waiting is not None
    assert "raise merge.pullRequest.maxFeedback" in decision.status.waiting.message
