"""Which pull requests are left by what is deleted."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.states import TaskState
from bernstein.core.retention import left_requests
from bernstein.core.retention.left_requests import LeftRequest
from tests.unit.core import objects
from tests.unit.core.objects import NOW, sha
from tests.unit.core.plans.places.plans import begun

BRANCH, MAIN = "refs/heads/bernstein/web-11112222", "refs/heads/main"


def proposed(state: str = "Open", repository: str | None = "abc") -> Delivery:
    url = "https://git.example.com/acme/shop/pulls/7"
    told = {"number": 7, "url": url, "state": state, "sha": sha(2), "repository": repository}
    return Delivery(branch=BRANCH, onto=MAIN, pull_request=PullRequest.model_validate(told))


def of_plan(delivery: Delivery | None, phase: str = "Delivering") -> list[LeftRequest]:
    found = objects.plan()
    status = found.status.model_copy(update={"delivery": delivery, "phase": phase})
    return list(left_requests.of_plan(found.model_copy(update={"status": status}), NOW))


def test_the_open_one_of_a_plan_with_what_its_status_told() -> None:
    left = LeftRequest("Plan", "web", 7, BRANCH, MAIN, "abc", None, NOW)
    assert of_plan(proposed()) == [left]
    assert of_plan(proposed(), "Cancelled") == [left], "the forge was away then"


@pytest.mark.parametrize("state", ["Merged", "Closed"])
def test_none_that_is_not_open(state: str) -> None:
    assert of_plan(proposed(state)) == []
    assert of_plan(None) == []
    assert of_plan(Delivery(onto=MAIN, step="Landing")) == []


def test_none_of_a_plan_that_has_succeeded_as_people_merge_later() -> None:
    assert of_plan(proposed(), "Succeeded") == []


def test_one_that_may_have_been_opened_has_no_number() -> None:
    (left,) = of_plan(Delivery(branch=BRANCH, onto=MAIN, step="Proposing"))
    assert (left.number, left.digest, left.branch) == (0, None, BRANCH)


def test_of_a_plan_in_several_repositories_that_of_each() -> None:
    status = begun()
    rows = tuple(r.model_copy(update={"delivery": proposed()}) for r in status.repositories)
    plan = objects.plan(begun=False, status=status.model_copy(update={"repositories": rows}))

    assert [left.repository for left in left_requests.of_plan(plan, NOW)] == ["api", "web"]


def test_none_of_a_part_that_was_delivered() -> None:
    assert of_plan(proposed(), "DeliveredPartially") == []


@pytest.mark.parametrize("phase", ["Cancelled", "Failed", "Delivering"])
def test_of_several_repositories_none_of_one_that_is_delivered(phase: str) -> None:
    status = begun()
    api, web = (r.model_copy(update={"delivery": proposed()}) for r in status.repositories)
    rows = (api.model_copy(update={"delivered_at": NOW}), web)
    told = status.model_copy(update={"repositories": rows, "phase": phase})
    plan = objects.plan(begun=False, status=told)
    assert [left.repository for left in left_requests.of_plan(plan, NOW)] == ["web"]

    both = tuple(row.model_copy(update={"delivered_at": NOW}) for row in rows)
    done = plan.model_copy(update={"status": told.model_copy(update={"repositories": both})})
    assert not list(left_requests.of_plan(done, NOW))


def of_task(*, alone: bool, **status: Any) -> list[LeftRequest]:
    told = objects.done(delivery=proposed()).model_copy(update=status)
    made = objects.task(status=told)
    if alone:
        meta = made.metadata.model_copy(update={"owner_references": ()})
        made = made.model_copy(update={"metadata": meta})
    return list(left_requests.of_task(made, NOW))


def test_that_of_a_task_whoever_owns_it() -> None:
    for alone in (True, False):
        (left,) = of_task(alone=alone)
        assert (left.kind, left.name, left.number) == ("Task", "work", 7)


def test_none_of_a_task_that_is_closed() -> None:
    assert of_task(alone=False, state=TaskState.CLOSED) == []


def test_what_is_deleted_because_its_time_is_over_closes_nothing() -> None:
    """A Task without a Plan is deleted by the operator itself some days after its end."""
    over = {"state": TaskState.FAILED, "ended_at": NOW}
    assert of_task(alone=True, **over) == []
    assert len(of_task(alone=False, **over)) == 1
