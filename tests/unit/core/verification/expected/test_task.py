"""The janitor and the gates: Jobs, retries of what could not run, verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.task import TaskStatus
from bernstein.core import conditions, jobs, labels
from bernstein.core.actions import (
    DeleteJobs,
    KeepCheckLogs,
    RunCheck,
    RunInspect,
    TaskAction,
    TaskDecision,
)
from bernstein.core.jobs import JobView
from bernstein.core.reasons.limits import MAX_GATE_ERRORS, MAX_ROUNDS
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification.expected import task as verification
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    HEAD,
    NOW,
    at,
    checked,
    done,
    ended,
    job,
    over,
    plan,
    pod,
    project,
    sha,
    snapshot,
    stalled_for,
    told,
    waiting,
)
from tests.unit.core.verification.comparisons import compared

TEST = {"type": "test_passes", "command": "pytest -q"}
FILE = {"type": "path_exists", "path": "a.py"}


def look(status: TaskStatus, *jobs: JobView, now: float = 0, **spec: Any) -> TaskDecision:
    return task_decide.decide(snapshot(objects.task(status=status, **spec), jobs=jobs), at(now))


def names(actions: tuple[TaskAction, ...]) -> list[str]:
    return [i.job for i in actions if isinstance(i, RunCheck | RunInspect)]


def test_every_check_that_executes_has_a_job_and_those_that_read_share_one() -> None:
    decision = look(done(), completionSignals=[TEST, FILE, TEST])

    assert names(decision.actions) == [
        "work-s1-signal-0-0",
        "work-s1-signal-2-0",
        "work-s1-lint-0",
        "work-s1-inspect-0",
    ]


def test_jobs_judge_the_recorded_commit_with_the_configuration_pinned_by_the_plan() -> None:
    (lint,) = look(done()).actions

    assert isinstance(lint, RunCheck)
    assert (lint.sha, lint.ref) == (HEAD, "refs/bernstein/1111222233334444/work/s1")
    assert lint.pinned_sha == BASE


def test_without_a_plan_the_configuration_is_that_of_the_commits_base() -> None:
    judged = objects.verification(base=sha(7))
    alone = objects.task(plan=None, status=done(verification=judged))

    (lint,) = task_decide.decide(snapshot(alone), NOW).actions

    assert isinstance(lint, RunCheck)
    assert lint.pinned_sha == sha(7)


def test_only_jobs_that_are_missing_are_made() -> None:
    running = job("work-s1-lint-0", pod(objects.running("check")))

    decision = look(done(), running, completionSignals=[FILE])

    assert names(decision.actions) == ["work-s1-inspect-0"]
    assert decision.requeue_after is not None


def test_a_pass_is_recorded_with_every_verdict_and_a_digest() -> None:
    found = look(done(gate_errors=2, feedback="old"), checked("work-s1-lint-0")).status

    assert found.verification is not None
    assert found.verification.passed is True
    assert [(c.name, c.verdict) for c in found.verification.checks] == [("lint", "Passed")]
    assert len(found.verification.digest or "") == 64
    assert told(found.conditions)["Verified"] == ("True", "ChecksPassed")
    assert (found.gate_errors, found.feedback) == (0, None)


NEW = compared("work-s1-lint-0b")


def test_a_signal_that_fails_is_named_before_a_gate_that_fails() -> None:
    both = (checked("work-s1-signal-0-0", 1), checked("work-s1-lint-0", 1), NEW)

    found = look(done(), *both, completionSignals=[TEST]).status

    assert found.history[-1].reason == "SignalFailed"


DISRUPTED = job("work-s1-lint-0", over(ended("check", 143), disrupted=True))
UNEXPLAINED = job("work-s1-lint-0", over(ended("checkout", 1), waiting("check")))


@pytest.mark.parametrize(
    ("end", "seconds", "stalls"),
    [
        (DISRUPTED, 0, None),
        (UNEXPLAINED, 30, None),
        (checked("work-s1-lint-0", 127), PROBE_SECONDS, "GateErrored"),
    ],
)
def test_a_check_that_cannot_run_is_run_again_after_a_while_without_costing_an_attempt(
    end: JobView, seconds: int, stalls: str | None
) -> None:
    held = look(done(), end)

    assert held.status.state == "Done"
    assert (held.status.attempt, held.status.gate_errors) == (1, 1)
    assert told(held.status.conditions)["Verified"] == ("False", "GateErrored")
    assert stalled_for(held.status.conditions) == stalls
    if seconds:
        early = look(held.status, now=seconds - 1)
        assert (early.status, early.actions, early.requeue_after) == (held.status, (), 1)
    again = look(held.status, now=seconds)
    assert names(again.actions) == ["work-s1-lint-1"]
    assert stalled_for(again.status.conditions) is None


def test_a_rejection_counts_even_beside_a_check_that_could_not_run() -> None:
    both = (checked("work-s1-signal-0-0", 127), checked("work-s1-lint-0", 1), NEW)

    found = look(done(), *both, completionSignals=[TEST]).status

    assert (found.state, found.gate_errors) == ("Failed", 0)


def test_after_three_repetitions_it_stays_done_and_needs_a_person() -> None:
    status, rounds, now = done(), 0, 0
    for number in range(10):
        runs = look(status, now=now).actions
        rounds += len(runs)
        if runs:
            both = (checked(f"work-s1-lint-{number}{of}", 127) for of in ("", "b"))
            status = look(status, *both, now=now).status
        now += PROBE_SECONDS

    assert rounds == 1 + MAX_GATE_ERRORS
    assert (status.state, stalled_for(status.conditions)) == ("Done", "GateErrored")
    quiet = look(status, now=now)
    assert (quiet.status, quiet.actions, quiet.requeue_after) == (status, (), None)


def test_a_signal_that_cannot_run_is_called_by_its_title_with_a_remedy_of_its_own() -> None:
    jobs = (checked("work-s1-signal-0-0", 127), checked("work-s1-lint-0", 0))

    found = look(done(), *jobs, completionSignals=[TEST]).status

    stall = conditions.find(found.conditions, "Stalled")
    assert stall is not None
    assert "signal-0" not in stall.message
    assert stall.message.startswith("'test_passes: pytest -q' could not run: ToolMissing")
    assert "Remedy: Install the command in the Project's toolchain.image, or " in stall.message


def test_a_change_of_the_project_lets_the_checks_run_again() -> None:
    errored = checked("work-s1-lint-0", 127)
    status = look(done(gate_errors=MAX_GATE_ERRORS), errored).status
    assert stalled_for(status.conditions) == "GateErrored"
    mended = snapshot(objects.task(status=status), project=project(generation=2))

    decision = task_decide.decide(mended, NOW)

    assert names(decision.actions) == ["work-s1-lint-1"]
    assert (decision.status.gate_errors, decision.status.waiting) == (0, None)
    assert stalled_for(decision.status.conditions) is None


@pytest.mark.parametrize(
    ("stuck", "reason"),
    [
        (waiting("check", "ImagePullBackOff", "no such image"), "ImagePullFailed"),
        (waiting("check", "CreateContainerConfigError", 'secret "x" not found'), "SecretNotFound"),
    ],
)
def test_a_check_whose_pod_cannot_start_is_given_up_and_could_not_run(
    stuck: objects.Object, reason: str
) -> None:
    held = job("work-s1-lint-0", pod(stuck, phase="Pending"))
    beside = job("work-s1-signal-0-0", pod(objects.running("check")))

    given_up = look(done(), held, beside, completionSignals=[TEST])
    assert given_up.actions == (DeleteJobs((held,)),)
    assert given_up.status.gate_errors == 0, "its pod may still start"

    ended_ = job("work-s1-lint-0", objects.over(stuck, phase="Failed", deleting=True))
    decision = look(given_up.status, ended_, beside, completionSignals=[TEST])
    assert decision.actions == (), "what is at work beside it goes on"
    found = decision.status
    assert found.gate_errors == 0, "nothing ran that could not run"
    message = next(c.message for c in found.conditions if c.type == "Verified")
    assert reason in message
    assert found.verification is not None
    assert found.verification.abandoned is None, "its next Job begins anew"


OPTIONAL = {
    "pipeline": [{"name": "lint", "required": False}, {"name": "pii_scan", "enabled": False}]
}


def judged_optionally(status: TaskStatus, job_: JobView, now: float = 0) -> TaskDecision:
    subject = snapshot(objects.task(status=status), jobs=(job_,), project=project(gates=OPTIONAL))
    return task_decide.decide(subject, at(now))


def test_an_optional_check_that_cannot_start_has_errored_and_blocks_nothing() -> None:
    stuck = waiting("check", "ImagePullBackOff", "no such image")
    held = job("work-s1-lint-0", pod(stuck, phase="Pending"))

    given_up = judged_optionally(done(), held)
    assert given_up.actions == (DeleteJobs((held,)),)
    ended_ = job("work-s1-lint-0", objects.over(stuck, phase="Failed", deleting=True))
    decision = judged_optionally(given_up.status, ended_)

    assert decision.status.verification is not None
    assert decision.status.verification.passed is True
    (lint,) = [c for c in decision.status.verification.checks if c.name == "lint"]
    assert (lint.verdict, lint.reason) == ("Errored", "ImagePullFailed")


def test_a_job_that_the_api_server_refuses_could_not_run() -> None:
    refused = jobs.refusal("work-s1-lint-0", "exceeded quota: count/jobs.batch=4", at(0))

    decision = look(done(), refused)

    assert decision.actions == ()
    assert stalled_for(decision.status.conditions) == "GateErrored"
    message = next(c.message for c in decision.status.conditions if c.type == "Verified")
    assert "PodRejected: exceeded quota: count/jobs.batch=4" in message


def test_an_optional_check_that_is_refused_is_asked_for_once() -> None:
    refused = jobs.refusal("work-s1-lint-0", "exceeded quota: count/jobs.batch=4", at(0))

    decision = judged_optionally(done(), refused)

    assert decision.status.verification is not None
    (lint,) = [c for c in decision.status.verification.checks if c.name == "lint"]
    assert (lint.verdict, lint.reason) == ("Errored", "PodRejected")


def test_a_check_that_was_given_up_is_not_made_anew_when_nothing_of_it_is_left() -> None:
    hangs = job("work-s1-lint-0", pod(objects.running("check")), age=400)
    late = look(done(), hangs, now=122)

    decision = look(late.status, now=130)

    assert decision.actions == ()
    message = next(c.message for c in decision.status.conditions if c.type == "Verified")
    assert "PodLost" in message


def slow(seconds: float) -> JobView:
    """A check that its node has ended, so many seconds after its start."""
    container = objects.ended("check", 143, after=seconds)
    return job("work-s1-lint-0", objects.over(container, deleting=True))


def test_a_command_has_its_time_from_its_own_start_and_is_then_ended() -> None:
    hangs = job("work-s1-lint-0", pod(objects.running("check")), age=400)
    assert look(done(), hangs, now=120).actions == ()

    late = look(done(), hangs, now=122)
    assert late.actions == (KeepCheckLogs((hangs,)), DeleteJobs((hangs,))), "read before it goes"
    assert late.status.reports == 1
    over_ = look(late.status, slow(122), checked("work-s1-lint-0b"), now=125)

    assert over_.status.history[-1].reason == "GateFailed"
    assert "not done after 120 s" in (over_.status.feedback or "")
    assert kept(over_) == []


def test_a_check_that_a_drained_node_ended_is_no_slow_one() -> None:
    drained = job("work-s1-lint-0", pod(objects.running("check"), disrupted=True, deleting=505))

    assert look(done(), drained, now=500).actions == ()


def test_an_optional_check_that_hangs_is_ended_and_holds_nothing_up() -> None:
    hangs = job("work-s1-lint-0", pod(objects.running("check")), age=400)

    late = judged_optionally(done(), hangs, now=500)
    assert DeleteJobs((hangs,)) in late.actions
    decision = judged_optionally(late.status, slow(500), now=505)

    assert decision.status.verification is not None
    assert decision.status.verification.passed is True


def kept(decision: TaskDecision) -> list[str]:
    """Jobs whose checks' output is saved."""
    wanted = [i for i in decision.actions if isinstance(i, KeepCheckLogs)]
    return [job.name for action in wanted for job in action.jobs]


