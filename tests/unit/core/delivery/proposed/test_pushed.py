"""Somebody pushes to the branch of an open pull request: it is verified, if the Project says so."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.pod import Changed
from bernstein.api.programs.forge import ProposeResult, SeenPullRequest
from bernstein.api.programs.merge import LandResult, PrepareResult
from bernstein.api.projects.watching import PullRequestWatch, WatchedPullRequest
from bernstein.api.projects.workplace import Workplace
from bernstein.core.actions import RunLand, RunPrepare
from bernstein.core.jobs import JobView
from tests.unit.core.delivery.plans import CANDIDATE, INTEGRATION, ONTO, TASKS, there
from tests.unit.core.delivery.proposed.proposals import BRANCH, URL, opened, project, seen
from tests.unit.core.delivery.proposed.test_outdated import row, told
from tests.unit.core.objects import COMPARED, TIP, failed, job, over, result_job, sha, stalled_for

VERIFIED, THEIRS, AGAIN, MERGED = sha(2), sha(5), sha(6), sha(8)


def at(head: str, state: str = "Open", *, behind: bool = False, **more: Any) -> Workplace:
    fields = {"onNewCommits": "Verify", **more}
    return project(row(state, head, behind=behind), **fields)


def taken() -> PlanStatus:
    return seen(opened(), of=at(THEIRS)).status


def prepared(number: int, made: str = THEIRS, **more: Any) -> JobView:
    changed = Changed(2, True, protected_by=COMPARED)
    fields: dict[str, Any] = {"base": TIP, "sha": made, "tree": sha(9), "changed": changed}
    return result_job(f"web-prepare-{number}", "prepare", PrepareResult(**(fields | more)))


def candidate(made: str = THEIRS, **more: Any) -> PlanStatus:
    asked = seen(taken(), of=at(THEIRS)).status
    return seen(asked, prepared(told(asked).round, made, **more), of=at(THEIRS)).status


def judged(status: PlanStatus, *, passed: bool = True) -> PlanStatus:
    assert status.verification is not None
    before = TASKS[1].status.verification
    assert before is not None
    checks = before.checks
    if not passed:
        first = checks[0].model_copy(update={"verdict": "Failed", "reason": ""})
        checks = (first, *checks[1:])
    update = {"passed": passed, "checks": checks}
    judged = status.verification.model_copy(update=update)
    return status.model_copy(update={"verification": judged})


def pushed(made: str = THEIRS) -> PlanStatus:
    """It is at the branch of the pull request."""
    landing = seen(judged(candidate(made)), of=at(THEIRS)).status
    done = result_job(f"web-land-{told(landing).round}", "land", LandResult("Landed", made))
    return seen(landing, done, of=at(THEIRS)).status


def proposed(made: str = THEIRS, *, shows: str = "") -> PlanStatus:
    status = pushed(made)
    result = ProposeResult(SeenPullRequest(7, "Open", shows or made), URL)
    done = result_job(f"web-propose-{told(status).round}", "propose", result)
    return seen(status, done, of=at(THEIRS)).status


def state(status: PlanStatus) -> tuple[str, str | None]:
    return told(status).state, stalled_for(status.conditions)


def test_without_a_word_of_the_project_it_is_noticed_and_no_more() -> None:
    status = seen(opened(), of=project(row("Open", THEIRS, behind=False))).status
    assert state(status) == ("Unknown", "PullRequestChanged")
    assert told(status).pushed is None


def test_it_is_put_on_the_branch_as_it_is_from_where_it_was_pushed() -> None:
    status = taken()
    found = told(status).pushed
    assert found is not None
    assert (told(status).state, found.taken, found.times) == ("Pending", THEIRS, 1)
    assert told(status).sha == VERIFIED, "what was verified stays known"

    (prepare,) = seen(status, of=at(THEIRS)).actions
    assert isinstance(prepare, RunPrepare)
    assert (prepare.ref, prepare.sha, prepare.onto) == (BRANCH, THEIRS, ONTO)
    assert (prepare.candidate, prepare.merge, prepare.marks) == (CANDIDATE, True, None)
    assert (prepare.verified, prepare.as_it_is) == (VERIFIED, True)


def test_it_is_judged_as_a_whole_before_anything_is_done_with_it() -> None:
    status = candidate()
    assert status.verification is not None
    assert (status.verification.sha, status.verification.passed) == (THEIRS, None)
    assert not [a for a in seen(status, of=at(THEIRS)).actions if isinstance(a, RunLand)]


@pytest.mark.parametrize("made", [THEIRS, MERGED])
def test_nothing_is_pushed_but_from_where_they_have_left_their_branch(made: str) -> None:
    begun = seen(judged(candidate(made)), of=at(THEIRS)).status
    (land,) = seen(begun, of=at(THEIRS)).actions
    assert isinstance(land, RunLand)
    assert (land.sha, land.expect, land.branch, land.branch_at) == (made, TIP, BRANCH, THEIRS)


@pytest.mark.parametrize("made", [THEIRS, MERGED])
def test_then_the_same_pull_request_goes_on_with_it(made: str) -> None:
    status = proposed(made)
    found = told(status).pushed
    assert found is not None
    assert (told(status).state, told(status).sha, told(status).earlier) == (
        *("PullRequestOpen", made),
        None,
    )
    assert (found.taken, found.holds, found.times) == (None, True, 1)

    merged = there(seen, seen(status, of=at(made, "Merged")).status, of=at(made, "Merged"))
    assert (merged.phase, told(merged).state, told(merged).sha) == ("Succeeded", "Merged", made)


def test_their_own_commit_is_of_before_until_the_merge_of_it_was_seen_there() -> None:
    status = proposed(MERGED, shows=THEIRS)
    again = seen(status, of=at(THEIRS))
    assert (state(again.status), again.actions) == (("PullRequestOpen", None), ())

    early = seen(again.status, of=at(THEIRS, "Merged")).status
    assert state(early) == ("Unknown", "PullRequestChanged"), "that alone was not verified"

    shown = seen(again.status, of=at(MERGED)).status
    found = told(shown).pushed
    assert found is not None
    assert found.replaced is None
    back = seen(shown, of=at(THEIRS)).status
    assert told(back).pushed == found.model_copy(update={"taken": THEIRS, "times": 2})


def test_what_does_not_pass_is_as_if_nobody_looked_but_for_the_checks_that_said_no() -> None:
    status = seen(judged(candidate(), passed=False), of=at(THEIRS)).status
    assert state(status) == ("Unknown", "PullRequestChanged")
    found = told(status).pushed
    assert found is not None
    assert (found.taken, found.refused, told(status).sha) == (None, THEIRS, VERIFIED)
    assert f"is at {THEIRS}, which does not pass: " in (told(status).message or "")

    for _ in range(2):
        again = seen(status, of=at(THEIRS))
        assert (state(again.status), again.actions) == (state(status), ())
        assert told(again.status).message == told(status).message
        status = again.status
    back = seen(status, of=at(VERIFIED)).status
    assert state(back) == ("PullRequestOpen", None)
    of = at(VERIFIED, "Merged")
    merged = there(seen, seen(back, of=of).status, of=of)
    assert (merged.phase, told(merged).sha) == ("Succeeded", VERIFIED)


def test_what_is_pushed_next_is_taken_anew() -> None:
    refused = seen(judged(candidate(), passed=False), of=at(THEIRS)).status
    found = told(seen(refused, of=at(AGAIN)).status).pushed
    assert found is not None
    assert (found.taken, found.times) == (AGAIN, 2)


@pytest.mark.parametrize("made", [taken, candidate, lambda: judged(candidate())])
def test_so_is_what_is_pushed_while_it_is_verified(made: Any) -> None:
    status = seen(made(), of=at(AGAIN)).status
    found = told(status).pushed
    assert found is not None
    assert (found.taken, found.times) == (AGAIN, 2)
    (prepare,) = seen(status, of=at(AGAIN)).actions
    assert isinstance(prepare, RunPrepare)
    assert (prepare.sha, prepare.verified) == (AGAIN, VERIFIED)


def test_no_more_often_than_the_project_says() -> None:
    of = at(AGAIN, maxUpdates=1)
    for status in (candidate(), seen(judged(candidate(), passed=False), of=at(THEIRS)).status):
        left = seen(status, of=of).status
        assert state(left) == ("Unknown", "PullRequestChanged")
        assert left.waiting is not None
        assert "was taken 1 time to be verified" in left.waiting.message
        assert "raise merge.pullRequest.maxUpdates of the Project, which is 1" in (
            left.waiting.message
        )
        again = seen(left, of=of)
        assert (again.status, again.actions) == (left, ())


@pytest.mark.parametrize(
    ("of", "came_to"),
    [
        (at(VERIFIED), ("PullRequestOpen", None)),
        (at(VERIFIED, "Merged"), ("Merged", None)),
        (at(THEIRS, "Merged"), ("Unknown", "PullRequestChanged")),
        (at(THEIRS, "Closed"), ("Rejected", "PullRequestClosed")),
        (at(THEIRS, onNewCommits="Stall"), ("Unknown", "PullRequestChanged")),
    ],
)
@pytest.mark.parametrize("made", [taken, candidate])
def test_what_people_do_meanwhile_counts(
    made: Any, of: Workplace, came_to: tuple[str, str | None]
) -> None:
    status = seen(made(), of=of).status
    if came_to[0] == "Merged":
        status = there(seen, status, of=of)
    assert state(status) == came_to
    assert told(status).pushed is not None
    assert told(status).pushed.taken is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"sha": "", "tree": "", "refused": "it adds a submodule"}, "it adds a submodule"),
        ({"sha": TIP}, "it holds nothing that the branch has not"),
        ({"sha": "", "tree": "", "conflicts": ("a.py",)}, "conflicts with it in: a.py"),
    ],
)
def test_what_can_be_no_candidate_is_refused(more: dict[str, Any], why: str) -> None:
    status = candidate(**more)
    assert state(status) == ("Unknown", "PullRequestChanged")
    assert why in (told(status).message or "")


def test_a_person_is_never_taken_to_have_approved_it() -> None:
    of = project(row("Open", THEIRS, behind=False), onNewCommits="Verify")
    of = of.model_copy(
        update={
            "spec": of.spec.model_copy(
                update={"approval": of.spec.approval.model_copy(update={"result": "Always"})}
            )
        }
    )
    status = seen(judged(candidate()), of=of)
    assert (state(status.status), status.actions) == (("Unknown", "PullRequestChanged"), ())
    assert "a person would have to say yes" in (told(status.status).message or "")


def test_nor_does_a_protected_path_get_in() -> None:
    facts = Changed(2, True, protected_by=COMPARED, protected=".github/workflows/ci.yml")
    status = seen(judged(candidate(changed=facts)), of=at(THEIRS)).status
    assert state(status) == ("Unknown", "PullRequestChanged")
    assert "it changes a protected path: '.github/workflows/ci.yml'" in (told(status).message or "")


def test_from_then_on_it_is_the_work() -> None:
    """The branch moves: what is made anew is made of theirs, and not of what agents have made."""
    behind = at(THEIRS, behind=True)
    status = seen(seen(proposed(), of=behind).status, of=behind)
    (prepare,) = status.actions
    assert isinstance(prepare, RunPrepare)
    assert (prepare.ref, prepare.sha, prepare.verified) == (BRANCH, THEIRS, THEIRS)
    assert prepare.marks is None

    said = prepared(told(status.status).round, sha="", tree="", conflicts=("a.py",))
    back = seen(status.status, said, of=behind).status
    assert told(back).state == "PullRequestOpen", "no agent resolves it over their commits"


def test_that_somebody_was_faster_than_the_push_is_taken_anew_once_it_is_seen() -> None:
    begun = seen(judged(candidate(MERGED)), of=at(THEIRS)).status
    name = f"web-land-{told(begun).round}"
    late = seen(begun, job(name, over(failed("land", "BranchTaken", "moved"))), of=at(THEIRS))
    assert stalled_for(late.status.conditions) == "BranchTaken"

    found = told(seen(late.status, of=at(AGAIN)).status).pushed
    assert found is not None
    assert (found.taken, found.times) == (AGAIN, 2)


def test_what_is_for_another_branch_is_not_taken() -> None:
    found = WatchedPullRequest.model_validate(
        {"repository": "app", "number": 7, "state": "Open", "sha": THEIRS, "base": "release"}
    )
    of = project(PullRequestWatch(pull_requests=(found,)), onNewCommits="Verify")
    assert state(seen(opened(), of=of).status) == ("Unknown", "PullRequestChanged")
    assert state(seen(taken(), of=of).status) == ("Unknown", "PullRequestChanged")


def of_before(work: str | None) -> PlanStatus:
    """The branch has moved, and a newer one is made of what agents have made."""
    status = seen(opened(), of=at(VERIFIED, behind=True)).status
    delivery = told(status)
    assert (delivery.state, delivery.work) == ("Pending", VERIFIED)
    return status.model_copy(update={"delivery": delivery.model_copy(update={"work": work})})


def test_so_is_what_is_pushed_while_it_is_made_anew() -> None:
    found = told(seen(of_before(VERIFIED), of=at(THEIRS)).status).pushed
    assert found is not None
    assert found.taken == THEIRS


@pytest.mark.parametrize("work", [sha(1), None])
def test_but_for_what_an_agent_has_answered_meanwhile(work: str | None) -> None:
    """Its work has landed in the integration ref, and would be lost."""
    decision = seen(of_before(work), of=at(THEIRS))
    assert told(decision.status).pushed is None
    (prepare,) = seen(decision.status, of=at(THEIRS)).actions
    assert isinstance(prepare, RunPrepare)
    assert (prepare.ref, prepare.verified) == (INTEGRATION, None)


def test_that_it_is_not_there_any_more_counts_for_nothing_and_is_looked_at_again() -> None:
    asked = seen(taken(), of=at(THEIRS)).status
    name = f"web-prepare-{told(asked).round}"
    gone = seen(asked, job(name, over(failed("prepare", "RefMoved", "moved"))), of=at(THEIRS))
    assert stalled_for(gone.status.conditions) == "BranchTaken"
    assert gone.status.infrastructure_failures == 0

    again = seen(gone.status, of=at(THEIRS))
    assert again.actions == (), "it is not tried at once"
    found = told(seen(gone.status, of=at(AGAIN)).status).pushed
    assert found is not None
    assert (found.taken, found.times) == (AGAIN, 2)
