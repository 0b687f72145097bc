"""One look at the checks of a tree, of a Task and of a Plan: every outcome, for both."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.signals import Signal
from bernstein.api.task import TaskStatus
from bernstein.checks.spec import Subject
from bernstein.core.actions import DeleteJobs, RunCheck
from bernstein.core.jobs import JobView
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.verification import round as rounds
from bernstein.core.verification.expected.required import required_checks
from bernstein.core.verification.look import Question
from tests.unit.core import objects
from tests.unit.core.objects import (
    NOW,
    at,
    checked,
    ended,
    failed,
    job,
    over,
    pod,
    project,
    told,
    verification,
)
from tests.unit.core.verification.comparisons import compared
from tests.unit.core.verification.kinds import BOTH, Kind

SIGNAL = Signal.model_validate({"type": "test_passes", "command": "make test"})


def take(kind: Kind, *jobs: JobView, anew: bool = False, **judged: Any) -> Any:
    everything = Subject(
        any_changed=True, python_changed=True, tests_changed=True, deps_changed=True
    )
    question = Question(
        job=kind.job,
        checks=required_checks([SIGNAL], project().spec, everything),
        project=project(),
        pinned_sha=objects.BASE,
        onto="refs/heads/main",
        can_be_made_anew=anew,
    )
    status = kind.status(verification(**judged))
    return rounds.take(status, question, {each.name: each for each in jobs}, NOW)


def ends(kind: Kind, lint: int = 0, signal: int = 0) -> tuple[JobView, ...]:
    """Both checks of the first round, with their exit codes; what lint finds is new."""
    own = checked(kind.job("lint", 0), lint), checked(kind.job("signal-0", 0), signal)
    return (*own, compared(kind.job("lint.base", 0))) if lint else own


def verified(status: TaskStatus | PlanStatus) -> tuple[str, str] | None:
    return told(status.conditions).get("Verified")


@BOTH
def test_checks_without_a_job_are_asked_for_and_waited_for(kind: Kind) -> None:
    asked = take(kind)

    assert isinstance(asked, rounds.Undecided)
    assert {a.job for a in asked.actions if isinstance(a, RunCheck)} == {
        kind.job("lint", 0),
        kind.job("signal-0", 0),
    }
    assert verified(asked.status) is None


@BOTH
def test_a_tree_that_all_checks_let_on_has_passed_with_a_digest(kind: Kind) -> None:
    passed = take(kind, *ends(kind))

    assert isinstance(passed, rounds.Passed)
    assert passed.status.verification.passed is True
    assert len(passed.status.verification.digest) == 64
    assert verified(passed.status) == ("True", "ChecksPassed")


@BOTH
@pytest.mark.parametrize(
    ("lint", "signal", "reason"),
    [(1, 0, "GateFailed"), (0, 1, "SignalFailed"), (1, 1, "SignalFailed")],
)
def test_a_tree_that_a_check_says_no_to_is_rejected_by_its_reason(
    kind: Kind, lint: int, signal: int, reason: str
) -> None:
    rejected = take(kind, *ends(kind, lint, signal))

    assert isinstance(rejected, rounds.Rejected)
    assert rejected.reason == reason
    assert rejected.status.verification.passed is False
    assert verified(rejected.status) == ("False", reason)


@BOTH
def test_a_check_that_cannot_run_is_run_again_after_a_while(kind: Kind) -> None:
    stopped = take(kind, *ends(kind, lint=127))

    assert isinstance(stopped, rounds.CannotRun)
    assert (stopped.status.gate_errors, stopped.status.verification.round) == (1, 1)
    assert stopped.status.waiting.reason == "GateErrored"
    assert stopped.status.waiting.until == at(PROBE_SECONDS)
    assert verified(stopped.status) == ("False", "GateErrored")


@BOTH
def test_a_check_that_was_cut_off_is_run_again_at_once(kind: Kind) -> None:
    drained = job(kind.job("lint", 0), over(ended("check", 143), disrupted=True))

    stopped = take(kind, drained, checked(kind.job("signal-0", 0)))

    assert isinstance(stopped, rounds.CannotRun)
    assert (stopped.status.waiting, stopped.status.verification.round) == (None, 1)


@BOTH
@pytest.mark.parametrize(("anew", "outcome"), [(True, rounds.Lost), (False, rounds.CannotRun)])
def test_a_candidate_that_is_not_at_its_ref_is_lost_where_it_can_be_made_anew(
    kind: Kind, anew: bool, outcome: type[object]
) -> None:
    lint, signal = (
        job(kind.job(check, 0), over(failed("checkout", "RefMoved")))
        for check in ("lint", "signal-0")
    )

    assert isinstance(take(kind, lint, signal, anew=anew, candidate=True), outcome)


@BOTH
def test_checks_that_ran_out_of_memory_are_all_run_once_more(kind: Kind) -> None:
    oom = job(kind.job("lint", 0), objects.check_pod(137, reason="OOMKilled"))

    again = take(kind, oom, checked(kind.job("signal-0", 0)))

    assert isinstance(again, rounds.Undecided)
    judged = again.status.verification
    assert (judged.round, judged.passed, judged.out_of_memory) == (1, None, True)


@BOTH
def test_a_check_whose_pod_finds_no_node_says_so_until_one_has_room(kind: Kind) -> None:
    name = kind.job("signal-0", 0)
    words = "0/3 nodes are available: 3 Insufficient memory."

    def looked_at(age: float) -> Any:
        return take(kind, job(name, pod(phase="Pending", age=age, unschedulable=words, node=None)))

    assert looked_at(9).status.waiting is None
    found = looked_at(10).status.waiting
    assert (found.reason, found.needs_person) == ("Unschedulable", False)
    assert found.message == f"no node has room for its pod: {words}"
    placed = take(kind, job(name, pod(phase="Pending", age=20)))
    assert placed.status.waiting is None


@BOTH
def test_a_check_of_which_a_second_pod_runs_has_the_verdict_of_the_first(kind: Kind) -> None:
    lint, passed = kind.job("lint", 0), checked(kind.job("signal-0", 0))
    doubled = job(lint, objects.check_pod(1), another=True)

    waits = take(kind, doubled, passed)

    assert isinstance(waits, rounds.Undecided)
    assert waits.status.verification.abandoned is None
    assert DeleteJobs((doubled,)) in waits.actions
    ends = take(kind, job(lint, objects.check_pod(1), deleting=True), passed)
    undisturbed = take(kind, checked(lint, 1), passed)
    assert ends.status.verification == undisturbed.status.verification


@BOTH
def test_a_check_that_a_second_pod_runs_beside_is_disrupted(kind: Kind) -> None:
    doubled = job(kind.job("lint", 0), pod(objects.running("check")), another=True)

    found = take(kind, doubled, checked(kind.job("signal-0", 0)))

    (abandoned,) = found.status.verification.abandoned
    assert (abandoned.check, abandoned.reason) == ("lint", "Disrupted")
    assert any(a.jobs == (doubled,) for a in found.actions if isinstance(a, DeleteJobs))


@BOTH
def test_a_check_whose_job_was_deleted_and_does_not_go_needs_a_person(kind: Kind) -> None:
    name = kind.job("signal-0", 0)
    held = job(name, deleting=True, deletion=at(-61), finalizers=("foregroundDeletion",))

    found = take(kind, held).status

    assert (found.waiting.reason, found.waiting.needs_person) == ("DeletionHeld", True)
    assert "foregroundDeletion" in found.waiting.message
    placed = take(kind, job(name, pod(phase="Pending", age=20)))
    assert placed.status.waiting is None


@BOTH
def test_there_is_no_verdict_before_jobs_that_nobody_asks_for_any_more_have_ended(
    kind: Kind,
) -> None:
    earlier = kind.job("types", 0)
    at_work = job(earlier, pod(objects.running("check")))
    ending = job(earlier, pod(objects.running("check")), deleting=True)

    first, second = take(kind, *ends(kind), at_work), take(kind, *ends(kind), ending)

    assert isinstance(first, rounds.Undecided)
    assert first.actions == (DeleteJobs((at_work,)),)
    assert isinstance(second, rounds.Undecided)
    assert second.actions == ()
    assert isinstance(take(kind, *ends(kind), checked(earlier)), rounds.Passed)
