"""A Plan in two repositories: each of them lands its own, and it succeeds with the last."""

from __future__ import annotations

from dataclasses import replace

from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.meta import ConditionType
from bernstein.api.plan import PlanStatus
from bernstein.api.pod import FENCE
from bernstein.api.programs.merge import LandResult
from bernstein.api.requests import PlanRequest
from bernstein.api.waiting import Cancel
from bernstein.core import conditions, labels
from bernstein.core.actions import InRepository, RunClose, RunLand, RunPropose
from bernstein.core.jobs import JobView
from bernstein.core.plans.places import view
from tests.unit.core import objects
from tests.unit.core.objects import BASE, at, failed, job, over, pod, result_job, running, sha, task
from tests.unit.core.plans.places.plans import (
    ONTO,
    REFS,
    REPOS,
    STAGES,
    TASKS,
    begun,
    look,
    project,
)

API, WEB = "web-land-1", "web-land-1w1"


def landing() -> PlanStatus:
    """Both are on their way."""
    return look(begun()).status


def of(view: JobView) -> JobView:
    """With the mark that Jobs have which are at work in another repository than the first."""
    where = {labels.REPOSITORY: "web"} if view.name == WEB else {}
    return replace(view, labels={**view.labels, **where})


def merged(name: str, number: int) -> JobView:
    return of(result_job(name, "land", LandResult("Landed", sha(number))))


def refused(name: str) -> JobView:
    return of(job(name, over(failed("land", "BranchProtected", "a rule forbids it"))))


def runs(name: str) -> JobView:
    return of(job(name, pod(running("land"))))


def states(status: PlanStatus) -> list[str | None]:
    deliveries = (row.delivery for row in status.repositories)
    return [None if each is None else each.state for each in deliveries]


def test_each_repository_lands_what_its_tasks_have_done() -> None:
    first = look(begun())
    assert first.actions == ()

    assert look(first.status).actions == (
        InRepository("api", RunLand(API, REFS[0], sha(1), sha(1001), ONTO, BASE)),
        InRepository("web", RunLand(WEB, REFS[1], sha(2), sha(1002), ONTO, BASE)),
    )


def test_nothing_is_delivered_before_all_steps_are_closed() -> None:
    open_task = task("t2", repo="web")

    decision = look(begun(), tasks=(TASKS[0], open_task))

    assert decision.actions == ()
    assert states(decision.status) == [None, None]


def test_it_succeeds_once_all_are_delivered() -> None:
    one = look(landing(), merged(API, 1)).status
    assert (one.phase, one.ended_at) == ("Delivering", None)

    both = look(one, merged(WEB, 2)).status

    assert both.phase == "Succeeded"
    assert states(both) == ["Merged", "Merged"]


def test_one_that_is_merged_stays_where_another_one_is_refused() -> None:
    after = look(landing(), merged(API, 1), refused(WEB)).status

    assert (after.phase, after.ended_at) == ("Stalled", None)
    assert after.waiting is not None
    assert after.waiting.reason == "BranchProtected"
    assert after.waiting.message.startswith("repository 'web': ")
    api, web = after.repositories
    assert (api.delivered_at, web.delivered_at) == (at(0), None)


def test_what_is_told_is_of_the_repository_that_may_be_landing() -> None:
    """A cancel comes too late for it, whatever another one needs."""
    after = look(landing(), refused(API), runs(WEB)).status

    assert after.delivery is not None
    assert (after.delivery.step, after.phase) == ("Landing", "Delivering")
    assert after.repositories[0].waiting is not None


def test_a_repository_in_which_nothing_landed_needs_nothing() -> None:
    status = begun(*TASKS)
    nothing = TASKS[1].status.model_copy(
        update={"delivery": TASKS[1].status.delivery.model_copy(update={"state": "NoChange"})}  # type: ignore[union-attr]
    )
    idle = TASKS[1].model_copy(update={"status": nothing})

    after = look(status, tasks=(TASKS[0], idle)).status

    assert states(after) == ["Pending", "NoChange"]
    assert after.repositories[1].delivered_at == at(0)


def test_a_cancel_comes_too_late_for_what_is_landing_and_ends_the_rest() -> None:
    status = look(landing(), runs(API), refused(WEB), cancel=Cancel(reason="no")).status

    assert status.ended_at is None
    assert conditions.is_true(status.conditions, ConditionType.CANCEL_REFUSED)

    after = look(status, merged(API, 1), refused(WEB), cancel=Cancel(reason="no")).status
    ended = look(after, merged(API, 1), refused(WEB), cancel=Cancel(reason="no")).status

    assert ended.phase == "Cancelled"
    said = conditions.find(ended.conditions, ConditionType.SUCCEEDED)
    assert said is not None
    assert said.message == "no; delivered already, and stays: api"


