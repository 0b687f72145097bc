"""The janitor and the gates: Jobs, retries of what could not run, verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.task import TaskStatus
from bernstein.core import task, verification
from bernstein.core.errors import MAX_GATE_ERRORS
from bernstein.core.intents import Decision, Intent, RunCheck, RunInspect
from bernstein.core.pods import JobView
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    HEAD,
    NOW,
    checked,
    done,
    job,
    plan,
    pod,
    project,
    sha,
    snapshot,
    stalled_for,
    told,
    waiting,
)

TEST = {"type": "test_passes", "command": "pytest -q"}
FILE = {"type": "path_exists", "path": "a.py"}


def look(status: TaskStatus, *jobs: JobView, **spec: Any) -> Decision:
    return task.decide(snapshot(objects.task(status=status, **spec), jobs=jobs), NOW)


def names(intents: tuple[Intent, ...]) -> list[str]:
    return [i.job for i in intents if isinstance(i, RunCheck | RunInspect)]


def test_every_check_that_executes_has_a_job_and_those_that_read_share_one() -> None:
    decision = look(done(), completionSignals=[TEST, FILE, TEST])

    assert names(decision.intents) == [
        "work-s1-signal-0-0",
        "work-s1-signal-2-0",
        "work-s1-lint-0",
        "work-s1-inspect-0",
    ]


def test_jobs_judge_the_recorded_commit_with_the_configuration_pinned_by_the_plan() -> None:
    (lint,) = look(done()).intents

    assert isinstance(lint, RunCheck)
    assert (lint.sha, lint.ref) == (HEAD, "refs/bernstein/11112222/work/s1")
    assert lint.pinned_sha == BASE


def test_without_a_plan_the_configuration_is_that_of_the_commits_base() -> None:
    judged = objects.verification(base=sha(7))
    alone = objects.task(plan=None, status=done(verification=judged))

    (lint,) = task.decide(snapshot(alone), NOW).intents

    assert isinstance(lint, RunCheck)
    assert lint.pinned_sha == sha(7)


def test_only_jobs_that_are_missing_are_made() -> None:
    running = job("work-s1-lint-0", pod(objects.running("check")))

    decision = look(done(), running, completionSignals=[FILE])

    assert names(decision.intents) == ["work-s1-inspect-0"]
    assert decision.requeue_after is not None


def test_a_pass_is_recorded_with_every_verdict_and_a_digest() -> None:
    found = look(done(gate_errors=2, feedback="old"), checked("work-s1-lint-0")).status

    assert found.verification is not None
    assert found.verification.passed is True
    assert [(c.name, c.verdict) for c in found.verification.checks] == [("lint", "Passed")]
    assert len(found.verification.digest or "") == 64
    assert told(found.conditions)["Verified"] == ("True", "ChecksPassed")
    assert (found.gate_errors, found.feedback) == (0, None)


def test_a_signal_that_fails_is_named_before_a_gate_that_fails() -> None:
    both = (checked("work-s1-signal-0-0", 1), checked("work-s1-lint-0", 1))

    found = look(done(), *both, completionSignals=[TEST]).status

    assert found.history[-1].reason == "SignalFailed"


def test_a_check_that_cannot_run_is_run_again_in_a_new_round_without_costing_an_attempt() -> None:
    decision = look(done(), checked("work-s1-lint-0", 127))

    assert decision.status.state == "Done"
    assert (decision.status.attempt, decision.status.gate_errors) == (1, 1)
    assert told(decision.status.conditions)["Verified"] == ("False", "GateErrored")
    assert names(look(decision.status).intents) == ["work-s1-lint-1"]


def test_a_rejection_counts_even_beside_a_check_that_could_not_run() -> None:
    both = (checked("work-s1-signal-0-0", 127), checked("work-s1-lint-0", 1))

    found = look(done(), *both, completionSignals=[TEST]).status

    assert (found.state, found.gate_errors) == ("Failed", 0)


def test_after_three_repetitions_it_stays_done_and_needs_a_person() -> None:
    status, rounds = done(), 0
    while stalled_for(status.conditions) is None:
        assert status.verification is not None
        name = f"work-s1-lint-{status.verification.round}"
        status = look(status, checked(name, 127)).status
        rounds += 1

    assert rounds == 1 + MAX_GATE_ERRORS
    assert (status.state, stalled_for(status.conditions)) == ("Done", "GateErrored")
    quiet = look(status)
    assert (quiet.status, quiet.intents) == (status, ())


def test_a_change_of_the_project_lets_the_checks_run_again() -> None:
    errored = checked("work-s1-lint-0", 127)
    status = look(done(gate_errors=MAX_GATE_ERRORS), errored).status
    assert stalled_for(status.conditions) == "GateErrored"
    mended = snapshot(objects.task(status=status), project=project(generation=2))

    decision = task.decide(mended, NOW)

    assert names(decision.intents) == ["work-s1-lint-1"]
    assert (decision.status.gate_errors, decision.status.hold) == (0, None)
    assert stalled_for(decision.status.conditions) is None


@pytest.mark.parametrize(
    ("stuck", "reason"),
    [
        (waiting("check", "ImagePullBackOff", "no such image"), "ImagePullFailed"),
        (waiting("check", "CreateContainerConfigError", 'secret "x" not found'), "SecretNotFound"),
    ],
)
def test_a_check_whose_pod_cannot_start_could_not_run(stuck: objects.Object, reason: str) -> None:
    held = job("work-s1-lint-0", pod(stuck, phase="Pending"))

    found = look(done(), held).status

    assert found.gate_errors == 1
    message = next(c.message for c in found.conditions if c.type == "Verified")
    assert reason in message


def test_a_candidate_is_judged_on_its_own_ref_in_its_own_round() -> None:
    ref = "refs/bernstein/11112222/work/candidate"
    judged = objects.verification(candidate=True, round=3, ref=ref, sha=sha(9))

    (lint,) = look(done(verification=judged)).intents

    assert isinstance(lint, RunCheck)
    assert (lint.job, lint.ref, lint.sha) == ("work-s1-lint-3", ref, sha(9))


def test_expected_checks_follow_the_project_of_now() -> None:
    gates = {"pipeline": [{"name": "own", "command": "true", "image": "own:1"}]}
    subject = snapshot(objects.task(status=done()), project=project(gates=gates), plan=plan())

    found = verification.specs_of(subject, objects.verification())

    assert [c.name for c in found] == ["lint", "pii_scan", "own"]
