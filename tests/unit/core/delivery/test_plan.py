"""A Plan whose Tasks are all Closed: onto the target branch, once."""

from __future__ import annotations

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.pod import Changed
from bernstein.api.programs.merge import LandResult, PrepareResult
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.actions import DeleteJobs, KeepCheckLogs, RunCheck, RunLand, RunPrepare
from bernstein.core.reasons.waits import PROBE_SECONDS
from tests.unit.core import objects
from tests.unit.core.delivery.plans import (
    CANDIDATE,
    INTEGRATION,
    ONTO,
    TASKS,
    landed,
    landing,
    look,
    prepared,
    step,
)
from tests.unit.core.objects import (
    BASE,
    TIP,
    Object,
    at,
    checked,
    closed,
    ended,
    failed,
    job,
    over,
    pod,
    result_job,
    sha,
    stalled_for,
    told,
    waiting,
)
from tests.unit.core.objects import status as status_of
from tests.unit.core.verification.comparisons import compared


def test_landing_is_written_before_there_is_a_job() -> None:
    begun = look()
    assert (begun.status.delivery and begun.status.delivery.step) == "Landing"
    assert begun.actions == ()

    (land,) = look(begun.status).actions
    assert land == RunLand("web-land-1", INTEGRATION, sha(2), sha(1002), ONTO, BASE)


@pytest.mark.parametrize("when", [-10, -99])
def test_the_tip_is_the_commit_that_no_other_was_made_on_whatever_the_clocks_said(
    when: float,
) -> None:
    tasks = (landed(2, sha(1), when), landed(1, BASE))

    (land,) = look(look(tasks=tasks).status, tasks=tasks).actions

    assert isinstance(land, RunLand)
    assert land.sha == sha(2)


@pytest.mark.parametrize("left", [(), TASKS[:1], TASKS[1:]])
def test_what_has_landed_is_delivered_though_its_tasks_are_deleted(left: tuple[Task, ...]) -> None:
    known = look(tasks=(*TASKS, objects.task("last"))).status
    assert known.integration is not None
    assert (known.integration.sha, known.integration.tree) == (sha(2), sha(1002))
    known = known.model_copy(
        update={"tasks": tuple(t for t in known.tasks if t.name != "last"), "expanded": True}
    )

    begun = look(known, tasks=left).status
    if left != TASKS[1:]:  # nobody can say any more what the last commit was judged by
        assert begun.verification is not None
        assert (begun.verification.sha, begun.verification.tree) == (sha(2), sha(1002))
        begun = look(begun, checked("web-lint-0"), tasks=left).status
        begun = look(begun, checked("web-lint-0"), tasks=left).status
    (land,) = look(begun, checked("web-lint-0"), tasks=left).actions

    assert land == RunLand("web-land-1", INTEGRATION, sha(2), sha(1002), ONTO, BASE)


def test_a_plan_succeeds_when_the_remote_shows_its_commit() -> None:
    found = look(step("Landing"), landing()).status

    assert (found.phase, found.ended_at) == ("Succeeded", at(0))
    assert found.delivery is not None
    assert (found.delivery.state, found.delivery.sha) == ("Merged", sha(2))
    assert told(found.conditions)["Succeeded"] == ("True", "Delivered")


def test_a_plan_that_changed_nothing_succeeds_without_a_merge() -> None:
    nothing = status_of(TaskState.CLOSED, delivery=Delivery(state="NoChange"))

    found = look(tasks=(objects.task(status=nothing),)).status

    assert found.phase == "Succeeded"
    assert (found.delivery and found.delivery.state) == "NoChange"


def test_it_is_never_said_to_have_changed_nothing_where_a_task_of_it_is_merged() -> None:
    nothing = status_of(TaskState.CLOSED, delivery=Delivery(state="NoChange"))
    tasks = (objects.task("one", status=nothing), objects.task("two", status=closed(1)))

    found = look(tasks=tasks).status

    assert found.phase != "Succeeded"
    assert found.delivery is None or found.delivery.state != "NoChange"