def proposed(number: int) -> Delivery:
    pull = PullRequest(
        number=number,
        url=f"https://git.example/pulls/{number}",
        state="Open",
        sha=sha(number),
    )
    branch = f"refs/heads/bernstein/web-{number}"
    given = {"branch": branch, "sha": sha(number), "pull_request": pull, "onto": ONTO}
    return Delivery(state="PullRequestOpen", **given)


def test_a_cancel_closes_the_pull_request_of_each_repository() -> None:
    status = begun()
    rows = tuple(
        row.model_copy(update={"delivery": proposed(number)})
        for number, row in enumerate(status.repositories, start=1)
    )
    status = status.model_copy(update={"repositories": rows, "delivery": rows[0].delivery})
    cancel = Cancel(reason="not needed")
    forges = project(merge={"strategy": "pr"}, forge=True)

    decision = look(status, of=forges, cancel=cancel)

    closes = [
        (each.name, each.action.number)
        for each in decision.actions
        if isinstance(each, InRepository) and isinstance(each.action, RunClose)
    ]
    assert closes == [("api", 1), ("web", 2)]
    assert decision.status.phase == "Cancelling"
    said = conditions.find(decision.status.conditions, ConditionType.RECONCILING)
    assert said is not None
    assert said.message == "its pull request is being closed"


def test_a_pull_request_names_those_of_the_plan_in_other_repositories() -> None:
    status, forges = begun(), project(merge={"strategy": "pr"}, forge=True)
    to_open = proposed(2).model_copy(
        update={"state": "Pending", "step": "Proposing", "pull_request": None, "round": 2}
    )
    each = zip(status.repositories, (proposed(1), to_open), strict=True)
    rows = tuple(row.model_copy(update={"delivery": delivery}) for row, delivery in each)

    decision = look(status.model_copy(update={"repositories": rows}), of=forges)

    (opens,) = [
        action.action
        for action in decision.actions
        if isinstance(action, InRepository) and isinstance(action.action, RunPropose)
    ]
    told = "The same Plan works in other repositories, too: `api`: <https://git.example/pulls/1>."
    assert told in opens.body.splitlines()


def test_who_asks_to_merge_again_concerns_what_is_not_delivered() -> None:
    stands = look(landing(), merged(API, 1), refused(WEB)).status
    asks = (PlanRequest(id="r-1", verb="Remerge", by="ann", reason="now"),)

    after = look(stands, merged(API, 1), refused(WEB), requests=asks).status

    assert [answer.answer for answer in after.requests or ()] == ["Done"]
    assert after.repositories[0] == stands.repositories[0]
    assert after.repositories[1].waiting is None or not after.repositories[1].waiting.needs_person


def test_a_part_of_it_is_not_delivered() -> None:
    asks = (PlanRequest(id="r-1", verb="DeliverPartial", by="ann", reason="now"),)

    after = look(begun(), tasks=(TASKS[0], task("t2", repo="web")), requests=asks).status

    (answer,) = after.requests or ()
    assert (answer.answer, answer.reason) == ("Refused", "NothingToDeliver")
    assert "works in several repositories" in answer.message


def test_a_job_is_seen_in_its_repository_and_a_fence_in_all() -> None:
    """A fence has the name of a Job of one alone; its label may be that of another one."""
    status = begun()
    plan = objects.plan(status=status, begun=False, stages=STAGES, repos=REPOS)
    fence = job("web-land-1w1", labels={labels.JOB: FENCE, labels.REPOSITORY: "api"})
    known = objects.plan_snapshot(plan, *TASKS, jobs=(job(API), fence), project=project())

    api, web = (view.status_in(status, row) for row in status.repositories)

    assert set(view.snapshot_in(known, api, "api").jobs) == {API, "web-land-1w1"}
    assert set(view.snapshot_in(known, web, "web").jobs) == {"web-land-1w1"}


def test_a_repository_that_is_gone_is_named_and_the_others_are_delivered() -> None:
    spec = project().spec
    without = project().model_copy(
        update={"spec": spec.model_copy(update={"repositories": spec.repositories[:1]})}
    )

    first = look(begun(), of=without)
    second = look(first.status, of=without)

    assert [each.name for each in second.actions if isinstance(each, InRepository)] == ["api"]
    web = second.status.repositories[1]
    assert web.waiting is not None
    assert web.waiting.reason == "RepositoryNotFound"


def test_a_cancelled_plan_is_merged_no_more() -> None:
    stands = look(landing(), merged(API, 1), refused(WEB)).status
    cancel = Cancel(reason="no")
    ended = look(stands, merged(API, 1), refused(WEB), cancel=cancel).status
    asks = (PlanRequest(id="r-1", verb="Remerge", by="ann", reason="now"),)

    after = look(ended, merged(API, 1), refused(WEB), cancel=cancel, requests=asks).status

    assert [answer.answer for answer in after.requests or ()] == ["Refused"]
