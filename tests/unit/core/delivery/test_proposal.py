"""A Plan's pull request: opened for what was verified, and waited for."""

from __future__ import annotations

import pytest

from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.integration import Integration
from bernstein.api.plan import PlanStatus
from bernstein.api.pod import Failure
from bernstein.api.programs.forge_jobs import AskedForge
from bernstein.api.programs.merge import LandResult
from bernstein.api.projects.watching import (
    MOST_PULL_REQUESTS,
    PullRequestWatch,
    WatchedPullRequest,
)
from bernstein.api.projects.workplace import Workplace
from bernstein.api.requests import PlanRequest
from bernstein.api.task import Task
from bernstein.core.actions import PlanDecision, RunFence, RunLand, RunPropose, RunSeek
from bernstein.core.projects.repositories import digest
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.waiting import parted
from tests.unit.core import objects
from tests.unit.core.delivery.plans import INTEGRATION, ONTO, TASKS, landing, there
from tests.unit.core.delivery.proposed.proposals import (
    BRANCH,
    LANDING,
    URL,
    opened,
    project,
    proposed,
    proposing,
    seen,
    watched,
    with_branch,
)
from tests.unit.core.objects import (
    BASE,
    TIP,
    ended,
    failed,
    job,
    over,
    result_job,
    sha,
    stalled_for,
)


def test_what_was_verified_is_pushed_to_a_branch_of_its_own_that_must_not_be_there() -> None:
    begun = seen(None)
    assert begun.status.delivery is not None
    assert (begun.status.delivery.step, begun.status.delivery.branch) == ("Landing", BRANCH)

    (land,) = seen(begun.status).actions
    assert land == RunLand(
        "web-land-1", INTEGRATION, sha(2), sha(1002), ONTO, BASE, branch=BRANCH, branch_at=None
    )


def test_a_plan_may_ask_for_a_pull_request_where_its_project_does_not() -> None:
    (repository,) = project().spec.repositories
    direct = objects.project(repositories=[repository.dump()])
    assert direct.spec.merge.strategy == "direct"

    assert branch_of(seen(None, of=direct, merge="pr")) == BRANCH
    assert branch_of(seen(None, of=direct)) is None
    assert branch_of(seen(None)) == BRANCH, "a Plan that says nothing is not looser"


def branch_of(decision: PlanDecision) -> str | None:
    assert decision.status.delivery is not None
    return decision.status.delivery.branch


def test_then_its_pull_request_is_opened_by_a_job_of_the_next_number() -> None:
    status = proposing()
    assert status.delivery is not None
    assert (status.phase, status.delivery.step) == ("Delivering", "Proposing")
    assert (status.delivery.sha, status.delivery.tip, status.ended_at) == (sha(2), BASE, None)

    (propose,) = seen(status).actions
    assert isinstance(propose, RunPropose)
    head = BRANCH.removeprefix("refs/heads/")
    assert (propose.job, propose.head, propose.base) == ("web-propose-2", head, "main")
    assert (propose.title, propose.number) == ("Better web", 0)


def test_what_ci_says_is_told_and_nothing_follows_from_it() -> None:
    status = seen(opened(), of=watched("Open")).status
    red = seen(status, of=watched("Open", ci="Failed")).status
    assert red.delivery is not None
    assert red.delivery.pull_request is not None
    assert red.delivery.pull_request.ci == "Failed"
    assert (red.waiting, red.phase, red.conditions) == (
        status.waiting,
        status.phase,
        status.conditions,
    )


def test_while_it_is_open_a_person_is_waited_for() -> None:
    status = opened()

    assert status.delivery is not None
    assert (status.phase, status.delivery.state, status.delivery.step) == (
        *("Delivering", "PullRequestOpen"),
        None,
    )
    assert status.delivery.pull_request == PullRequest(
        number=7, url=URL, state="Open", sha=sha(2), repository=digest(project().spec.repository)
    )
    assert status.waiting is not None
    assert (status.waiting.reason, status.waiting.needs_person) == ("PullRequestOpen", False)
    assert URL in status.waiting.message
    assert seen(status).actions == ()


def test_a_project_may_be_content_with_an_open_one() -> None:
    status = seen(proposing(), proposed(), of=project(succeedOn="Opened")).status
    assert status.delivery is not None
    assert (status.phase, status.delivery.state) == ("Succeeded", "PullRequestOpen")


