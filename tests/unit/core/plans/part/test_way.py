"""The way of a part of a Plan: judged as a whole, then landed, or neither."""

from __future__ import annotations

from bernstein.api.pod import FENCE
from bernstein.api.programs.merge import LandResult
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.core import labels
from bernstein.core.actions import (
    DeleteJobs,
    RunCheck,
    RunFence,
    RunLand,
    RunPrepare,
)
from bernstein.core.diagnosis import Diagnosis
from tests.unit.core import objects
from tests.unit.core.delivery.plans import CANDIDATE, INTEGRATION, ONTO, landed, landing, prepared
from tests.unit.core.objects import (
    BASE,
    NOW,
    TIP,
    Object,
    at,
    job,
    result_job,
    sha,
    told,
)
from tests.unit.core.plans.decisions import GIVEN_UP, again, look, task
from tests.unit.core.plans.part.parts import (
    FAILS,
    FIRST,
    GONE,
    HELD,
    accepted,
    answers,
    cancelled,
    cancels,
    judged,
    landing_of,
    over,
    renamed,
    said,
    still,
)

# --- judged as a whole ----------------------------------------------------------------------------


def test_the_tip_is_judged_by_every_gate_and_the_signals_of_closed_tasks() -> None:
    wants: Object = {"completionSignals": [{"type": "test_passes", "command": "make first"}]}
    first = objects.task("t1", status=FIRST.status, **wants)
    other: Object = {"completionSignals": [{"type": "test_passes", "command": "make other"}]}
    failed = objects.task("gone-wrong", status=GIVEN_UP.status, **other)
    before = judged(over(first, failed), first, failed)

    decision = look(before, first, failed)

    runs = [action for action in decision.actions if isinstance(action, RunCheck)]
    assert {(run.sha, run.ref) for run in runs} == {(sha(1), INTEGRATION)}
    commands = [run.check.command for run in runs]
    assert any("make first" in str(command) for command in commands)
    assert not any("make other" in str(command) for command in commands)
    assert any(run.check.name == "lint" for run in runs)


def test_what_has_passed_lands_and_the_plan_has_not_succeeded() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    (land,) = look(before, FIRST, GIVEN_UP).actions
    assert land == RunLand("web-land-1", INTEGRATION, sha(1), sha(1001), ONTO, BASE)

    done = result_job("web-land-1", "land", LandResult("Landed", sha(1)))
    found = look(before, FIRST, GIVEN_UP, jobs=(done,), now=60).status

    assert (found.phase, found.ended_at) == ("DeliveredPartially", at(60))
    assert told(found.conditions)["Succeeded"] == ("False", "DeliveredPartially")
    assert not {"Stalled", "Reconciling"} & set(told(found.conditions))
    assert answers(found) == [("d-1", "Done", "DeliverPartial")]
    assert said(found) == "1 of 2 Tasks delivered"
    assert found.delivery is not None
    assert (found.delivery.state, found.delivery.sha) == ("Merged", sha(1))
    message = next(c.message for c in found.conditions if c.type == "Succeeded")
    assert message == "1 of 2 Tasks delivered, without gone-wrong"


def test_after_that_nothing_of_it_begins() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    plan = again(before, look(before, FIRST, GIVEN_UP, jobs=(landing(tip=sha(1)),)))
    late = task("gone-wrong", TaskState.OPEN, attempt=4, round={"number": 1, "since": 4})

    decision = look(plan, FIRST, late)

    assert cancels(decision) == [("gone-wrong",)]
    assert decision.status.phase == "DeliveredPartially"


def test_on_a_target_that_moved_a_merge_is_judged_too() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    moved = again(before, look(before, FIRST, GIVEN_UP, jobs=(landing("Moved", TIP),)))
    (prepare,) = look(moved, FIRST, GIVEN_UP).actions
    assert isinstance(prepare, RunPrepare)
    assert prepare.message.startswith("Merge part of plan Better web\n")
    began = again(moved, look(moved, FIRST, GIVEN_UP))
    ready = again(began, look(began, FIRST, GIVEN_UP, jobs=(renamed(prepared(), prepare.job),)))

    (lint,) = look(ready, FIRST, GIVEN_UP).actions

    assert isinstance(lint, RunCheck)
    assert (lint.job, lint.sha, lint.ref) == ("web-lint-1", sha(8), CANDIDATE)


# --- comes to nothing -----------------------------------------------------------------------------


def test_what_a_gate_rejects_is_refused_and_the_plan_is_what_it_was() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    held = again(before, look(before, FIRST, GIVEN_UP, jobs=FAILS))
    assert held.status.phase == "Stalled"

    found = look(held, FIRST, GIVEN_UP, jobs=FAILS, now=9).status

    assert answers(found) == [("d-1", "Refused", "GateFailed")]
    assert said(found).startswith("nothing was delivered: the Plan's work as a whole")
    assert (found.phase, found.ended_at, found.partial) == ("Failed", at(9), None)
    assert told(found.conditions)["Succeeded"] == ("False", "TaskFailed")
    assert told(found.conditions)["Verified"] == ("False", "GateFailed")
    assert found.verification is not None
    assert [check.verdict for check in found.verification.checks] == ["Failed"]