def test_what_a_check_printed_is_kept_when_its_verdict_is_recorded_and_never_again() -> None:
    ends = (checked("work-s1-signal-0-0"), checked("work-s1-lint-0", 1), NEW)

    rejected = look(done(), *ends, completionSignals=[TEST])

    assert rejected.status.state == "Failed"
    assert kept(rejected) == ["work-s1-lint-0"]
    assert kept(look(rejected.status, *ends, completionSignals=[TEST])) == []


def test_what_passed_leaves_no_report() -> None:
    assert kept(look(done(), checked("work-s1-lint-0"))) == []


def test_the_output_of_an_optional_check_is_kept_though_the_work_passes() -> None:
    gates = {
        "pipeline": [{"name": "lint", "required": False}, {"name": "pii_scan", "enabled": False}]
    }
    red = checked("work-s1-lint-0", 1)
    subject = snapshot(objects.task(status=done()), jobs=(red,), project=project(gates=gates))

    decision = task_decide.decide(subject, NOW)

    assert decision.status.verification is not None
    assert decision.status.verification.passed is True
    assert kept(decision) == ["work-s1-lint-0"]


def test_a_check_that_cannot_run_again_and_again_leaves_one_report() -> None:
    first = look(done(), checked("work-s1-lint-0", 127))
    both = (checked("work-s1-lint-1", 127), checked("work-s1-lint-1b", 127))
    again = look(first.status, *both, now=PROBE_SECONDS)

    assert again.status.gate_errors == 2
    assert (kept(first), kept(again)) == (["work-s1-lint-0"], [])