def test_a_plan_succeeds_once_it_is_merged_as_it_was_verified() -> None:
    of = watched("Merged")
    begun = seen(opened(), of=of).status
    assert begun.delivery is not None
    assert (begun.phase, begun.delivery.state, begun.waiting) == (
        *("Delivering", "PullRequestOpen"),
        None,
    )
    assert seen(begun, of=of).actions == (
        RunSeek("web-land-3", "refs/pull/7/head", sha(2), ONTO),
    ), "a forge may take somebody's word"

    status = there(seen, begun, of=of)
    assert status.delivery is not None
    assert (status.phase, status.delivery.state) == ("Succeeded", "Merged")
    assert status.delivery.landed_at is not None
    assert status.waiting is None


def test_one_that_was_closed_is_told_with_what_it_takes_to_reopen_it() -> None:
    """Where its branch was deleted the forge has closed it, and reopens it only with that."""
    status = seen(opened(), of=watched("Closed")).status

    assert status.waiting is not None
    remedy = parted(status.waiting.message)[1] or ""
    head = BRANCH.removeprefix("refs/heads/")
    assert remedy.startswith(f"Put its branch '{head}' at {sha(2)}, if it is not there any more")
    assert remedy.endswith("and reopen it; or cancel the Plan.")


@pytest.mark.parametrize(
    ("row", "state", "reason"),
    [
        (("Closed", sha(2)), "Rejected", "PullRequestClosed"),
        (("Open", sha(5)), "Unknown", "PullRequestChanged"),
        (("Missing", sha(2)), "Unknown", "PullRequestMissing"),
    ],
)
def test_whatever_else_becomes_of_it_stalls_the_plan_until_it_is_open_again(
    row: tuple[str, str], state: str, reason: str
) -> None:
    status = seen(opened(), of=watched(*row)).status

    assert status.delivery is not None
    assert (status.phase, status.delivery.state) == ("Stalled", state)
    assert stalled_for(status.conditions) == reason
    assert status.delivery.sha == sha(2), "what was verified stays known"

    again = seen(status, of=watched("Open")).status
    assert again.delivery is not None
    assert (again.phase, again.delivery.state) == ("Delivering", "PullRequestOpen")
    assert (again.delivery.reason, again.delivery.message) == (None, None)
    assert stalled_for(again.conditions) is None


@pytest.mark.parametrize("state", ["Closed", "Merged"])
def test_what_another_repository_has_at_its_number_is_none_of_it(state: str) -> None:
    moved = of_address(watched(state), "https://git.example/another.git")
    status = seen(opened(), of=moved).status

    assert status.delivery is not None
    assert (status.phase, status.delivery.state) == ("Stalled", "Unknown")
    assert stalled_for(status.conditions) == "PullRequestMissing"
    assert "Give the Project the address back" in (status.waiting.message if status.waiting else "")
    back = seen(status, of=watched("Open")).status
    assert back.delivery is not None
    assert back.delivery.state == "PullRequestOpen"


def test_the_same_repository_by_another_address_is_the_same() -> None:
    (repository,) = project().spec.repositories
    moved = of_address(watched("Merged"), repository.url.removesuffix(".git") + ".git/")
    begun = seen(opened(), of=moved).status
    assert there(seen, begun, of=moved).phase == "Succeeded"


def test_what_was_seen_of_another_repository_is_not_believed() -> None:
    stale = watched("Merged", at="another")
    assert seen(opened(), of=stale).status.phase == "Delivering"


def of_address(found: Workplace, url: str) -> Workplace:
    (repository,) = found.spec.repositories
    its = repository.model_copy(update={"url": url})
    spec = found.spec.model_copy(update={"repositories": (its,)})
    return found.model_copy(update={"spec": spec})


def test_that_nobody_can_look_at_it_is_told() -> None:
    blind = watched("Open", reason="ForgeTokenRefused", message="the token is refused")
    status = seen(opened(), of=blind).status

    assert stalled_for(status.conditions) == "ForgeTokenRefused"
    assert status.waiting is not None
    remedy = parted(status.waiting.message)[1] or ""
    assert "'forge' (spec.repositories[0].forge.token.name)" in remedy, "what is to be mended"
    assert status.delivery is not None
    assert status.delivery.state == "PullRequestOpen"


