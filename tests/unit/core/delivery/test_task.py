"""From verified to landed, and what every way to fail leaves behind."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.pod import FENCE, Changed, LandResult, PrepareResult
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core import conditions, jobs, labels
from bernstein.core.actions import DeleteJobs, RunCheck, RunFence, RunLand, RunPrepare, TaskDecision
from bernstein.core.fsm import may_retry
from bernstein.core.jobs import JobView
from bernstein.core.reasons import MAX_INFRASTRUCTURE_FAILURES, PROBE_SECONDS
from bernstein.core.runs import LOST_SECONDS
from bernstein.core.tasks import decide as task_decide
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    HEAD,
    NOW,
    TIP,
    TREE,
    Object,
    at,
    closed,
    done,
    ended,
    failed,
    job,
    over,
    pod,
    project,
    result_job,
    running,
    sha,
    snapshot,
    stalled_for,
    told,
    verification,
    waiting,
)

LINT = objects.gate("lint")
INTEGRATION = "refs/bernstein/1111222233334444/integration"
CANDIDATE = "refs/bernstein/1111222233334444/work/candidate"
OWN = {"name": "own", "command": "true", "image": "own:1"}


def verified(delivery: Delivery | None = None, **more: Any) -> TaskStatus:
    judged: Object = {"passed": True, "checks": [LINT]}
    given = more.pop("verification", {})
    return done(verification=verification(**(judged | given)), delivery=delivery, **more)


def step(name: str, **more: Any) -> Delivery:
    fields: Object = {"state": "Pending", "step": name, "onto": INTEGRATION, "round": 1}
    return Delivery.model_validate(fields | more)


def look(
    status: TaskStatus,
    *jobs: JobView,
    others: tuple[Task, ...] = (),
    now: float = 0,
    of: Project | None = None,
    **spec: Any,
) -> TaskDecision:
    subject = objects.task(status=status, **spec)
    found = of or project(gates={"pipeline": [{"name": "pii_scan", "enabled": False}]})
    return task_decide.decide(snapshot(subject, jobs=jobs, others=others, project=found), at(now))


LANDING = step("Landing")
PREPARING = step("Preparing")


def landed(state: str = "Landed", tip: str = HEAD) -> JobView:
    return result_job("work-s1-land-1", "land", LandResult(state, tip))


def prepared(**more: Any) -> JobView:
    fields: Object = {"base": TIP, "sha": sha(8), "tree": sha(9), "changed": Changed(2, True)}
    return result_job("work-s1-prepare-1", "prepare", PrepareResult(**(fields | more)))


# --- the way that goes well ---------------------------------------------------------------------


def test_landing_is_written_before_there_is_a_job() -> None:
    begun = look(verified())
    assert (begun.status.delivery and begun.status.delivery.step) == "Landing"
    assert begun.actions == ()

    (land,) = look(begun.status).actions
    assert land == RunLand(
        job="work-s1-land-1",
        ref="refs/bernstein/1111222233334444/work/s1",
        sha=HEAD,
        tree=TREE,
        onto=INTEGRATION,
        expect=BASE,
    )


def test_verified_in_the_same_look_begins_to_land_with_one_write() -> None:
    decision = look(done(), objects.checked("work-s1-lint-0"))

    assert (decision.status.delivery and decision.status.delivery.step) == "Landing"


def test_a_task_is_closed_when_the_remote_shows_its_commit() -> None:
    found = look(verified(LANDING), landed()).status

    assert found.state is TaskState.CLOSED
    assert found.delivery is not None
    assert (found.delivery.state, found.delivery.sha, found.delivery.tree) == ("Merged", HEAD, TREE)
    assert (found.delivery.landed_at, found.ended_at) == (NOW, NOW)
    assert told(found.conditions)["Succeeded"] == ("True", "Closed")


def test_a_verified_change_of_nothing_is_closed_without_a_merge() -> None:
    decision = look(verified(verification={"sha": BASE}))

    assert (decision.status.state, decision.actions) == (TaskState.CLOSED, ())
    assert (decision.status.delivery and decision.status.delivery.state) == "NoChange"


def test_a_task_waits_while_another_one_lands() -> None:
    ahead = objects.task("ahead", status=verified(LANDING))

    found = look(verified(), others=(ahead,)).status

    assert (found.delivery and found.delivery.step) == "Queued"
    assert found.queue is not None
    assert (found.queue.reason, found.queue.message) == ("MergeQueue", "'ahead' lands first")
    assert told(found.conditions)["Reconciling"] == ("True", "MergeQueue")


def test_numbers_of_jobs_go_on_after_a_wait() -> None:
    ahead = objects.task("ahead", status=verified(LANDING))

    waits = look(verified(step("Queued", round=4)), others=(ahead,)).status
    begun = look(waits).status

    assert begun.delivery is not None
    assert begun.delivery.round == 5


# --- the base moved -----------------------------------------------------------------------------


def test_on_a_tip_that_moved_a_candidate_is_made() -> None:
    before = (objects.task("first", status=closed(3)),)

    decision = look(verified(), others=before)
    (prepare,) = look(decision.status, others=before).actions

    assert isinstance(prepare, RunPrepare)
    assert (prepare.job, prepare.sha, prepare.onto) == ("work-s1-prepare-1", HEAD, INTEGRATION)
    assert prepare.candidate == CANDIDATE
    assert "Bernstein-Task: team/work" in prepare.message


def test_the_candidate_is_verified_again_and_then_lands_on_its_base() -> None:
    found = look(verified(PREPARING, verification={"base": sha(1)}), prepared()).status
    assert found.verification is not None
    assert (found.verification.passed, found.verification.ref) == (None, CANDIDATE)
    assert (found.verification.base, found.verification.sha) == (TIP, sha(8))

    (lint,) = look(found).actions
    assert isinstance(lint, RunCheck)
    assert (lint.job, lint.sha) == ("work-s1-lint-1", sha(8))

    begun = look(found, objects.checked("work-s1-lint-1")).status
    (land,) = look(begun).actions
    assert isinstance(land, RunLand)
    assert (land.job, land.sha, land.expect) == ("work-s1-land-2", sha(8), TIP)


def test_a_candidate_that_is_rejected_fails_the_attempt() -> None:
    judged: Object = {"base": TIP, "sha": sha(8), "passed": None, "checks": [], "round": 1}
    found = verified(step("Preparing", tip=TIP), verification=judged)

    decision = look(found, objects.checked("work-s1-lint-1", 1))

    assert decision.status.state is TaskState.FAILED


def test_a_tip_that_holds_the_change_already_is_no_merge_and_no_loop() -> None:
    held = prepared(sha=TIP, tree=TREE)
    found = look(verified(PREPARING, verification={"base": sha(1)}), held).status
    assert found.verification is not None
    assert (found.verification.ref, found.verification.sha) == (INTEGRATION, TIP)

    decision = look(found, objects.checked("work-s1-lint-1"))

    assert (decision.status.state, decision.actions) == (TaskState.CLOSED, ())
    assert (decision.status.delivery and decision.status.delivery.state) == "NoChange"


def test_a_lost_race_makes_a_candidate_on_the_tip_that_was_seen() -> None:
    found = look(verified(LANDING), landed("Moved", TIP)).status
    assert found.delivery is not None
    assert (found.delivery.step, found.delivery.tip) == ("Queued", TIP)

    again = look(found).status
    assert again.delivery is not None
    assert (again.delivery.step, again.delivery.round) == ("Preparing", 2)


def test_a_conflict_keeps_done_names_the_files_and_waits_for_a_person() -> None:
    paths = ("a.py", "\x1b[1mb.py")
    conflicting = prepared(sha="", tree="", conflicts=paths)
    found = look(verified(PREPARING, verification={"base": sha(1)}), conflicting).status

    assert found.state is TaskState.DONE
    assert (found.delivery and found.delivery.state) == "Conflict"
    stall = conditions.find(found.conditions, "Stalled")
    assert stall is not None
    assert stall.reason == "MergeConflict"
    assert "a.py, b.py" in stall.message
    quiet = look(found)
    assert (quiet.status, quiet.actions) == (found, ())


def test_a_conflict_is_tried_again_by_the_merge_alone() -> None:
    conflicting = prepared(sha="", tree="", conflicts=("a.py",))
    found = look(verified(PREPARING, verification={"base": sha(1)}), conflicting).status
    assert look(found, now=PROBE_SECONDS - 1).actions == ()

    (again,) = look(found, now=PROBE_SECONDS).actions

    assert isinstance(again, RunPrepare)
    assert again.job == "work-s1-prepare-2"


# --- the Project asks for more ------------------------------------------------------------------


def test_a_gate_that_came_after_the_verification_is_run_before_anything_lands() -> None:
    stricter = project(gates={"pipeline": [OWN, {"name": "pii_scan", "enabled": False}]})

    decision = look(verified(), of=stricter)
    assert decision.actions == ()
    assert decision.status.verification is not None
    assert (decision.status.verification.passed, decision.status.verification.round) == (None, 1)

    found = look(decision.status, of=stricter).actions
    assert [i.job for i in found if isinstance(i, RunCheck)] == ["work-s1-lint-1", "work-s1-own-1"]


def test_a_gate_that_came_before_the_job_was_made_still_counts() -> None:
    stricter = project(gates={"pipeline": [OWN, {"name": "pii_scan", "enabled": False}]})

    fenced = look(verified(LANDING), of=stricter)
    assert fenced.actions == (RunFence("work-s1-land-1"),), "it may have been asked for before"
    fence = job("work-s1-land-1", labels={labels.JOB: FENCE})
    decision = look(fenced.status, fence, of=stricter)

    assert decision.actions == ()
    assert (decision.status.delivery and decision.status.delivery.step) == "Queued"
    assert decision.status.verification is not None
    assert decision.status.verification.passed is None


@pytest.mark.parametrize("ended_", [True, False])
def test_a_land_job_that_was_made_is_followed_to_its_end(ended_: bool) -> None:
    stricter = project(gates={"pipeline": [OWN]})
    at_work = landed() if ended_ else job("work-s1-land-1", pod(running("land")))

    found = look(verified(LANDING), at_work, of=stricter).status

    assert found.state is (TaskState.CLOSED if ended_ else TaskState.DONE)
    assert found.verification is not None
    assert found.verification.passed is True


# --- failures -----------------------------------------------------------------------------------


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
    assert (found.delivery.state, found.delivery.step) == (state, "Queued")
    assert found.delivery.reason == reason
    assert found.hold is not None
    assert found.hold.retry_at == at(PROBE_SECONDS)
    assert stalled_for(found.conditions) == reason

    assert look(found, refusal(reason)).requeue_after == PROBE_SECONDS
    again = look(found, refusal(reason), now=PROBE_SECONDS).status
    assert again.delivery is not None
    assert (again.delivery.step, again.delivery.round) == ("Landing", 2)
    assert stalled_for(again.conditions) is None


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
    assert (refused.delivery and refused.delivery.step) == "Queued"

    over_ = look(refused, looked(BASE), cancel={"reason": "no"}, now=PROBE_SECONDS).status

    assert over_.state is TaskState.CANCELLED
    assert "CancelRefused" not in told(over_.conditions)


def test_a_merge_that_turns_out_not_to_have_happened_is_asked_for_anew() -> None:
    back = look(in_doubt(), looked(BASE), now=PROBE_SECONDS).status
    assert told(back.conditions)["Reconciling"] == ("True", "Landing")

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

    assert (decision.status.delivery and decision.status.delivery.step) == "Queued"
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

    assert (found.delivery and found.delivery.step) == "Queued"
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
    assert (found.hold is None) is (stall is None)
    assert found.infrastructure_failures <= MAX_INFRASTRUCTURE_FAILURES
    assert may_retry(found, 3)


@pytest.mark.parametrize(
    "job_", [job("work-s1-land-1", pod(running("land"))), job("work-s1-land-1")]
)
def test_a_land_job_that_runs_is_waited_for(job_: JobView) -> None:
    decision = look(verified(LANDING), job_)

    assert (decision.status.delivery, decision.actions) == (LANDING, ())
    assert decision.requeue_after is not None