def test_a_tree_that_was_not_verified_does_not_land() -> None:
    found = closed(1)
    assert found.verification is not None
    other = found.verification.model_copy(update={"tree": sha(7)})
    forged = found.model_copy(update={"verification": other})

    decision = look(tasks=(objects.task(status=forged),))

    assert decision.actions == ()
    assert stalled_for(decision.status.conditions) == "VerificationMissing"


# --- the target moved ---------------------------------------------------------------------------


def test_on_a_target_that_moved_a_merge_is_made_and_verified_and_lands() -> None:
    moved = look(step("Landing"), landing("Moved", TIP)).status
    assert (moved.delivery and moved.delivery.step) is None
    (prepare,) = look(moved).actions
    assert isinstance(prepare, RunPrepare)
    assert (prepare.job, prepare.sha, prepare.onto) == ("web-prepare-2", sha(2), ONTO)
    assert prepare.merge

    ready = look(step("Preparing"), prepared()).status
    (lint,) = look(ready).actions
    assert isinstance(lint, RunCheck)
    assert (lint.job, lint.sha, lint.ref) == ("web-lint-0", sha(8), CANDIDATE)

    passed = look(ready, checked("web-lint-0")).status
    begun = look(passed).status
    (land,) = look(begun).actions
    assert land == RunLand("web-land-2", CANDIDATE, sha(8), sha(9), ONTO, TIP)


def test_signals_of_every_task_judge_the_merge_once_each() -> None:
    signal = {"type": "test_passes", "command": "pytest"}
    tasks = tuple(
        objects.task(t.metadata.name, status=t.status, completionSignals=[signal]) for t in TASKS
    )
    ready = look(step("Preparing"), prepared(), tasks=tasks).status

    names = [i.job for i in look(ready, tasks=tasks).actions if isinstance(i, RunCheck)]

    assert names == ["web-signal-0-0", "web-lint-0"]


def test_a_target_that_holds_everything_already_is_verified_where_it_is() -> None:
    ready = look(step("Preparing"), prepared(sha=TIP)).status

    assert ready.verification is not None
    assert (ready.verification.ref, ready.verification.sha) == (ONTO, TIP)


NEW = compared("web-lint-0b")


def test_a_merge_that_does_not_pass_its_checks_lands_nowhere() -> None:
    ready = look(step("Preparing"), prepared()).status
    found = look(ready, checked("web-lint-0", 1), NEW).status

    assert stalled_for(found.conditions) == "GateFailed"
    quiet = look(found, checked("web-lint-0", 1))
    assert (quiet.status, quiet.actions) == (found, ())


def test_a_merge_that_could_not_be_judged_is_judged_again_later() -> None:
    ready = look(step("Preparing"), prepared()).status

    held = look(ready, checked("web-lint-0", 127)).status
    assert stalled_for(held.conditions) == "GateErrored"
    assert look(held, checked("web-lint-0", 127)).requeue_after == PROBE_SECONDS
    (lint,) = look(held, checked("web-lint-0", 127), now=PROBE_SECONDS).actions

    assert isinstance(lint, RunCheck)
    assert lint.job == "web-lint-1"
    assert held.verification is not None
    assert [c.verdict for c in held.verification.checks] == ["Errored"], "shown until then"


def test_what_a_check_of_the_whole_printed_is_kept_once() -> None:
    ready = look(step("Preparing"), prepared()).status
    red, absent = checked("web-lint-0", 1), checked("web-lint-0", 127)

    refused, errored = look(ready, red, NEW), look(ready, absent)
    both = (checked("web-lint-1", 127), checked("web-lint-1b", 127))
    later = look(errored.status, *both, now=PROBE_SECONDS)

    assert refused.actions == (KeepCheckLogs((red,)),)
    assert look(refused.status, red).actions == ()
    assert errored.actions == (KeepCheckLogs((absent,)),)
    assert stalled_for(later.status.conditions) == "GateErrored"
    assert later.actions == ()


def test_a_conflict_with_the_target_needs_a_person() -> None:
    found = look(step("Preparing"), prepared(sha="", tree="", conflicts=("a.py",))).status

    assert found.phase == "Stalled"
    assert (found.delivery and found.delivery.state) == "Conflict"
    assert stalled_for(found.conditions) == "MergeConflict"