def test_a_check_that_is_run_once_more_for_want_of_memory_has_no_verdict_to_report_on() -> None:
    ended_ = objects.check_pod(137, reason="OOMKilled")
    first = look(done(), job("work-s1-lint-0", ended_))
    second = look(first.status, job("work-s1-lint-1", ended_))

    assert (kept(first), kept(second)) == ([], ["work-s1-lint-1"])


def test_checks_that_never_settle_are_not_run_for_ever() -> None:
    judged = objects.verification(round=MAX_ROUNDS)

    decision = look(done(verification=judged))

    assert decision.actions == ()
    assert stalled_for(decision.status.conditions) == "GateErrored"
    last = look(done(verification=objects.verification(round=MAX_ROUNDS - 1)))
    assert names(last.actions) == [f"work-s1-lint-{MAX_ROUNDS - 1}"]


def test_checks_that_never_settled_are_run_again_when_the_project_changes() -> None:
    endless = look(done(verification=objects.verification(round=MAX_ROUNDS))).status

    later = look(endless, now=PROBE_SECONDS)
    assert (later.status, later.actions) == (endless, ())
    subject = snapshot(objects.task(status=endless), project=objects.project(generation=2))
    mended = task_decide.decide(subject, at(0))

    assert names(mended.actions) == [f"work-s1-lint-{MAX_ROUNDS}"]
    assert stalled_for(mended.status.conditions) is None


