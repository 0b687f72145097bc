"""A Plan in two repositories begins in one after the other, and has begun with the last."""

from __future__ import annotations

from bernstein.api.plan import NEXT, PlanStatus
from bernstein.api.programs.merge import BeginResult
from bernstein.core.actions import InRepository, PlanDecision, RunBegin
from bernstein.core.jobs import JobView
from bernstein.core.projects import repositories
from tests.unit.core import objects
from tests.unit.core.objects import BASE, failed, job, over, result_job
from tests.unit.core.plans.places.plans import ONTO, REFS, REPOS, look, project


def in_turn(status: PlanStatus, *jobs: JobView) -> PlanDecision:
    return look(status.model_copy(update={"beginning": NEXT}), *jobs, tasks=())


def begins(number: int, place: int) -> JobView:
    return result_job(f"web-begin-{number}", "begin", BeginResult(BASE, BASE, REFS[place]))


def asked() -> PlanStatus:
    return look(PlanStatus(), tasks=()).status


def test_it_has_begun_once_each_has_its_ref() -> None:
    first = in_turn(asked())
    assert first.status.integration is None
    assert first.actions == (InRepository("api", RunBegin("web-begin-0", ONTO, REFS[0], False)),)

    one = in_turn(first.status, begins(0, 0)).status
    assert (one.integration, one.phase) == (None, "Starting")

    again = look(one, tasks=()).status
    second = in_turn(again, begins(0, 0))
    assert second.actions == (InRepository("web", RunBegin("web-begin-1", ONTO, REFS[1], False)),)

    both = in_turn(second.status, begins(0, 0), begins(1, 1)).status
    assert both.phase == "Running"
    assert both.integration is not None
    assert both.integration.ref == REFS[0]
    assert [row.integration and row.integration.ref for row in both.repositories] == REFS


def test_what_keeps_the_second_from_its_ref_is_said_and_the_first_one_stays() -> None:
    first = in_turn(in_turn(asked()).status, begins(0, 0)).status
    asks = in_turn(look(first, tasks=()).status, begins(0, 0)).status

    refused = job("web-begin-1", over(failed("begin", "RepositoryAuthFailed", "no")))
    after = in_turn(asks, begins(0, 0), refused).status

    assert after.waiting is not None
    assert after.waiting.reason == "RepositoryAuthFailed"
    assert after.integration is None
    assert [row.integration is not None for row in after.repositories] == [True, False]


def test_a_plan_whose_steps_work_in_one_of_its_repositories_has_no_rows() -> None:
    stages = [{"name": "show", "steps": [{"title": "Show", "repo": "site"}]}]
    status = look(PlanStatus(), tasks=(), stages=stages).status
    status = status.model_copy(update={"beginning": NEXT})

    begun = look(status, tasks=(), stages=stages)

    assert begun.status.repositories == ()
    plan = objects.plan(begun=False, stages=stages, repos=REPOS)
    its = repositories.place_of_plan(plan, project())
    assert its is not None
    assert its.spec.repository.name == "web", "the first of repos has no step"
    assert begun.actions == (RunBegin("web-begin-0", ONTO, REFS[0], False),)


def test_a_repository_that_is_gone_before_it_begins_is_named_and_not_passed_over() -> None:
    expanded = asked()
    (left, *_) = project().spec.repositories
    spec = project().spec.model_copy(update={"repositories": (left,)})
    without = project().model_copy(update={"spec": spec})

    status = look(expanded, tasks=(), of=without).status
    status = status.model_copy(update={"beginning": NEXT})
    first = look(status, tasks=(), of=without)
    one = look(
        first.status.model_copy(update={"beginning": NEXT}), begins(0, 0), tasks=(), of=without
    )
    stands = look(one.status, begins(0, 0), tasks=(), of=without).status

    assert stands.waiting is not None
    assert stands.waiting.reason == "RepositoryNotFound"
    assert "'web'" in stands.waiting.message
    assert stands.integration is None