def test_a_conflict_with_the_target_is_tried_again_by_a_job_of_its_own() -> None:
    conflict = prepared(sha="", tree="", conflicts=("a.py",))
    found = look(step("Preparing"), conflict).status

    waits = look(found, now=PROBE_SECONDS - 1)
    assert (waits.actions, waits.requeue_after) == ((), 1)
    for again in (
        look(found, now=PROBE_SECONDS),
        look(found, project=objects.project(generation=2)),
    ):
        (prepare,) = again.actions
        assert isinstance(prepare, RunPrepare)
        assert prepare.job == "web-prepare-2"
    mended = result_job("web-prepare-2", "prepare", PrepareResult(TIP, sha(8), sha(9), Changed(2)))
    judged = look(found, mended, now=PROBE_SECONDS).status
    assert (judged.verification and judged.verification.sha) == sha(8)
    assert stalled_for(judged.conditions) is None


# --- failures -----------------------------------------------------------------------------------


def test_a_refused_merge_is_probed_and_the_work_stays() -> None:
    refused = job("web-land-1", over(failed("land", "BranchProtected", "no")))

    held = look(step("Landing"), refused).status
    assert (held.delivery and held.delivery.state) == "CredentialRefused"
    assert stalled_for(held.conditions) == "BranchProtected"
    assert look(held, refused).requeue_after == PROBE_SECONDS
    begun = look(held, refused, now=PROBE_SECONDS).status

    assert begun.delivery is not None
    assert (begun.delivery.step, begun.delivery.round) == ("Landing", 2)
    over_ = look(held, refused, cancel={"reason": "no"}).status
    assert over_.phase == "Cancelled"


@pytest.mark.parametrize(
    "lost",
    [
        over(ended("land", 143), disrupted=True),
        over(failed("land", "RepositoryUnreachable")),
        over(ended("land", said="rubbish")),
        None,
    ],
)
def test_a_merge_that_may_have_happened_refuses_a_cancel_until_the_remote_was_read(
    lost: Object | None,
) -> None:
    gone = job("web-land-1", lost, complete=True, no_pod=lost is None)

    held = look(step("Landing"), gone).status
    refused = look(held, gone, cancel={"reason": "no"}, now=PROBE_SECONDS)

    assert told(refused.status.conditions)["CancelRefused"] == ("True", "MergeInProgress")
    assert [i.job for i in refused.actions if isinstance(i, RunLand)] == ["web-land-2"]


def test_a_plan_that_is_suspended_while_it_lands_is_followed_to_its_end() -> None:
    begun = look(step("Landing"), suspend=True)
    assert (begun.status.phase, len(begun.actions)) == ("Suspended", 1)
    assert told(begun.status.conditions)["Suspended"] == ("True", "Suspended")

    done = result_job("web-land-1", "land", LandResult("Landed", sha(2)))
    over_ = look(begun.status, done, suspend=True).status

    assert over_.phase == "Succeeded"
    assert "Suspended" not in told(over_.conditions)


def test_a_plan_that_is_suspended_before_it_lands_does_not_land() -> None:
    queued = look(step("Queued"), suspend=True)

    assert (queued.status.phase, queued.actions) == ("Suspended", ())


def test_a_land_job_that_cannot_start_is_given_up_and_waited_for() -> None:
    missing = waiting("land", "CreateContainerConfigError", 'secret "git-deliver" not found')
    stuck = job("web-land-1", pod(missing, phase="Pending"))

    given_up = look(step("Landing"), stuck)
    assert given_up.actions == (DeleteJobs((stuck,)),)
    assert given_up.status.delivery is not None
    assert given_up.status.delivery.step == "Landing", "its pod may still start, and push"
    over_ = job("web-land-1", over(missing, phase="Failed", deleting=True))
    decision = look(given_up.status, over_)

    assert decision.actions == ()
    assert stalled_for(decision.status.conditions) == "SecretNotFound"


def test_a_change_of_the_project_ends_a_hold() -> None:
    hold = objects.held("BranchProtected", at(200))
    held = step("Queued", waiting=hold)

    assert look(held).requeue_after == 200
    changed = look(held, project=objects.project(generation=2)).status
    assert (changed.delivery and changed.delivery.step) == "Landing"