def test_that_it_alone_cannot_be_read_is_told_of_it_alone() -> None:
    status = seen(opened(), of=watched("Open", unread="ForgeRightsMissing")).status
    assert stalled_for(status.conditions) == "ForgeRightsMissing"
    assert status.delivery is not None
    assert status.delivery.state == "PullRequestOpen"

    other = watched("Open", number=8, unread="ForgeRightsMissing")
    assert stalled_for(seen(opened(), of=other).status.conditions) is None


def test_one_that_cannot_be_opened_is_tried_again_by_another_job() -> None:
    refused = job("web-propose-2", over(failed("propose", "ForgeTokenRefused")))
    status = seen(proposing(), refused).status

    assert status.delivery is not None
    assert (status.delivery.step, status.delivery.reason) == ("Proposing", "ForgeTokenRefused")
    assert stalled_for(status.conditions) == "ForgeTokenRefused"
    assert seen(status, refused).actions == ()
    (again,) = seen(status, refused, now=PROBE_SECONDS + 1).actions
    assert isinstance(again, RunPropose)
    assert again.job == "web-propose-3"


def test_it_is_opened_no_earlier_than_the_forge_lets_it_be() -> None:
    said = Failure("ForgeRateLimited", "wait", AskedForge(7200, requests=1))
    status = seen(proposing(), job("web-propose-2", over(ended("propose", 1, said=said)))).status

    assert stalled_for(status.conditions) == "ForgeRateLimited"
    assert seen(status, now=7199).actions == ()
    (again,) = seen(status, now=7201).actions
    assert isinstance(again, RunPropose)


@pytest.mark.parametrize("state", ["Merged", "Closed"])
def test_an_earlier_job_may_have_opened_one_that_has_ended_since(state: str) -> None:
    status = seen(proposing(), proposed(state)).status
    assert status.delivery is not None
    if state == "Merged":
        merged = there(seen, status)
        assert (merged.phase, merged.delivery.state) == ("Succeeded", "Merged")
    else:
        assert status.delivery.state == "Rejected"


def test_what_a_pod_says_that_is_no_pull_request_is_none() -> None:
    status = seen(proposing(), proposed("Open", "nonsense")).status
    assert status.delivery is not None
    assert status.delivery.pull_request is None
    assert status.delivery.reason == "InfrastructureError"


def test_a_target_that_has_moved_meanwhile_has_a_candidate_made_and_judged_first() -> None:
    begun = LANDING.model_copy(update={"delivery": with_branch()})
    moved = seen(begun, landing("Moved", TIP)).status
    assert moved.delivery is not None
    assert (moved.delivery.tip, moved.delivery.pull_request) == (TIP, None)


def test_a_landing_that_has_begun_goes_where_it_began_though_the_project_says_otherwise() -> None:
    (land,) = seen(LANDING).actions
    assert isinstance(land, RunLand)
    assert land.branch is None, "it began without"

    done = seen(LANDING, result_job("web-land-1", "land", LandResult("Landed", sha(2)))).status
    assert done.phase == "Succeeded"


def test_a_cancel_takes_the_name_of_a_job_that_may_still_come() -> None:
    stops = seen(proposing(), cancel={"reason": "no more"})
    assert RunFence("web-propose-2") in stops.actions


def test_one_that_is_to_be_merged_elsewhere_is_not_what_was_verified() -> None:
    for state in ("Open", "Merged"):
        status = seen(opened(), of=watched(state, base="dev")).status
        assert stalled_for(status.conditions) == "PullRequestChanged"
        assert status.delivery is not None
        assert "'dev'" in (status.delivery.message or "")
        assert status.waiting is not None
        remedy = "Have it go to 'main' again" if state == "Open" else "Look at what was merged"
        assert f"Remedy: {remedy}, " in status.waiting.message


def test_one_that_was_merged_elsewhere_stays_so_when_nobody_looks_at_it_any_more() -> None:
    elsewhere = seen(opened(), of=watched("Merged", base="dev")).status

    for of in (watched("Merged", base="main"), project()):
        status = seen(elsewhere, of=of).status

        assert stalled_for(status.conditions) == "PullRequestChanged"
        assert status.phase == "Stalled"
        assert status.delivery is not None
        assert status.delivery.state == "Unknown"


def test_one_that_is_to_be_merged_into_its_branch_again_is_what_was_verified() -> None:
    elsewhere = seen(opened(), of=watched("Open", base="dev")).status

    back = seen(elsewhere, of=watched("Open")).status
    assert back.delivery is not None
    assert back.delivery.state == "PullRequestOpen"

    begun = seen(back, of=watched("Merged")).status
    assert there(seen, begun, of=watched("Merged")).phase == "Succeeded"


