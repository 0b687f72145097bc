"""A Task's own pull request: opened for what was verified, and waited for until it is merged."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.integration import Integration
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.programs.forge import ProposeResult, SeenPullRequest
from bernstein.api.project import Project
from bernstein.api.projects.watching import PullRequestWatch, WatchedPullRequest
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import RunFence, RunLand, RunPropose, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.waiting import parted
from tests.unit.core import objects, scheduled
from tests.unit.core.delivery.plans import there
from tests.unit.core.delivery.tasks import INTEGRATION, landed, verified
from tests.unit.core.objects import (
    BASE,
    HEAD,
    at,
    failed,
    job,
    over,
    result_job,
    sha,
    snapshot,
    stalled_for,
)

MAIN = "refs/heads/main"
BRANCH = "refs/heads/bernstein/work-uidwork"
URL = "https://git.example/app/pulls/7"
FORGE = {"type": "gitea", "token": {"name": "forge", "key": "token"}}
QUIET = {"pipeline": [{"name": "pii_scan", "enabled": False}]}


def project(watch: PullRequestWatch | None = None, **pulls: Any) -> Project:
    (repository,) = objects.project().spec.repositories
    found = objects.project(
        gates=QUIET,
        repositories=[{**repository.dump(), "forge": FORGE}],
        merge={"strategy": "pr", **({"pullRequest": pulls} if pulls else {})},
    )
    status = found.status.model_copy(update={"watch": watch})
    return found.model_copy(update={"status": status})


def watched(state: str, at_sha: str = HEAD, **more: Any) -> Project:
    said = {"state": state, "sha": at_sha, "base": more.pop("base", "main")}
    row = WatchedPullRequest.model_validate({"repository": "app", "number": 7, **said})
    return project(PullRequestWatch(pull_requests=(row,), **more))


def plan(per: Any = "Task") -> Plan:
    """One that has begun, and delivers so."""
    begun = Integration(ref=INTEGRATION, target=MAIN, target_sha=BASE, per=per)
    return objects.plan(status=PlanStatus(integration=begun, expanded=True))


def look(
    status: TaskStatus,
    *jobs: JobView,
    of: Project | None = None,
    plan: Plan | None = None,
    **spec: Any,
) -> TaskDecision:
    subject = objects.task(status=status, plan="web" if plan is not None else None, **spec)
    given = snapshot(subject, jobs=jobs, project=of or project(), plan=plan)
    return scheduled.decide(given, at(0))


def landing(**more: Any) -> TaskStatus:
    fields = {"state": "Pending", "step": "Landing", "onto": MAIN, "round": 1, "branch": BRANCH}
    return verified(Delivery.model_validate(fields | more))


def proposing() -> TaskStatus:
    return look(landing(), landed()).status


def proposed(state: str = "Open", at_sha: str = HEAD) -> JobView:
    pull = SeenPullRequest(7, state, at_sha)
    return result_job("work-s1-propose-2", "propose", ProposeResult(pull, URL))


def opened(plan: Plan | None = None) -> TaskStatus:
    return look(proposing(), proposed(), plan=plan).status


def told(status: TaskStatus) -> Delivery:
    assert status.delivery is not None
    return status.delivery


@pytest.mark.parametrize("owner", [None, plan()])
def test_what_was_verified_is_pushed_to_a_branch_of_the_tasks_own(owner: Plan | None) -> None:
    begun = look(verified(Delivery(state="Pending", step="Next", onto=MAIN)), plan=owner).status
    assert (told(begun).step, told(begun).onto, told(begun).branch) == ("Landing", MAIN, BRANCH)

    (land,) = look(begun, plan=owner).actions
    assert isinstance(land, RunLand)
    assert (land.onto, land.expect, land.branch, land.branch_at) == (MAIN, BASE, BRANCH, None)


def test_a_task_of_a_plan_that_delivers_as_a_whole_lands_in_its_integration_ref() -> None:
    next_ = verified(Delivery(state="Pending", step="Next", onto=INTEGRATION))
    begun = look(next_, plan=plan(None), of=project(per="Task")).status
    assert (told(begun).onto, told(begun).branch) == (INTEGRATION, None)


def test_one_whose_branch_was_deleted_before_it_was_opened_says_how_that_is_there_again() -> None:
    """Of a branch that is not there a forge says no more than of a repository."""
    gone = over(failed("propose", "ForgeNotFound", "the forge answered 404"))

    status = look(proposing(), job("work-s1-propose-2", gone)).status

    assert status.waiting is not None
    told_of, remedy = parted(status.waiting.message)
    assert (status.waiting.reason, told_of) == ("ForgeNotFound", "the forge answered 404.")
    assert remedy is not None
    assert "let the token's account see the repository" in remedy
    head = BRANCH.removeprefix("refs/heads/")
    assert remedy.endswith(f"Put its branch '{head}' at {HEAD}, if it is not there any more.")


def test_then_its_pull_request_is_opened() -> None:
    status = proposing()
    assert (status.state, told(status).step, told(status).state) == (
        *(TaskState.DONE, "Proposing"),
        "Pending",
    )

    (propose,) = look(status).actions
    assert isinstance(propose, RunPropose)
    assert propose.job == "work-s1-propose-2"
    assert (propose.head, propose.base) == (BRANCH.removeprefix("refs/heads/"), "main")
    assert propose.title == "Do work"
    assert f"Verified: `{HEAD}`" in propose.body


@pytest.mark.parametrize("owner", [None, plan()])
def test_it_is_done_until_that_is_merged(owner: Plan | None) -> None:
    status = opened(owner)

    assert status.state is TaskState.DONE
    assert told(status).state == "PullRequestOpen"
    pull = told(status).pull_request
    assert pull is not None
    assert (pull.number, pull.url, pull.state, pull.sha) == (7, URL, "Open", HEAD)
    assert status.waiting is not None
    assert (status.waiting.reason, status.waiting.needs_person) == ("PullRequestOpen", False)
    assert look(status, plan=owner).actions == ()
    assert look(status, plan=owner).status == status, "nobody gives it a turn to land anew"

    status = look(status, of=watched("Merged"), plan=owner).status
    assert status.state is TaskState.DONE
    status = there(look, status, "work-s1", of=watched("Merged"), plan=owner)
    assert (status.state, told(status).state) == (TaskState.CLOSED, "Merged")
    assert status.ended_at is not None


def test_that_it_is_open_is_not_enough_for_a_task_whatever_a_plan_is_content_with() -> None:
    status = look(proposing(), proposed(), of=project(succeedOn="Opened")).status
    assert status.state is TaskState.DONE


@pytest.mark.parametrize(
    ("row", "state", "reason"),
    [
        (("Closed", HEAD), "Rejected", "PullRequestClosed"),
        (("Open", sha(5)), "Unknown", "PullRequestChanged"),
        (("Merged", sha(5)), "Unknown", "PullRequestChanged"),
        (("Missing", HEAD), "Unknown", "PullRequestMissing"),
    ],
)
def test_whatever_else_becomes_of_it_stalls_the_task(
    row: tuple[str, str], state: str, reason: str
) -> None:
    status = look(opened(), of=watched(*row)).status

    assert (status.state, told(status).state) == (TaskState.DONE, state)
    assert stalled_for(status.conditions) == reason
    assert told(status).sha == HEAD, "what was verified stays known"


def test_once_it_is_open_again_it_goes_on() -> None:
    rejected = look(opened(), of=watched("Closed")).status
    assert told(look(rejected, of=watched("Open")).status).state == "PullRequestOpen"


def test_what_the_branch_has_already_needs_no_pull_request() -> None:
    same = verified(Delivery(state="Pending", step="Next", onto=MAIN), verification={"base": HEAD})
    status = look(same).status
    assert (status.state, told(status).state) == (TaskState.CLOSED, "NoChange")


def test_a_landing_that_has_begun_goes_where_it_began() -> None:
    status = look(landing(branch=None), landed()).status
    assert (status.state, told(status).state) == (TaskState.CLOSED, "Merged")


def test_a_cancel_takes_the_name_of_a_job_that_may_still_come() -> None:
    stops = look(proposing(), cancel={"reason": "no more"})
    assert RunFence("work-s1-propose-2") in stops.actions


def test_what_people_ask_of_one_that_waits_for_them_on_the_forge_is_refused() -> None:
    for verb, reason in (("Verify", "MergeInProgress"), ("Remerge", "NothingToMerge")):
        request = {"id": "once", "verb": verb, "by": "ann", "reason": "please"}
        (answer,) = look(opened(), requests=[request]).status.requests or ()
        assert (answer.answer, answer.reason) == ("Refused", reason)
