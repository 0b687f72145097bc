"""The Job that makes a Plan's integration ref, and what it may believe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.plan import Plan
from bernstein.api.pod import FENCE
from bernstein.api.programs.merge import BeginResult
from bernstein.core import labels, names
from bernstein.core.actions import CreateTasks, DeleteJobs, RunBegin, RunFence
from bernstein.core.jobs import LateRequests
from bernstein.core.plans.decide import decide
from bernstein.core.reasons.waits import PROBE_SECONDS, SOON_SECONDS
from tests.unit.core import objects
from tests.unit.core.objects import (
    NOW,
    at,
    failed,
    job,
    over,
    plan_snapshot,
    pod,
    running,
    stalled_for,
    waiting,
)
from tests.unit.core.plans.decisions import again, look, task


@pytest.mark.parametrize(
    ("reason", "believed"), [("RepositoryUnreachable", True), ("IntegrationExists", False)]
)
def test_a_begin_believes_an_older_ref_only_where_a_job_before_may_have_made_it(
    reason: str, believed: bool
) -> None:
    new = objects.plan(begun=False)
    first = look(new)
    bad = job("web-begin-0", over(failed("begin", reason, "no")))
    held = look(again(new, first), task(), jobs=(bad,))
    assert stalled_for(held.status.conditions) == reason

    probe = look(again(new, held), task(), jobs=(bad,), now=PROBE_SECONDS)

    begins = [i for step in (first, probe) for i in step.actions if isinstance(i, RunBegin)]
    assert [begin.again for begin in begins] == [False, believed]


MISSING = waiting("begin", "ImagePullBackOff", "not found")


def test_a_begin_that_cannot_start_is_ended_before_it_is_judged_and_tried_again() -> None:
    stuck = job("web-begin-0", pod(MISSING, phase="Pending"))
    ending = job("web-begin-0", pod(MISSING, phase="Pending", deleting=300))
    new = objects.plan(begun=False)
    given_up = look(again(new, look(new)), task(), jobs=(stuck,))

    assert given_up.actions == (DeleteJobs((stuck,)),)
    assert stalled_for(given_up.status.conditions) is None

    waits = look(again(new, given_up), task(), jobs=(ending,), now=PROBE_SECONDS)
    assert stalled_for(waits.status.conditions) is None
    assert not any(isinstance(action, RunBegin) for action in waits.actions)

    judged = look(again(new, waits), task(), now=PROBE_SECONDS)
    assert stalled_for(judged.status.conditions) == "ImagePullFailed"
    assert judged.status.abandoned is None

    (begin,) = look(again(new, judged), task(), now=2 * PROBE_SECONDS).actions
    assert isinstance(begin, RunBegin)
    assert begin.job == "web-begin-1"


def test_a_fence_takes_the_name_of_a_begin_job_that_a_late_request_may_make_again() -> None:
    new, late = objects.plan(begun=False), LateRequests(frozenset({"web-begin-0"}))
    stuck = job("web-begin-0", pod(MISSING, phase="Pending"))
    given_up = decide(plan_snapshot(again(new, look(new)), task(), jobs=(stuck,), late=late), NOW)

    waits = decide(plan_snapshot(again(new, given_up), task(), late=late), NOW)
    assert waits.actions == (RunFence("web-begin-0"),)

    fence = job("web-begin-0", labels={labels.JOB: FENCE})
    judged = decide(plan_snapshot(again(new, waits), task(), jobs=(fence,), late=late), NOW)
    assert stalled_for(judged.status.conditions) == "ImagePullFailed"


def test_a_plan_whose_task_is_refused_is_held_and_begins_once_all_are_made() -> None:
    new = objects.plan(begun=False)
    refused = plan_snapshot(new).with_refusal("denied the request")

    held = decide(refused, NOW)

    assert (held.actions, held.status.expanded) == ((), False)
    assert stalled_for(held.status.conditions) == "PodRejected"
    early = look(again(new, held), now=SOON_SECONDS - 1)
    assert (early.actions, early.requeue_after) == ((), 1)
    make, begin = look(again(new, held), now=SOON_SECONDS).actions
    assert isinstance(make, CreateTasks)
    assert isinstance(begin, RunBegin)
    assert (begin.job, begin.again) == ("web-begin-0", False)


def test_of_200_plans_that_are_refused_a_task_each_tries_the_more_rarely() -> None:
    refused = plan_snapshot(objects.plan(begun=False)).with_refusal("denied the request")

    held = decide(replace(refused, resting=200), NOW).status.waiting

    assert held is not None
    assert held.until == at(50)


def begins_in_vain(resting: int) -> Plan:
    """A Plan whose begin found no image, beside others."""
    stuck = job("web-begin-0", pod(MISSING, phase="Pending"))
    new = objects.plan(begun=False)
    given_up = again(new, look(again(new, look(new)), task(), jobs=(stuck,)))
    return again(given_up, look(given_up, task(), resting=resting))


def test_of_200_plans_that_cannot_begin_the_first_tries_after_8_s_and_the_others_follow() -> None:
    held = begins_in_vain(resting=200)

    assert look(held, task(), resting=200).requeue_after == 50
    assert look(held, task(), resting=0).requeue_after == SOON_SECONDS
    (begin,) = look(held, task(), resting=0, now=SOON_SECONDS).actions
    assert isinstance(begin, RunBegin)
    early = look(held, task(), resting=200, follows=at(12), now=11)
    assert (early.actions, early.requeue_after) == ((), 1)
    (begin,) = look(held, task(), resting=200, follows=at(12), now=12).actions
    assert isinstance(begin, RunBegin)


def test_a_begin_whose_pod_finds_no_node_says_so_until_one_has_room() -> None:
    new = objects.plan(begun=False)
    words = "0/1 nodes are available"
    without = pod(phase="Pending", age=10, unschedulable=words, node=None)

    waits = look(again(new, look(new)), task(), jobs=(job("web-begin-0", without),))

    assert waits.status.waiting is not None
    assert waits.status.waiting.reason == "Unschedulable"
    assert words in waits.status.waiting.message
    placed = look(again(new, waits), task(), jobs=(job("web-begin-0", pod(running("begin"))),))
    assert placed.status.waiting is None


def test_a_begin_of_which_a_second_pod_runs_is_read_once_both_are_over() -> None:
    new = objects.plan(begun=False)
    ended = objects.ended("begin", said=BeginResult(objects.BASE, objects.BASE))
    doubled = job("web-begin-0", over(ended), another=True)

    waits = look(again(new, look(new)), task(), jobs=(doubled,))

    assert waits.status.abandoned is None
    assert waits.status.integration is None
    assert DeleteJobs((doubled,)) in waits.actions


def test_a_begin_whose_job_was_deleted_and_does_not_go_needs_a_person() -> None:
    new = objects.plan(begun=False)
    deletion = objects.at(-61)
    held = job("web-begin-0", deleting=True, deletion=deletion, finalizers=("example.com/x",))

    waits = look(again(new, look(new)), task(), jobs=(held,)).status

    assert waits.waiting is not None
    assert (waits.waiting.reason, waits.waiting.needs_person) == ("DeletionHeld", True)
    assert "example.com/x" in waits.waiting.message


@pytest.mark.parametrize(
    ("merge", "of_plan", "per"),
    [
        ({"strategy": "pr", "pullRequest": {"per": "Task"}}, None, "Task"),
        ({"strategy": "pr"}, None, None),
        ({"strategy": "direct"}, None, None),
        ({"strategy": "direct", "per": "Plan"}, None, None),
        ({"strategy": "direct", "per": "Task"}, None, "Task"),
        ({"strategy": "direct", "per": "Task"}, "pr", None),
    ],
)
def test_how_a_plan_delivers_is_written_down_when_it_begins(
    merge: Any, of_plan: str | None, per: str | None
) -> None:
    new = objects.plan(begun=False, merge=of_plan)
    (repository,) = objects.project().spec.repositories
    on_forge = {**repository.dump(), "forge": {"type": "gitea", "token": {"name": "f", "key": "t"}}}
    project = objects.project(merge=merge, repositories=[on_forge])
    ref = names.integration_ref(objects.PLAN_UID)
    made = objects.result_job("web-begin-0", "begin", BeginResult(objects.BASE, objects.BASE, ref))

    begun = look(again(new, look(new, project=project)), task(), jobs=(made,), project=project)

    assert begun.status.integration is not None
    assert begun.status.integration.per == per