def test_what_was_merged_otherwise_stays_so_whatever_is_pushed_to_its_branch_then() -> None:
    otherwise = seen(opened(), of=watched("Merged", sha(5))).status
    assert "cancel the Plan" in (otherwise.waiting.message if otherwise.waiting else "")

    status = seen(otherwise, of=watched("Merged", sha(2))).status
    assert status.phase == "Stalled"
    assert stalled_for(status.conditions) == "PullRequestChanged"


def test_a_project_that_names_no_forge_any_more_is_told_of() -> None:
    for status in (proposing(), opened()):
        decision = seen(status, of=objects.project())
        assert stalled_for(decision.status.conditions) == "ForgeGone"
        assert decision.actions == ()


def test_what_the_target_has_already_needs_no_pull_request() -> None:
    same = TASKS[1].status.verification
    assert same is not None
    judged = same.model_copy(update={"base": same.sha})
    whole = LANDING.model_copy(update={"delivery": None, "verification": judged})
    begun = seen(whole).status
    assert begun.delivery is not None
    assert (begun.delivery.step, begun.delivery.branch) == ("Landing", None)


def test_that_nobody_looks_at_one_of_too_many_is_told() -> None:
    row = WatchedPullRequest(repository="app", number=1, state="Open", sha=sha(1))
    rows = tuple(row.model_copy(update={"number": n}) for n in range(8, 8 + MOST_PULL_REQUESTS))
    status = seen(opened(), of=project(PullRequestWatch(pull_requests=rows))).status
    assert status.waiting is not None
    assert (status.waiting.reason, status.waiting.needs_person) == ("PullRequestOpen", True)
    assert "nobody looks at it" in status.waiting.message


def test_that_nobody_looks_at_one_that_was_closed_stands_before_what_helps() -> None:
    closed = seen(opened(), of=watched("Closed")).status
    row = WatchedPullRequest(repository="app", number=1, state="Open", sha=sha(1))
    rows = tuple(row.model_copy(update={"number": n}) for n in range(8, 8 + MOST_PULL_REQUESTS))
    status = seen(closed, of=project(PullRequestWatch(pull_requests=rows))).status
    assert closed.waiting is not None
    assert status.waiting is not None
    cause, remedy = parted(status.waiting.message)
    assert cause.endswith(f"; nobody looks at it, as {MOST_PULL_REQUESTS} others wait.")
    assert remedy == parted(closed.waiting.message)[1]


def test_that_an_attestation_was_refused_stays_known() -> None:
    refused = proposing(reason="AttestationRefused", message="the git server does not take it")
    status = seen(refused, proposed()).status
    assert status.delivery is not None
    assert status.delivery.reason == "AttestationRefused"


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("Open", "people merge its pull request, on the forge"),
        ("Closed", "people have closed its pull request: they may open it again, on the forge"),
    ],
)
def test_what_people_decide_is_merged_by_no_request(state: str, told: str) -> None:
    asks = (PlanRequest(id="r-1", verb="Remerge", by="ann", reason="now"),)
    waits = seen(opened(), of=watched(state)).status
    (answer,) = seen(waits, of=watched(state), requests=asks).status.requests or ()
    assert (answer.answer, answer.reason, answer.message) == ("Refused", "NothingToMerge", told)


def test_a_plan_whose_tasks_have_proposed_each_its_own_work_delivers_nothing_more() -> None:
    begun = Integration(ref=INTEGRATION, target=ONTO, target_sha=BASE, per="Task")
    for tasks, state in ((TASKS, "Merged"), (unchanged(TASKS), "NoChange")):
        found = seen(PlanStatus(integration=begun, expanded=True), tasks=tasks)
        assert found.actions == ()
        assert found.status.delivery is not None
        assert (found.status.phase, found.status.delivery.state) == ("Succeeded", state)
        assert found.status.delivery.sha is None


def unchanged(tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """Tasks that had nothing to change."""
    delivery = {"delivery": Delivery(state="NoChange", onto=ONTO)}
    statuses = [task.status.model_copy(update=delivery) for task in tasks]
    return tuple(
        task.model_copy(update={"status": status})
        for task, status in zip(tasks, statuses, strict=True)
    )