def test_what_tasks_went_on_without_stands_in_the_way_of_the_whole_which_is_said() -> None:
    who = {"by": "ann", "reason": "wrong here", "approval": "a", "verdict": "Failed", "time": NOW}
    let_on = objects.gate("lint", "Bypassed") | {"bypass": who}
    status = FIRST.status
    assert status.verification is not None
    checks = objects.verification(checks=[let_on]).checks
    judged_ = status.verification.model_copy(update={"checks": checks})
    first = objects.task("t1", status=status.model_copy(update={"verification": judged_}))
    before = judged(over(first, GIVEN_UP), first, GIVEN_UP)
    held = again(before, look(before, first, GIVEN_UP, jobs=FAILS))

    told_so = said(look(held, first, GIVEN_UP, jobs=FAILS, now=9).status)

    assert "does not pass: lint (Failed); who let Tasks go on without lint" in told_so


def test_a_plan_that_stood_still_has_failed_then_since_its_other_tasks_have_ended() -> None:
    before = accepted(still(), FIRST, HELD)
    before = again(before, look(before, FIRST, GONE))
    before = again(before, look(before, FIRST, GONE, jobs=FAILS))

    found = look(before, FIRST, GONE, jobs=FAILS).status

    assert (found.phase, found.ended_at) == ("Failed", NOW)


def test_a_cancelled_plan_is_cancelled_then() -> None:
    before = judged(cancelled(), FIRST, GONE)
    before = again(before, look(before, FIRST, GONE, jobs=FAILS))

    found = look(before, FIRST, GONE, jobs=FAILS).status

    assert (found.phase, found.ended_at) == ("Cancelled", NOW)
    assert answers(found) == [("d-1", "Refused", "GateFailed")]
    assert told(found.conditions)["Succeeded"] == ("False", "Cancelled")


def test_a_conflict_with_the_target_is_refused() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    before = again(before, look(before, FIRST, GIVEN_UP, jobs=(landing("Moved", TIP),)))
    before = again(before, look(before, FIRST, GIVEN_UP))
    found = prepared(sha="", tree="", conflicts=("a.py",))
    before = again(before, look(before, FIRST, GIVEN_UP, jobs=(renamed(found, "web-prepare-2"),)))

    status = look(before, FIRST, GIVEN_UP, jobs=(renamed(found, "web-prepare-2"),)).status

    assert answers(status) == [("d-1", "Refused", "MergeConflict")]
    assert "a.py" in said(status)
    assert status.phase == "Failed"


def test_its_jobs_have_ended_before_it_is_refused() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    held = again(before, look(before, FIRST, GIVEN_UP, jobs=FAILS))
    other = job("web-other-0", objects.pod(objects.running("check")))

    decision = look(held, FIRST, GIVEN_UP, jobs=(*FAILS, other))

    assert answers(decision.status) == []
    assert decision.actions == (DeleteJobs((other,)),)


def test_what_is_tried_again_by_itself_is_waited_for() -> None:
    refuses = job("web-land-1", objects.over(objects.failed("land", "CredentialRefused")))
    before = landing_of(over(), FIRST, GIVEN_UP)

    found = again(before, look(before, FIRST, GIVEN_UP, jobs=(refuses,)))

    assert found.status.phase == "Stalled"
    waits = look(found, FIRST, GIVEN_UP, jobs=(refuses,), now=5)
    assert (answers(waits.status), waits.actions) == ([], ())
    tried = look(found, FIRST, GIVEN_UP, jobs=(refuses,), now=400).status
    assert (tried.delivery and tried.delivery.step) == "Landing"


def test_a_project_that_goes_meanwhile_ends_it() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    gone = Diagnosis(Reason.PROJECT_GONE, "it was deleted")

    found = look(before, FIRST, GIVEN_UP, project=None, project_problem=gone).status

    assert answers(found) == [("d-1", "Refused", "ProjectGone")]
    assert found.phase == "Failed"


def test_what_is_landing_when_its_project_goes_is_followed_to_its_end() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    gone: Object = {"project": None, "project_problem": Diagnosis(Reason.PROJECT_GONE, "deleted")}

    found = look(before, FIRST, GIVEN_UP, jobs=(landing(tip=sha(1)),), **gone).status
    assert found.phase == "DeliveredPartially"
    assert [answer[:2] for answer in answers(found)] == [("d-1", "Done")]

    moved = again(before, look(before, FIRST, GIVEN_UP, jobs=(landing("Moved", TIP),), **gone))
    refused = look(moved, FIRST, GIVEN_UP, **gone).status
    assert answers(refused) == [("d-1", "Refused", "ProjectGone")]


def test_a_surprise_in_the_ledger_meanwhile_ends_it() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    strange = landed(2, sha(9))

    decision = look(before, FIRST, GIVEN_UP, strange)
    assert decision.actions == (RunFence("web-lint-0"),)
    fence = job("web-lint-0", labels={labels.JOB: FENCE})
    found = look(again(before, decision), FIRST, GIVEN_UP, strange, jobs=(fence,)).status

    assert answers(found) == [("d-1", "Refused", "UnknownLanding")]
