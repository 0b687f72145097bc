"""The pull request of what is cancelled is closed; where it cannot be, it is cancelled all the
same."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import PlanStatus
from bernstein.api.pod import FENCE, Failure
from bernstein.api.programs.forge import ProposeResult, SeenPullRequest
from bernstein.api.programs.forge_jobs import AskedForge
from bernstein.api.projects.workplace import Workplace
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import labels
from bernstein.core.actions import (
    DeleteJobs,
    PlanDecision,
    RunClose,
    RunFence,
    RunSeek,
    TaskDecision,
)
from bernstein.core.delivery.proposed.closing import MOST
from bernstein.core.jobs import JobView
from tests.unit.core import objects
from tests.unit.core.approvals.asked import decided
from tests.unit.core.delivery import test_task_proposal as of_tasks
from tests.unit.core.delivery.plans import ONTO, there
from tests.unit.core.delivery.proposed.proposals import (
    BRANCH,
    URL,
    opened,
    project,
    proposing,
    seen,
    watched,
)
from tests.unit.core.delivery.tasks import verified
from tests.unit.core.objects import at, ended, failed, job, over, result_job, sha
from tests.unit.core.tasks import test_pending as people

CANCEL = {"reason": "no more, @ann"}
WHY = "no more, \uff20ann"
HEAD = BRANCH.removeprefix("refs/heads/")


def cancel(
    status: PlanStatus, *jobs: JobView, of: Workplace | None = None, now: int = 0
) -> PlanDecision:
    return seen(status, *jobs, of=of, now=now, cancel=CANCEL)


def told(status: PlanStatus | TaskStatus) -> Delivery:
    assert status.delivery is not None
    return status.delivery


def answer(state: str, number: int = 3, pull: int = 7, **more: Any) -> JobView:
    told = SeenPullRequest(pull, state, more.pop("at", sha(2)), more.pop("base", "main"))
    return result_job(f"web-propose-{number}", "propose", ProposeResult(told, URL))


def broken(reason: str, number: int = 3) -> JobView:
    return job(f"web-propose-{number}", over(failed("propose", reason)))


def succeeded(status: PlanStatus) -> str:
    (condition,) = [c for c in status.conditions if c.type == "Succeeded"]
    assert (condition.status, condition.reason) == ("False", "Cancelled")
    return condition.message


def test_the_pull_request_of_a_plan_is_closed_before_it_is_cancelled() -> None:
    closing = cancel(opened())
    assert (closing.status.phase, told(closing.status).step) == ("Cancelling", "Closing")
    (close,) = closing.actions
    assert isinstance(close, RunClose)
    assert (close.job, close.number, close.head, close.base) == ("web-propose-3", 7, HEAD, "main")
    assert close.comment == (
        "Plan `team/web` of the project `default` was cancelled, so this pull request is closed."
        f"\n\nWhy: `{WHY}`\n"
    )

    at_work = cancel(closing.status, job("web-propose-3"))
    assert at_work.actions == (), "its own Job is not ended"
    assert at_work.status.phase == "Cancelling"

    done = cancel(closing.status, answer("Closed")).status
    assert (done.phase, told(done).state, told(done).step) == ("Cancelled", "Withdrawn", None)
    assert succeeded(done) == f"{WHY}; {URL} is closed"


def test_one_that_may_have_been_opened_is_looked_for_by_its_branch() -> None:
    stops = cancel(proposing())
    assert stops.actions == (RunFence("web-propose-2"),)
    fenced = job("web-propose-2", labels={labels.JOB: FENCE})
    (close,) = cancel(stops.status, fenced).actions
    assert isinstance(close, RunClose)
    assert (close.number, close.head) == (0, HEAD)

    closing = cancel(stops.status, fenced).status
    none = cancel(closing, fenced, answer("Missing", pull=0, at="")).status
    assert (none.phase, succeeded(none)) == ("Cancelled", WHY)
    found = cancel(closing, fenced, answer("Closed")).status
    assert succeeded(found) == f"{WHY}; {URL} is closed"


def test_one_that_was_merged_meanwhile_is_merged_once_git_shows_it() -> None:
    closing = cancel(opened()).status
    sought = cancel(closing, answer("Merged"))
    assert (sought.status.phase, told(sought.status).step) == ("Cancelling", "Closing")
    (seek,) = cancel(sought.status, answer("Merged")).actions
    assert seek == RunSeek("web-land-4", "refs/pull/7/head", sha(2), ONTO)
    at_work = cancel(sought.status, job("web-land-4"))
    assert (at_work.actions, at_work.status.phase) == ((), "Cancelling"), "it is not ended"

    done = there(cancel, sought.status)
    assert (done.phase, told(done).state, told(done).step) == ("Cancelled", "Merged", None)
    assert told(done).landed_at is not None
    assert succeeded(done) == f"{WHY}; {URL} was merged"


def test_one_that_somebody_has_marked_as_merged_meanwhile_is_told_as_what_it_is() -> None:
    sought = cancel(cancel(opened()).status, answer("Merged")).status
    done = there(cancel, sought, state="Moved")
    assert (done.phase, told(done).state) == ("Cancelled", "Unknown")
    assert told(done).reason == "PullRequestChanged"
    assert succeeded(done) == (
        f"{WHY}; the forge says that {URL} was merged, but 'main' has neither {sha(2)} nor the "
        "same change: somebody has marked it so"
    )


@pytest.mark.parametrize(("at", "base"), [(sha(5), "main"), (sha(2), "dev")])
def test_one_that_was_merged_otherwise_meanwhile_is_told_of(at: str, base: str) -> None:
    closing = cancel(opened()).status
    done = cancel(closing, answer("Merged", at=at, base=base)).status
    assert (done.phase, told(done).state) == ("Cancelled", "Unknown")
    assert succeeded(done) == f"{WHY}; the forge says that {URL} was merged"


def test_what_is_looked_for_already_when_it_is_cancelled_is_looked_for_to_its_end() -> None:
    merged = watched("Merged")
    begun = seen(opened(), of=merged).status
    at_work = job("web-land-3")
    stops = cancel(begun, at_work, of=merged)
    assert stops.actions == (DeleteJobs((at_work,)),)

    closing = cancel(stops.status, of=merged)
    (seek,) = closing.actions
    assert isinstance(seek, RunSeek)
    assert seek.job == "web-land-4"
    done = there(cancel, closing.status, of=merged)
    assert (done.phase, told(done).state) == ("Cancelled", "Merged")
    assert succeeded(done) == f"{WHY}; {URL} was merged"


def test_where_git_cannot_be_asked_it_is_tried_a_few_times_and_the_forge_is_quoted() -> None:
    status, tries = cancel(cancel(opened()).status, answer("Merged")).status, 0
    while status.phase == "Cancelling":
        number = told(status).round
        ready = told(status).model_copy(update={"until": None})
        refused = over(failed("land", "RepositoryUnreachable", "no route"))
        status = status.model_copy(update={"delivery": ready})
        status, tries = cancel(status, job(f"web-land-{number}", refused)).status, tries + 1
    assert tries == MOST
    assert (status.phase, told(status).state) == ("Cancelled", "Unknown")
    assert told(status).reason == "RepositoryUnreachable"
    assert succeeded(status) == (
        f"{WHY}; the forge says that {URL} was merged; it could not be looked for: no route"
    )


def test_what_the_forge_has_said_of_it_hides_no_remedy() -> None:
    said = Failure("ForgeRightsMissing", "the forge answered 403:\n> not you", AskedForge(None))
    broken = job("web-propose-3", over(ended("propose", 1, said=said)))
    done = cancel(cancel(opened()).status, broken).status
    assert succeeded(done) == (
        f"{WHY}; {URL} stays open; it could not be closed: the forge answered 403; "
        "status.delivery has its words. Remedy: close it, unless people are to merge what it has"
    )


def test_where_the_forge_is_down_it_is_tried_a_few_times_and_cancelled_all_the_same() -> None:
    status, tries = cancel(opened()).status, 0
    while status.phase == "Cancelling":
        number = told(status).round
        ready = told(status).model_copy(update={"until": None})
        status = status.model_copy(update={"delivery": ready})
        decision = cancel(status, broken("ForgeUnreachable", number))
        status, tries = decision.status, tries + 1
        if status.phase == "Cancelling":
            assert 0 < (decision.requeue_after or 0) <= 60
            assert cancel(status).actions == (), "not before its time"
            later = told(status).model_copy(update={"until": None})
            (again,) = cancel(status.model_copy(update={"delivery": later})).actions
            assert isinstance(again, RunClose)
            assert again.job == f"web-propose-{number + 1}" == f"web-propose-{told(status).round}"
    assert tries == MOST
    assert (status.phase, told(status).state) == ("Cancelled", "Unknown")
    assert told(status).reason == "ForgeUnreachable"
    message = succeeded(status)
    assert f"{URL} stays open; it could not be closed: " in message
    assert message.endswith("Remedy: close it, unless people are to merge what it has")


def test_a_limit_of_an_hour_is_waited_for_and_a_longer_one_is_not() -> None:
    closing = cancel(opened()).status

    def limited(seconds: int) -> PlanDecision:
        said = Failure("ForgeRateLimited", "wait", AskedForge(seconds, requests=1))
        return cancel(closing, job("web-propose-3", over(ended("propose", 1, said=said))))

    waits = limited(3600)
    assert (waits.status.phase, waits.requeue_after) == ("Cancelling", 3600)
    assert cancel(waits.status).actions == ()
    assert told(waits.status).reason == "ForgeRateLimited", "so that others learn of it"
    assert told(waits.status).until == at(3600)
    done = cancel(waits.status, answer("Closed", told(waits.status).round), now=3600).status
    assert (done.phase, told(done).reason, told(done).until) == ("Cancelled", None, None)
    longer = limited(3601).status
    assert (longer.phase, told(longer).reason) == ("Cancelled", "ForgeRateLimited")
    assert told(longer).until == at(3601), "though nothing of this one waits for it"


@pytest.mark.parametrize("reason", ["ForgeTokenRefused", "ForgeRightsMissing", "ForgeNotFound"])
def test_what_does_not_pass_by_itself_is_not_waited_for(reason: str) -> None:
    closing = cancel(opened()).status
    done = cancel(closing, broken(reason)).status
    assert (done.phase, told(done).reason) == ("Cancelled", reason)


def test_nothing_is_asked_of_another_repository_or_of_no_forge() -> None:
    (repository,) = project().spec.repositories
    moved = objects.project(
        repositories=[{**repository.dump(), "url": "https://git.example/other.git"}],
        merge={"strategy": "pr"},
    )
    for of, reason in ((moved, "PullRequestMissing"), (objects.project(), "ForgeGone")):
        done = cancel(opened(), of=of)
        assert done.actions == ()
        assert (done.status.phase, told(done.status).reason) == ("Cancelled", reason)
        assert f"{URL} stays open" in succeeded(done.status)


def test_one_that_people_have_closed_is_not_asked_about() -> None:
    pull = told(opened()).pull_request
    assert pull is not None
    closed = pull.model_copy(update={"state": "Closed"})
    delivery = told(opened()).model_copy(update={"pull_request": closed})
    done = cancel(opened().model_copy(update={"delivery": delivery}))
    assert (done.status.phase, done.actions) == ("Cancelled", ())


def test_what_the_job_tells_of_another_number_is_not_believed() -> None:
    closing = cancel(opened()).status
    assert cancel(closing, answer("Closed", pull=8)).status.phase == "Cancelling"
    assert cancel(closing, answer("Open")).status.phase == "Cancelling"


def test_a_tasks_own_is_closed_too() -> None:
    closing = of_tasks.look(of_tasks.opened(), cancel=CANCEL)
    (close,) = closing.actions
    assert isinstance(close, RunClose)
    assert (close.job, close.number) == ("work-s1-propose-3", 7)
    assert closing.status.state is TaskState.DONE

    pull = SeenPullRequest(7, "Closed", objects.HEAD, "main")
    closed = result_job("work-s1-propose-3", "propose", ProposeResult(pull, of_tasks.URL))
    done = of_tasks.look(closing.status, closed, cancel=CANCEL).status
    assert done.state is TaskState.CANCELLED
    assert of_tasks.told(done).state == "Withdrawn"

    pull = SeenPullRequest(7, "Merged", objects.HEAD, "main")
    merged = result_job("work-s1-propose-3", "propose", ProposeResult(pull, of_tasks.URL))
    sought = of_tasks.look(closing.status, merged, cancel=CANCEL).status
    assert sought.state is TaskState.DONE
    (seek,) = of_tasks.look(sought, cancel=CANCEL).actions
    assert isinstance(seek, RunSeek)
    assert seek.job == "work-s1-land-4"


def test_work_that_was_never_proposed_is_cancelled_without_the_forge() -> None:
    status = of_tasks.look(verified(), cancel=CANCEL)
    assert (status.status.state, status.actions) == (TaskState.CANCELLED, ())


def test_work_that_a_person_rejects_leaves_no_pull_request_of_earlier_work_open() -> None:
    (repository,) = project().spec.repositories
    asks = objects.project(
        gates=of_tasks.QUIET,
        approval={"result": "Always"},
        repositories=[repository.dump()],
        merge={"strategy": "pr"},
    )
    earlier = told(of_tasks.opened()).model_copy(update={"state": "Pending"})
    pending = people.pending(of=asks).model_copy(update={"delivery": earlier})
    no = decided(people.approval(of=asks), "Reject", reason="not like this")

    closing = people.look(pending, no, of=asks)
    (close,) = closing.actions
    assert isinstance(close, RunClose)
    assert closing.status.state is TaskState.PENDING_APPROVAL
    done = people.look(closing.status.model_copy(update={"delivery": gone(closing)}), no, of=asks)
    assert done.status.state is TaskState.CANCELLED


def gone(decision: TaskDecision) -> Delivery:
    """Its delivery, where people have closed the pull request meanwhile."""
    delivery = told(decision.status)
    assert delivery.pull_request is not None
    closed = delivery.pull_request.model_copy(update={"state": "Closed"})
    return delivery.model_copy(update={"pull_request": closed})
