"""Which refs are written down of whom, and when anybody may still need them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.states import SessionState, TaskState
from bernstein.api.verification import Origin
from bernstein.core import names
from bernstein.core.retention import refs
from bernstein.core.retention.refs import Ref
from tests.unit.core import objects
from tests.unit.core.objects import BASE, HEAD, NOW, PLAN_UID, TIP, at, sha
from tests.unit.core.plans.places.plans import begun

FOLDER = names.refs_of(PLAN_UID)
FIRST = names.work_ref(FOLDER, "work", 1)
"""Of the first session of the Task."""
DAY = 86400
MONTH_AGO = at(-30 * DAY - 1)


def test_of_a_plan_its_integration_ref_where_its_ledger_ends() -> None:
    assert refs.of_plan(objects.plan()) == {None: {Ref(f"{FOLDER}/integration", BASE)}}


def test_of_a_plan_in_several_repositories_those_of_each() -> None:
    plan = objects.plan(begun=False, status=begun())

    assert refs.of_plan(plan) == {
        "api": {Ref(f"{FOLDER}/integration", BASE)},
        "web": {Ref(f"{FOLDER}/r1/integration", BASE)},
    }
    work = names.work_ref(f"{FOLDER}/r1", "show", 1)
    assert names.is_of_owner(work)
    assert refs.folder_of(work) == FOLDER


def test_of_a_task_what_was_judged_and_what_it_was_made_of() -> None:
    candidate = names.candidate_ref(FIRST)
    judged = objects.verification(ref=candidate, sha=TIP, origin=Origin(ref=FIRST, sha=HEAD))
    task = objects.task(status=objects.done(verification=judged))

    assert refs.of_task(task) == {Ref(candidate, TIP), Ref(FIRST, HEAD)}


@pytest.mark.parametrize(
    "ref",
    [
        "refs/heads/main",
        "refs/bernstein/11112222/integration",
        "refs/bernstein/attestations/" + sha(1),
        names.work_ref(names.refs_of("another"), "work", 1),
    ],
)
def test_what_is_in_no_folder_of_the_owner_is_not_his(ref: str) -> None:
    """What is judged of a Plan may be the branch itself; an older release had another folder."""
    task = objects.task(status=objects.done(verification=objects.verification(ref=ref)))
    assert refs.of_task(task) == frozenset()


def test_of_a_session_the_ref_that_it_was_given() -> None:
    mine, other = FIRST, names.work_ref(FOLDER, "other", 1)
    assert refs.of_session(objects.dead(work=objects.work(ref=mine))) == {Ref(mine, HEAD)}
    assert refs.of_session(objects.dead(work=objects.work(ref=other))) == frozenset()
    assert refs.of_session(objects.dead()) == frozenset()


@pytest.mark.parametrize(
    ("phase", "finished"),
    [
        *(("Succeeded", True), ("DeliveredPartially", True), ("Cancelled", True)),
        *(("Failed", False), ("Stalled", False)),
    ],
)
def test_a_plan_that_may_be_tried_again_keeps_its_refs(phase: str, finished: bool) -> None:
    plan = objects.plan(status=PlanStatus(phase=phase, ended_at=MONTH_AGO))
    assert refs.has_finished(plan) == (MONTH_AGO if finished else None)
    assert refs.is_held(plan, (), (), 30 * DAY, NOW) is not finished


def test_a_folder_is_held_by_what_goes_on_in_it_and_until_the_time_is_over() -> None:
    plan = objects.plan(status=PlanStatus(phase="Succeeded", ended_at=MONTH_AGO))
    over = objects.task(status=objects.closed(1))
    at_work = objects.task("other", status=objects.with_session(TaskState.IN_PROGRESS))
    working = objects.session(state=SessionState.WORKING)

    assert not refs.is_held(plan, (over,), (objects.dead(),), 30 * DAY, NOW)
    assert refs.is_held(plan, (over, at_work), (), 30 * DAY, NOW)
    assert refs.is_held(plan, (over,), (working,), 30 * DAY, NOW)
    assert refs.is_held(plan, (), (), 30 * DAY + 60, NOW)
    assert refs.is_held(None, (over,), (), 0, NOW), "it is left in peace until it is gone, too"
    assert not refs.is_held(None, (), (), 30 * DAY, NOW)
    assert refs.has_finished(plan) == NOW - timedelta(days=30, seconds=1)
