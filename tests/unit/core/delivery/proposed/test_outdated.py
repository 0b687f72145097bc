"""The branch has moved under an open pull request: what it proposes is made anew, verified, and
brought to the same pull request."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import PlanStatus
from bernstein.api.pod import Changed
from bernstein.api.programs.forge import ProposeResult, SeenPullRequest
from bernstein.api.programs.merge import LandResult, PrepareResult
from bernstein.api.project import Project
from bernstein.api.projects.watching import PullRequestWatch, WatchedPullRequest
from bernstein.api.projects.workplace import Workplace
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import RunLand, RunPrepare, RunPropose
from bernstein.core.jobs import JobView
from tests.unit.core.delivery import test_task_proposal as of_tasks
from tests.unit.core.delivery.plans import CANDIDATE, INTEGRATION, ONTO, TASKS, there
from tests.unit.core.delivery.proposed.proposals import BRANCH, URL, opened, project, seen
from tests.unit.core.objects import (
    COMPARED,
    HEAD,
    NOW,
    TIP,
    at,
    failed,
    job,
    over,
    result_job,
    sha,
    stalled_for,
)

NEWER = sha(8)


def told(status: PlanStatus | TaskStatus) -> Delivery:
    assert status.delivery is not None
    return status.delivery


def row(state: str = "Open", at_sha: str = "", *, behind: bool = True) -> PullRequestWatch:
    said = {"state": state, "sha": at_sha or sha(2), "base": "main", "behind": behind or None}
    found = WatchedPullRequest.model_validate({"repository": "app", "number": 7, **said})
    return PullRequestWatch(pull_requests=(found,))


def behind(**pulls: Any) -> Workplace:
    return project(row(), **pulls)


def begun() -> PlanStatus:
    return seen(opened(), of=behind()).status


def prepared(number: int) -> JobView:
    changed = Changed(2, True, protected_by=COMPARED)
    result = PrepareResult(TIP, NEWER, sha(9), changed)
    return result_job(f"web-prepare-{number}", "prepare", result)


def candidate() -> PlanStatus:
    """There is a newer one, which is to be verified."""
    asked = seen(begun(), of=behind()).status
    made = prepared(told(asked).round)
    return seen(asked, made, of=behind()).status


def verified() -> PlanStatus:
    status = candidate()
    assert status.verification is not None
    before = TASKS[1].status.verification
    assert before is not None
    update = {"passed": True, "checks": before.checks}
    passed = status.verification.model_copy(update=update)
    return seen(status.model_copy(update={"verification": passed}), of=behind()).status


def pushed() -> PlanStatus:
    """The newer one is at the branch of the pull request."""
    landing = verified()
    job = f"web-land-{told(landing).round}"
    done = result_job(job, "land", LandResult("Landed", NEWER))
    return seen(landing, done, of=behind()).status


def test_what_was_verified_is_made_anew_on_the_branch_as_it_is() -> None:
    status = begun()
    assert (told(status).state, told(status).updates, told(status).sha) == ("Pending", 1, sha(2))
    assert told(status).pull_request is not None

    (prepare,) = seen(status, of=behind()).actions
    assert isinstance(prepare, RunPrepare)
    assert (prepare.ref, prepare.sha, prepare.onto) == (INTEGRATION, sha(2), ONTO)
    assert prepare.candidate == CANDIDATE


def test_it_is_verified_and_pushed_to_the_same_branch_from_where_that_is() -> None:
    judged = candidate().verification
    assert judged is not None
    assert (judged.sha, judged.base, judged.passed) == (NEWER, TIP, None)
    assert not [a for a in seen(candidate(), of=behind()).actions if isinstance(a, RunLand)]

    (land,) = seen(verified(), of=behind()).actions
    assert isinstance(land, RunLand)
    assert (land.sha, land.expect, land.branch, land.branch_at) == (
        *(NEWER, TIP),
        *(BRANCH, sha(2)),
    )


def test_then_the_same_pull_request_is_waited_for() -> None:
    status = pushed()
    assert (told(status).step, told(status).sha, told(status).earlier) == (
        *("Proposing", NEWER),
        sha(2),
    )
    (propose,) = seen(status, of=behind()).actions
    assert isinstance(propose, RunPropose)
    assert propose.number == 7, "no other one of the branch is in its way"
    result = ProposeResult(SeenPullRequest(7, "Open", NEWER), URL)
    proposed = result_job(f"web-propose-{told(status).round}", "propose", result)
    status = seen(status, proposed, of=behind()).status
    assert told(status).state == "PullRequestOpen"

    again = seen(status, of=behind())
    assert (again.status, again.actions) == (status, ()), "what the watch saw is of before"
    of = project(row("Merged", NEWER))
    merged = there(seen, seen(status, of=of).status, of=of)
    assert (merged.phase, told(merged).state, told(merged).sha) == ("Succeeded", "Merged", NEWER)


def test_the_older_one_that_is_put_back_once_the_newer_one_was_there_is_noticed() -> None:
    """It may be what people have asked to be changed."""
    status = pushed()
    result = ProposeResult(SeenPullRequest(7, "Open", NEWER), URL)
    proposed = result_job(f"web-propose-{told(status).round}", "propose", result)
    status = seen(seen(status, proposed).status, of=project(row("Open", NEWER))).status
    assert told(status).state == "PullRequestOpen"

    back = seen(status, of=project(row("Open", sha(2)))).status

    assert back.waiting is not None
    assert (back.waiting.reason, told(back).state) == ("PullRequestChanged", "Unknown")


@pytest.mark.parametrize("made", [begun, candidate])
def test_people_who_merge_the_older_one_meanwhile_have_merged_what_was_verified(made: Any) -> None:
    of = project(row("Merged"))
    merged = there(seen, seen(made(), of=of).status, of=of)
    assert (merged.phase, told(merged).state, told(merged).sha) == ("Succeeded", "Merged", sha(2))


def test_people_who_merge_another_one_meanwhile_have_merged_what_nobody_has_verified() -> None:
    """Else candidates that hold all of it already would be made for ever."""
    merged = seen(candidate(), of=project(row("Merged", sha(9))))
    assert (told(merged.status).state, merged.actions) == ("Unknown", ())
    assert stalled_for(merged.status.conditions) == "PullRequestChanged"


def test_so_they_have_while_the_newer_one_was_pushed() -> None:
    status = pushed()
    result = ProposeResult(SeenPullRequest(7, "Merged", sha(2), "main"), URL)
    proposed = result_job(f"web-propose-{told(status).round}", "propose", result)
    merged = there(seen, seen(status, proposed).status)
    assert (merged.phase, told(merged).sha, told(merged).tree) == ("Succeeded", sha(2), None)


def test_that_the_newer_one_may_not_be_pushed_is_told_until_people_have_merged_the_older_one() -> (
    None
):
    landing = verified()
    refused = job(
        f"web-land-{told(landing).round}", over(failed("land", "BranchProtected", "not with force"))
    )
    status = seen(landing, refused, of=behind()).status
    for _ in range(2):
        assert stalled_for(status.conditions) == "BranchProtected"
        assert (told(status).state, told(status).updates) == ("CredentialRefused", 1)
        assert told(status).is_watched
        status = seen(status, of=behind()).status

    of = project(row("Merged"))
    merged = there(seen, seen(status, of=of).status, of=of)
    assert (merged.phase, told(merged).sha) == ("Succeeded", sha(2))


def test_who_closes_it_meanwhile_has_closed_it() -> None:
    closed = seen(candidate(), of=project(row("Closed"))).status
    assert (told(closed).state, stalled_for(closed.conditions)) == ("Rejected", "PullRequestClosed")


def test_it_is_made_anew_later_and_later_and_not_for_ever() -> None:
    proposed, of = opened(), behind(maxUpdates=2)
    for times in (0, 1):
        delivery = told(proposed).model_copy(
            update={"updates": times or None, "until": NOW + timedelta(seconds=30)}
        )
        status = proposed.model_copy(update={"delivery": delivery})
        waits = seen(status, of=of)
        assert told(waits.status).state == "PullRequestOpen"
        assert waits.requeue_after == 30
        later = seen(status, of=of, now=31).status
        assert told(later).updates == times + 1
        assert told(later).until == at(31) + timedelta(seconds=60 * 2**times)

    delivery = told(proposed).model_copy(update={"updates": 2})
    left = seen(proposed.model_copy(update={"delivery": delivery}), of=of)
    assert told(left.status).state == "PullRequestOpen"
    assert left.status.waiting is not None
    assert left.status.waiting.needs_person
    assert "'main' has moved since it was verified, and it was made anew 2 times" in (
        left.status.waiting.message
    )
    assert "raise merge.pullRequest.maxUpdates of the Project, which is 2" in (
        left.status.waiting.message
    )


def test_where_the_project_says_so_it_is_left_to_people() -> None:
    left = seen(opened(), of=behind(maxUpdates=0)).status
    assert told(left).state == "PullRequestOpen"
    assert left.waiting is not None
    assert left.waiting.message.startswith(f"a person merges {URL}; 'main' has moved since it was")


def test_what_somebody_has_pushed_there_is_not_made_anew() -> None:
    status = seen(opened(), of=project(row(at_sha=sha(5)))).status
    assert stalled_for(status.conditions) == "PullRequestChanged"
    assert told(status).updates is None


def of_task(watch: PullRequestWatch) -> Project:
    return of_tasks.project(watch)


def test_a_tasks_own_is_made_anew_too() -> None:
    status = of_tasks.look(of_tasks.opened(), of=of_task(row(at_sha=HEAD))).status
    assert (told(status).state, told(status).updates) == ("Pending", 1)
    asks = of_tasks.look(status, of=of_task(row(at_sha=HEAD)))
    (prepare,) = asks.actions
    assert isinstance(prepare, RunPrepare)
    assert (prepare.sha, prepare.onto) == (HEAD, of_tasks.MAIN)
    kept = told(asks.status).request
    assert (kept["sha"], kept["updates"], kept["branch"]) == (HEAD, 1, of_tasks.BRANCH)

    of = of_task(row("Merged", HEAD))
    begun = of_tasks.look(asks.status, of=of).status
    merged = there(of_tasks.look, begun, "work-s1", of=of)
    assert (merged.state, told(merged).state) == (TaskState.CLOSED, "Merged")
