"""Landings of a Task that fail, surely or perhaps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.programs.merge import LandResult
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import jobs
from bernstein.core.actions import DeleteJobs, RunLand, TaskDecision
from bernstein.core.fsm import may_retry
from bernstein.core.jobs import JobView
from bernstein.core.reasons.limits import MAX_INFRASTRUCTURE_FAILURES
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.runs import LOST_SECONDS
from tests.unit.core import scheduled
from tests.unit.core.delivery.tasks import (
    LANDING,
    OWN,
    look,
    verified,
)
from tests.unit.core.objects import (
    BASE,
    HEAD,
    Object,
    at,
    ended,
    failed,
    job,
    over,
    pod,
    project,
    result_job,
    running,
    snapshot,
    stalled_for,
    task,
    told,
    waiting,
)


def refusal(reason: str) -> JobView:
    return job("work-s1-land-1", over(failed("land", reason, "no")))


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("CredentialRefused", "CredentialRefused"),
        ("BranchProtected", "CredentialRefused"),
        ("PushRejected", "Pending"),
        ("TreeMismatch", "Pending"),
        ("NotOnBase", "Pending"),
    ],
)
def test_a_refused_merge_keeps_done_and_the_ref_and_is_probed(reason: str, state: str) -> None:
    found = look(verified(LANDING), refusal(reason)).status

    assert (found.state, found.attempt) == (TaskState.DONE, 1)
    assert found.delivery is not None
    assert (found.delivery.state, found.delivery.step) == (state, None)
    assert found.delivery.reason == reason
    assert found.waiting is not None
    assert found.waiting.until == at(PROBE_SECONDS)
    assert stalled_for(found.conditions) == reason

    assert look(found, refusal(reason)).requeue_after == PROBE_SECONDS
    again = look(found, refusal(reason), now=PROBE_SECONDS).status
    assert again.delivery is not None
    assert (again.delivery.step, again.delivery.round) == ("Landing", 2)
    assert stalled_for(again.conditions) == reason, "until it has landed"


@pytest.mark.parametrize(
    ("resting", "follows", "seconds"), [(200, None, 50), (200, 12, 12), (200, 3, 8), (0, None, 8)]
)
def test_of_200_that_may_not_land_the_first_one_tries_after_8_s_and_the_others_follow(
    resting: int, follows: float | None, seconds: float
) -> None:
    def seen(status: TaskStatus, now: float, *jobs: JobView, **more: Any) -> TaskDecision:
        found = project(gates={"pipeline": [{"name": "pii_scan", "enabled": False}]})
        given = snapshot(task(status=status), jobs=jobs, project=found, **more)
        return scheduled.decide(given, at(now))

    refused = replace(job("work-s1-land-1"), refused="denied by a policy")
    held = seen(verified(LANDING), 0, refused, resting=200).status
    assert held.waiting is not None
    assert held.waiting.until == at(50)

    beside: Object = {"resting": resting, "follows": None if follows is None else at(follows)}
    early = seen(held, seconds - 1, **beside)

    assert (early.actions, early.requeue_after) == ((), 1)
    again = seen(held, seconds, **beside).status
    assert again.delivery is not None
    assert (again.delivery.step, again.delivery.round) == ("Landing", 2)


LOST: dict[str, Object | None] = {
    "disrupted": over(ended("land", 143), disrupted=True),
    "evicted after it had ended": over(ended("land"), reason="Evicted"),
    "killed": over(ended("land", 137)),
    "without a result": over(ended("land", said="")),
    "the server is gone": over(failed("land", "RepositoryUnreachable")),
    "stopped": over(failed("land", "Terminated")),
    "its pod is gone": None,
}


@pytest.mark.parametrize("fact", LOST)
def test_a_merge_that_may_have_happened_stays_landing_until_the_remote_was_read(fact: str) -> None:
    lost = job("work-s1-land-1", LOST[fact], complete=True, no_pod=LOST[fact] is None)

    found = look(verified(LANDING), lost).status

    assert found.delivery is not None
    assert (found.delivery.step, found.delivery.round) == ("Landing", 2)
    cancelled = look(found, lost, cancel={"reason": "no"}, now=PROBE_SECONDS)
    assert cancelled.status.state is TaskState.DONE
    assert told(cancelled.status.conditions)["CancelRefused"] == ("True", "MergeInProgress")
    (land,) = cancelled.actions
    assert isinstance(land, RunLand)
    assert (land.job, land.expect) == ("work-s1-land-2", None)
    done_ = result_job("work-s1-land-2", "land", LandResult("Landed", HEAD))
    closed_ = look(found, lost, done_, now=PROBE_SECONDS).status
    assert closed_.state is TaskState.CLOSED
    assert told(closed_.conditions)["Succeeded"] == ("True", "Closed")
    assert stalled_for(closed_.conditions) is None


def in_doubt() -> TaskStatus:
    """Its land Job was lost, and another one looks at the remote."""
    return look(verified(LANDING), job("work-s1-land-1", LOST["killed"])).status


def looked(tip: str) -> JobView:
    return result_job("work-s1-land-2", "land", LandResult("Moved", tip))


def test_a_merge_that_turns_out_not_to_have_happened_is_obeyed_to_be_cancelled() -> None:
    refused = look(in_doubt(), looked(BASE), cancel={"reason": "no"}, now=PROBE_SECONDS).status
    assert told(refused.conditions)["CancelRefused"] == ("True", "MergeInProgress")
    assert (refused.delivery and refused.delivery.step) is None

    over_ = look(refused, looked(BASE), cancel={"reason": "no"}, now=PROBE_SECONDS).status

    assert over_.state is TaskState.CANCELLED
    assert "CancelRefused" not in told(over_.conditions)


def test_a_merge_that_turns_out_not_to_have_happened_is_asked_for_anew() -> None:
    back = look(in_doubt(), looked(BASE), now=PROBE_SECONDS).status
    assert told(back.conditions)["Reconciling"] == ("True", "MergeQueue")

    same = look(back, looked(BASE), now=PROBE_SECONDS).status
    again = look(same, looked(BASE), now=PROBE_SECONDS)
    (land,) = again.actions
    assert isinstance(land, RunLand)
    assert (land.job, land.expect) == ("work-s1-land-3", BASE)

    stricter = project(gates={"pipeline": [OWN, {"name": "pii_scan", "enabled": False}]})
    changed = look(back, looked(BASE), of=stricter, now=PROBE_SECONDS).status
    assert (changed.verification and changed.verification.passed) is None


@pytest.mark.parametrize(
    "silent",
    [
        job("work-s1-land-2", over(failed("land", "BranchProtected", "no"))),
        jobs.refusal("work-s1-land-2", "exceeded quota: count/jobs.batch=4", at(0)),
    ],
)
def test_doubt_stays_until_a_job_has_read_the_remote(silent: JobView) -> None:
    found = look(in_doubt(), silent, now=PROBE_SECONDS).status

    assert found.delivery is not None
    assert (found.delivery.step, found.delivery.round) == ("Landing", 3)


MISSING = waiting("land", "CreateContainerConfigError", 'secret "git-deliver" not found')


def given_up() -> TaskStatus:
    stuck = job("work-s1-land-1", pod(MISSING, phase="Pending"))
    decision = look(verified(LANDING), stuck)
    assert decision.actions == (DeleteJobs((stuck,)),)
    assert (decision.status.delivery and decision.status.delivery.step) == "Landing"
    return decision.status


def test_a_land_job_that_cannot_start_is_given_up_and_nothing_has_landed() -> None:
    ended_ = job("work-s1-land-1", over(MISSING, phase="Failed", deleting=True))

    decision = look(given_up(), ended_)

    assert (decision.status.delivery and decision.status.delivery.step) is None
    assert stalled_for(decision.status.conditions) == "SecretNotFound"
    assert decision.status.delivery is not None
    assert decision.status.delivery.abandoned is None


def test_a_land_job_that_pushed_while_it_was_given_up_has_landed() -> None:
    late = ended("land", said=LandResult("Landed", HEAD))

    found = look(given_up(), job("work-s1-land-1", over(late, phase="Succeeded"))).status

    assert found.state is TaskState.CLOSED


def test_a_task_whose_land_job_is_given_up_is_cancelled_only_when_that_can_push_no_more() -> None:
    going = job("work-s1-land-1", pod(MISSING, phase="Pending", deleting=30), deleting=True)

    refused = look(given_up(), going, cancel={"reason": "no"}).status
    assert refused.state is TaskState.DONE
    ended_ = job("work-s1-land-1", over(MISSING, phase="Failed", deleting=True))
    queued = look(refused, ended_, cancel={"reason": "no"}).status
    found = look(queued, ended_, cancel={"reason": "no"}).status

    assert found.state is TaskState.CANCELLED


def test_the_remote_is_read_when_nothing_tells_how_a_given_up_land_job_ended() -> None:
    found = look(given_up()).status

    assert found.delivery is not None
    assert (found.delivery.step, found.delivery.round) == ("Landing", 2)


def test_the_remote_is_read_when_the_node_of_a_land_job_is_gone() -> None:
    silent = pod(running("land"), disrupted=True, deleting=-LOST_SECONDS - 1)

    found = look(verified(LANDING), job("work-s1-land-1", silent, deleting=True)).status

    assert found.delivery is not None
    assert (found.delivery.step, found.delivery.round) == ("Landing", 2)


def test_a_land_job_that_the_api_server_refuses_is_held_with_its_reason() -> None:
    refused = jobs.refusal("work-s1-land-1", "exceeded quota: count/jobs.batch=4", at(0))

    found = look(verified(LANDING), refused).status

    assert (found.delivery and found.delivery.step) is None
    assert stalled_for(found.conditions) == "PodRejected"


def test_a_cancel_between_two_merges_that_surely_failed_is_obeyed() -> None:
    found = look(verified(LANDING), refusal("BranchProtected")).status

    over_ = look(found, refusal("BranchProtected"), cancel={"reason": "no"}).status

    assert over_.state is TaskState.CANCELLED


@pytest.mark.parametrize(
    ("failures", "stall"), [(0, None), (4, None), (MAX_INFRASTRUCTURE_FAILURES, "Disrupted")]
)
def test_a_disrupted_merge_is_tried_again_and_takes_no_retry_from_the_work(
    failures: int, stall: str | None
) -> None:
    lost = job("work-s1-land-1", LOST["disrupted"])

    found = look(verified(LANDING, infrastructure_failures=failures), lost).status

    assert stalled_for(found.conditions) == stall
    assert (found.waiting is None) is (stall is None)
    assert found.infrastructure_failures <= MAX_INFRASTRUCTURE_FAILURES
    assert may_retry(found, 3)


@pytest.mark.parametrize(
    "job_", [job("work-s1-land-1", pod(running("land"))), job("work-s1-land-1")]
)
def test_a_land_job_that_runs_is_waited_for(job_: JobView) -> None:
    decision = look(verified(LANDING), job_)

    assert (decision.status.delivery, decision.actions) == (LANDING, ())
    assert decision.requeue_after is not None
