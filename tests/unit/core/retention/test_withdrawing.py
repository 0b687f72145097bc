"""Pull requests of what was deleted are closed, step by step."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bernstein.api.pod import Failure
from bernstein.api.programs.forge import ProposeResult, SeenPullRequest
from bernstein.api.programs.forge_jobs import AskedForge
from bernstein.api.project import Project
from bernstein.api.projects import workplace
from bernstein.api.projects.closing import MOST_TO_CLOSE, RequestClosing, RequestToClose
from bernstein.api.projects.watching import PullRequestWatch
from bernstein.api.projects.workplace import Workplace
from bernstein.core import labels
from bernstein.core.actions import DeleteJobs
from bernstein.core.jobs import JobView, refusal
from bernstein.core.projects import limits, readiness, repositories
from bernstein.core.projects.actions import RunWithdraw, WithdrawDecision
from bernstein.core.retention.withdrawing import MOST, WithdrawSnapshot, decide, expected
from tests.unit.core import objects
from tests.unit.core.delivery.proposed.proposals import project as on_forge
from tests.unit.core.objects import NOW, Object, at, ended, failed, over, pod, running, sha

URL = "https://git.example.com/acme/shop/pulls/7"


def project(known: RequestClosing | None, of: Workplace | None = None) -> Workplace:
    found = of if of is not None else on_forge()
    status = found.status.model_copy(update={"closing": () if known is None else (known,)})
    return found.model_copy(update={"status": status})


def row(number: int = 7, **more: Any) -> RequestToClose:
    told: Object = {
        "kind": "Plan",
        "name": "web",
        "number": number,
        "branch": f"refs/heads/bernstein/web-{number}",
        "onto": "refs/heads/main",
        "repository": repositories.digest(on_forge().spec.repository),
        "due": NOW,
        **more,
    }
    return RequestToClose.model_validate(told)


def step(
    known: RequestClosing | None,
    *jobs: JobView,
    departed: tuple[RequestToClose, ...] = (),
    of: Workplace | None = None,
    now: Any = NOW,
) -> WithdrawDecision:
    its = {job.name: job for job in jobs}
    return decide(WithdrawSnapshot(project(known, of), its, departed), now)


def begun(*departed: RequestToClose) -> tuple[RequestClosing, RunWithdraw]:
    """It is written down, and there is its Job."""
    state = step(None, departed=departed or (row(),)).status
    assert state is not None
    (run,) = step(state).actions
    assert isinstance(run, RunWithdraw)
    return state, run


def job(run: RunWithdraw, pod: Object | None = None) -> JobView:
    said = {labels.JOB: "propose", labels.ASKED: run.asked}
    return JobView(run.job, f"uid-{run.job}", at(-5), pod=pod, labels=said)


def told(state: str, *departed: RequestToClose, number: int = 7) -> RequestClosing:
    known, run = begun(*departed)
    said = ProposeResult(SeenPullRequest(number, state, sha(2)), URL)
    its = job(run, over(ended("propose", said=said)))
    decision = step(known, its)
    assert decision.status is not None
    # Who dies before that is written down leaves the Job to who leads next.
    assert decision.actions == ()
    assert step(decision.status, its).actions == (DeleteJobs((its,)),)
    return decision.status


def broken(known: RequestClosing, run: RunWithdraw, reason: str = "ForgeRefused") -> RequestClosing:
    status = step(known, job(run, over(failed("propose", reason)))).status
    assert status is not None
    return status


def test_where_nothing_was_deleted_there_is_nothing_to_tell() -> None:
    assert step(None) == WithdrawDecision(None)
    assert expected(project(None)) is None


def test_nothing_is_closed_before_the_forge_takes_requests_again() -> None:
    state, _ = begun()
    watch = PullRequestWatch(reason="ForgeRateLimited", message="wait", until=at(600), remaining=0)
    limited = on_forge(watch)
    held = step(state, of=limited)
    assert (held.status, held.actions, held.requeue_after) == (state, (), 600)
    assert step(state, of=limited, now=at(600)).actions


def test_a_limit_that_was_met_here_holds_for_all_that_ask_the_forge() -> None:
    state, run = begun()
    said = Failure("ForgeRateLimited", "wait", AskedForge(600, requests=1))
    met = step(state, job(run, over(ended("propose", 1, said=said)))).status
    assert limits.seconds_left(project(met), NOW) == 600
    assert limits.seconds_left(project(broken(state, run)), NOW) == 0


def test_it_is_written_down_before_there_is_a_job() -> None:
    first = step(None, departed=(row(),))
    assert first.status is not None
    assert (first.status.at_work, first.status.waiting) == (row(), ())
    assert (first.actions, first.requeue_after) == ((), 1.0)
    assert expected(project(first.status)) == "default--close-0"

    (run,) = step(first.status).actions
    assert isinstance(run, RunWithdraw)
    assert (run.number, run.head, run.base) == (7, "bernstein/web-7", "main")
    assert run.comment.startswith("Plan `team/web` of the project `default` was deleted")
    at_work = step(first.status, job(run, pod(running("propose"))))
    assert (at_work.status, at_work.actions) == (first.status, ())


def test_what_was_written_down_is_not_written_again_while_memory_has_it() -> None:
    state, _ = begun()
    again = step(state, departed=(row(),)).status
    assert again == state


@pytest.mark.parametrize(("state", "closed"), [("Closed", 1), ("Merged", 0)])
def test_what_is_closed_is_counted_and_what_people_merged_is_not(state: str, closed: int) -> None:
    done = told(state)
    assert (done.at_work, done.closed, done.left, done.failures) == (None, closed, 0, 0)
    assert done.number == 1


def test_one_that_was_never_opened_is_no_failure() -> None:
    done = told("Missing", row(0), number=0)
    assert (done.closed, done.left, done.reason) == (0, 0, None)


def test_an_answer_about_another_one_is_none() -> None:
    for state, number in (("Open", 7), ("Missing", 7), ("Closed", 8)):
        strange = told(state, number=number)
        assert (strange.reason, strange.closed) == ("InfrastructureError", 0)


def test_one_that_may_be_opened_at_the_moment_is_looked_for_later() -> None:
    decision = step(None, departed=(row(0, due=at(60)),))
    assert decision.status is not None
    assert (decision.status.at_work, decision.requeue_after) == (None, 60.0)


def test_one_that_cannot_be_closed_makes_room_for_others_and_comes_again() -> None:
    state, run = begun(row(7), row(8, due=at(1)))
    failed_once = broken(state, run)
    assert failed_once.until == NOW + timedelta(seconds=300)
    assert (failed_once.failures, failed_once.reason) == (1, "ForgeRefused")

    later = at(300)
    after = step(failed_once, now=later).status
    assert after is not None
    assert after.at_work is not None
    assert after.at_work.number == 8
    assert [(each.number, each.tries) for each in after.waiting] == [(7, 1)]


def test_no_other_one_is_closed_before_the_time_that_the_forge_names() -> None:
    known, run = begun(row(7), row(8))
    said = Failure("ForgeRateLimited", "wait", AskedForge(7200, requests=1))
    status = step(known, job(run, over(ended("propose", 1, said=said)))).status
    assert status is not None
    early = step(status, now=NOW + timedelta(seconds=7199))
    assert early.status is not None
    assert (early.status.at_work, early.requeue_after) == (None, 1)
    due = step(status, now=NOW + timedelta(seconds=7201)).status
    assert due is not None
    assert due.at_work == row(8)


def test_it_is_tried_a_few_times_and_then_stays_open_which_is_told() -> None:
    state, run = begun()
    now = NOW
    for tries in range(1, MOST + 1):
        state = broken(state, run)
        assert state.failures == tries
        if tries < MOST:
            now = at(3600 * tries)
            state = state.model_copy(update={"until": None})
            again = step(state, now=now).status
            assert again is not None
            state = again
            (made,) = step(state, now=now).actions
            assert isinstance(made, RunWithdraw)
            run = made
    assert (state.waiting, state.left, state.last_left) == ((), 1, ("bernstein/web-7 (7)",))
    # After a while it is told by numbers alone.
    assert state.until is not None
    silent = step(state, now=state.until).status
    assert silent is not None
    assert (silent.reason, silent.failures, silent.left) == (None, 0, 1)


def test_the_condition_names_what_is_wrong_and_what_helps() -> None:
    state, run = begun()
    failing = broken(state, run)
    told = readiness.Told(closing=(failing,))
    status = readiness.status(project(None), 0, None, None, NOW, told)
    (found,) = [c for c in status.conditions if c.type == "PullRequestsNotClosed"]
    assert found.reason == "ForgeRefused"
    assert "Remedy: " in found.message

    fine = failing.model_copy(update={"reason": None})
    status = readiness.status(
        project(None).model_copy(update={"status": status}),
        *(0, None, None, NOW, readiness.Told(closing=(fine,))),
    )
    assert all(c.type != "PullRequestsNotClosed" for c in status.conditions)


@pytest.mark.parametrize("reason", ["ForgeTokenRefused", "ForgeTokenUnreadable", "SecretNotFound"])
def test_the_secret_to_be_mended_is_named_with_its_field(reason: str) -> None:
    state, run = begun()
    why = {"reason": reason, "message": 'secret "forge" not found'}
    failing = broken(state, run).model_copy(update=why)
    told = readiness.Told(closing=(failing,))

    status = readiness.status(on_forge(), 0, None, None, NOW, told)

    (found,) = [c for c in status.conditions if c.type == "PullRequestsNotClosed"]
    assert "spec.repositories[0].forge.token.name" in found.message.partition("Remedy: ")[2]


def test_a_job_that_the_server_refuses_or_that_does_not_start_is_a_failure() -> None:
    state, run = begun()
    refused = step(state, refusal(run.job, "quota", NOW)).status
    assert refused is not None
    assert (refused.reason, refused.failures) == ("PodRejected", 1)


def test_what_is_of_another_repository_or_of_no_forge_stays_open() -> None:
    elsewhere = step(None, departed=(row(repository="another"),)).status
    assert elsewhere is not None
    assert (elsewhere.left, elsewhere.reason) == (1, "PullRequestMissing")

    state, run = begun()
    plain = objects.project()
    gone = step(state, job(run, pod(running("propose"))), of=plain)
    assert gone.status is not None
    assert (gone.status.left, gone.status.at_work) == (1, None)
    assert gone.status.reason == "ForgeGone"


def test_a_job_that_was_told_something_else_is_made_anew() -> None:
    state, run = begun()
    other = JobView(run.job, "uid", at(-5), labels={labels.ASKED: "another"})
    decision = step(state, other)
    assert decision.status is not None
    assert decision.status.number == state.number + 1
    assert decision.actions == (DeleteJobs((other,)),)


def test_more_than_there_is_room_for_waits_in_memory() -> None:
    many = tuple(row(number) for number in range(1, MOST_TO_CLOSE + 12))
    state = step(None, departed=many).status
    assert state is not None
    assert len(state.waiting) == MOST_TO_CLOSE - 1
    assert state.unwritten == 11


def test_one_that_fails_comes_back_to_a_list_that_is_full() -> None:
    many = tuple(row(number) for number in range(1, MOST_TO_CLOSE + 12))
    state = step(None, departed=many).status
    assert state is not None
    (run,) = step(state, departed=many).actions
    assert isinstance(run, RunWithdraw)

    known = broken(state, run)
    for _ in range(2):
        assert len(known.waiting) + (known.at_work is not None) <= MOST_TO_CLOSE
        found = step(known, departed=many, now=at(4000)).status
        assert found is not None
        known = found


def test_one_that_fails_is_not_lost_where_memory_has_more_than_there_is_room_for() -> None:
    first = tuple(row(number) for number in range(1, MOST_TO_CLOSE + 1))
    more = tuple(row(number) for number in range(100, 130))
    state = step(None, departed=first).status
    assert state is not None
    assert state.at_work is not None
    (run,) = step(state).actions
    assert isinstance(run, RunWithdraw)
    failed = broken(state, run)

    found = step(failed, departed=more, now=at(4000)).status

    assert found is not None
    assert found.at_work is not None
    kept = {each.number for each in (*found.waiting, found.at_work)}
    assert {each.number for each in first} <= kept
    assert found.unwritten == len(more)


def test_what_no_job_can_close_is_told_for_an_hour_and_keeps_no_other_one_back() -> None:
    known, now = step(None, departed=(row(repository="another"),)).status, NOW
    assert known is not None
    told = step(known)
    assert told.status is not None
    assert (told.status.reason, told.requeue_after) == ("PullRequestMissing", 3600)

    other = step(told.status, departed=(row(8),), now=now).status
    assert other is not None
    assert other.at_work is not None

    over = step(told.status, now=at(3600)).status
    assert over is not None
    assert (over.reason, over.left) == (None, 1)


def with_repositories(
    known: RequestClosing, *named: tuple[str, str], forge: bool = True
) -> Project:
    """The Project with repositories of these names and addresses, which had another one before."""
    before = on_forge()
    its = before.spec.repository
    if not forge:
        its = its.model_copy(update={"forge": None})
    rows = tuple(its.model_copy(update={"name": name, "url": url}) for name, url in named)
    spec = before.whole.spec.model_copy(update={"repositories": rows})
    status = before.status.model_copy(update={"closing": (known,)})
    return before.whole.model_copy(update={"spec": spec, "status": status})


def in_each(whole: Project) -> list[RequestClosing | None]:
    places = [workplace.at(whole, each.name) for each in whole.spec.repositories]
    return [decide(WithdrawSnapshot(place, {}), NOW).status for place in places]


def test_what_waits_for_a_repository_goes_on_where_that_is_called_otherwise() -> None:
    its = on_forge().spec.repository
    old = RequestClosing(repository="old", at_work=row(7), waiting=(row(8, due=at(60)),))
    whole = with_repositories(old, ("other", f"{its.url}-other"), ("new", its.url))

    first, second = in_each(whole)

    assert first is None
    assert second is not None
    assert second.repository == "new"
    assert second.at_work == row(7)
    assert second.waiting == (row(8, due=at(60)),)


def test_what_waits_for_a_repository_that_is_gone_is_told_to_stay_open() -> None:
    its = on_forge().spec.repository
    old = RequestClosing(repository="old", at_work=row(7), waiting=(row(8),))
    whole = with_repositories(old, ("a", f"{its.url}-a"), ("b", f"{its.url}-b"), forge=False)

    first, second = in_each(whole)

    assert second is None
    assert first is not None
    assert (first.left, first.reason) == (2, "PullRequestMissing")
    assert set(first.last_left) == {"bernstein/web-7 (7)", "bernstein/web-8 (8)"}
    status = readiness.status(whole, 0, None, None, NOW, readiness.Told(closing=(first,)))
    (found,) = [c for c in status.conditions if c.type == "PullRequestsNotClosed"]
    assert "bernstein/web-7 (7)" in found.message
    assert "in repository" not in found.message
    assert "cancel" not in found.message


def test_more_than_the_list_of_the_new_name_can_hold_is_counted_as_left() -> None:
    its = on_forge().spec.repository
    gone = [
        RequestClosing(repository=name, waiting=tuple(row(n) for n in numbers))
        for name, numbers in (("x", range(1, 51)), ("y", range(101, 121)))
    ]
    whole = with_repositories(gone[0], ("new", its.url))
    status = whole.status.model_copy(update={"closing": tuple(gone)})

    (found,) = in_each(whole.model_copy(update={"status": status}))

    assert found is not None
    assert len(found.waiting) + (found.at_work is not None) == MOST_TO_CLOSE
    assert found.left == 20


def test_of_two_branches_of_one_repository_only_one_closes_it() -> None:
    its = on_forge().spec.repository
    old = RequestClosing(repository="old", waiting=(row(7, onto="refs/heads/next"),))
    whole = with_repositories(old, ("a", its.url), ("b", its.url))
    a, b = whole.spec.repositories
    b = b.model_copy(update={"branch": "next"})
    spec = whole.spec.model_copy(update={"repositories": (a, b)})

    first, second = in_each(whole.model_copy(update={"spec": spec}))

    assert first is None
    assert second is not None
    assert second.at_work is not None


def test_what_stays_open_is_told_for_its_hour_though_another_one_was_closed() -> None:
    whole = step(None, departed=(row(7), row(8, repository="another"))).status
    assert whole is not None
    assert (whole.left, whole.reason) == (1, "PullRequestMissing")
    begun = step(whole).status
    assert begun is not None
    (run,) = step(begun).actions
    assert isinstance(run, RunWithdraw)
    said = ProposeResult(SeenPullRequest(7, "Closed", sha(2)), URL)

    done = step(begun, job(run, over(ended("propose", said=said)))).status

    assert done is not None
    assert (done.closed, done.reason) == (1, "PullRequestMissing")
    last = step(done)
    assert last.status is not None
    assert (last.status.reason, last.requeue_after) == ("PullRequestMissing", 3600)


def test_what_was_given_up_is_not_said_to_be_open() -> None:
    state, run = begun()
    failing = broken(state, run).model_copy(
        update={"left": 1, "last_left": ("bernstein/old-1 (1)",)}
    )
    status = readiness.status(project(None), 0, None, None, NOW, readiness.Told(closing=(failing,)))
    (found,) = [c for c in status.conditions if c.type == "PullRequestsNotClosed"]
    assert "if it is open still: bernstein/old-1 (1)" in found.message
    assert "close yourself" not in found.message


def test_a_name_that_somebody_has_taken_is_left_for_the_next() -> None:
    state, run = begun()
    decision = step(state, refusal(run.job, "a Job of nobody's", NOW, taken=True))
    (another,) = (each for each in decision.actions if isinstance(each, RunWithdraw))
    assert decision.status is not None
    assert (decision.status.number, another.job != run.job) == (state.number + 1, True)