def test_rounds_of_an_earlier_tree_do_not_count_for_a_candidate() -> None:
    judged = objects.verification(round=MAX_ROUNDS, first_round=MAX_ROUNDS, candidate=True)

    decision = look(done(verification=judged))

    assert names(decision.actions) == [f"work-s1-lint-{MAX_ROUNDS}"]


OOM = objects.check_pod(137, reason="OOMKilled")


def test_a_check_that_ran_out_of_memory_is_run_once_more_and_then_it_counts() -> None:
    again = look(done(), job("work-s1-lint-0", OOM)).status
    assert (again.state, again.attempt, again.gate_errors) == ("Done", 1, 0)
    assert names(look(again).actions) == ["work-s1-lint-1"]

    failed = look(again, job("work-s1-lint-1", OOM)).status

    assert failed.history[-1].reason == "GateFailed"
    assert "out of memory" in (failed.feedback or "")


def test_a_job_that_was_asked_something_else_is_no_answer() -> None:
    at_work = pod(objects.running("check"))
    running = job(
        "work-s1-lint-0",
        at_work,
        labels={labels.ASKED: objects.asked("lint", project(toolchain={"image": "old:1"}))},
    )
    right = job("work-s1-lint-0", at_work, labels={labels.ASKED: objects.asked("lint")})
    kept = look(done(), right).status.verification
    assert kept is not None
    assert kept.round == 0

    decision = look(done(), running)

    assert decision.actions == (DeleteJobs((running,)),)
    assert names(look(decision.status, running).actions) == ["work-s1-lint-1"]


def test_a_candidate_is_judged_on_its_own_ref_in_its_own_round() -> None:
    ref = "refs/bernstein/1111222233334444/work/candidate"
    judged = objects.verification(candidate=True, round=3, ref=ref, sha=sha(9))

    (lint,) = look(done(verification=judged)).actions

    assert isinstance(lint, RunCheck)
    assert (lint.job, lint.ref, lint.sha) == ("work-s1-lint-3", ref, sha(9))


def test_expected_checks_follow_the_project_of_now() -> None:
    gates = {"pipeline": [{"name": "own", "command": "true", "image": "own:1"}]}
    subject = snapshot(objects.task(status=done()), project=project(gates=gates), plan=plan())

    found = verification.specs_of(subject, objects.verification())

    assert [c.name for c in found] == ["lint", "pii_scan", "own"]
