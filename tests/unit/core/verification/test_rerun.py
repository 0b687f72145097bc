"""After a check could not run: what is run again, and what stays as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.verification import AbandonedCheck, CheckResult
from bernstein.checks.spec import CheckSpec
from bernstein.core import jobs as job_views
from bernstein.core.actions import RunFence
from bernstein.core.jobs import JobView
from bernstein.core.reasons.limits import MAX_ROUNDS
from bernstein.core.reasons.waits import PROBE_SECONDS, SOON_SECONDS
from bernstein.core.verification import executed, verdicts
from bernstein.core.verification import round as rounds
from bernstein.core.waiting import parted
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, checked, failed, job, over, pod, waiting
from tests.unit.core.verification.comparisons import compared
from tests.unit.core.verification.kinds import (
    BOTH,
    OTHER,
    READS,
    SIGNAL,
    TASK,
    Kind,
    Rounds,
    asked,
    at_work,
    cannot_run,
    cut_short,
    ended_early,
    without_image,
)

SOON = at(SOON_SECONDS + 1)


@BOTH
def test_only_the_check_that_could_not_run_is_run_again(kind: Kind) -> None:
    tree = Rounds(kind)
    passed = checked(tree.name("signal-0"))

    assert isinstance(cannot_run(tree, passed), rounds.CannotRun)
    again = tree.look(passed, cut_short(tree.name("lint")), now=SOON)

    assert isinstance(again, rounds.Undecided)
    assert asked(again) == [tree.name("lint", 1)]


@BOTH
def test_all_verdicts_of_several_rounds_let_the_tree_on_as_those_of_one(kind: Kind) -> None:
    several, one = Rounds(kind), Rounds(kind)
    cannot_run(several, checked(several.name("signal-0")))

    ended = several.look(checked(several.name("lint", 1)), now=SOON)
    at_once = one.look(checked(one.name("lint")), checked(one.name("signal-0")))

    assert isinstance(ended, rounds.Passed)
    assert isinstance(at_once, rounds.Passed)
    assert several.status.verification.digest == one.status.verification.digest
    assert several.status.verification.policy == one.status.verification.policy
    assert several.status.verification.checks == one.status.verification.checks


@BOTH
def test_a_check_at_work_goes_on_while_another_cannot_run(kind: Kind) -> None:
    tree = Rounds(kind)
    works = at_work(tree.name("signal-0"))

    stopped = cannot_run(tree, works)
    again = tree.look(works, now=SOON)

    assert isinstance(stopped, rounds.CannotRun)
    assert tree.name("signal-0") not in ended_early(stopped) | ended_early(again)
    assert asked(again) == [tree.name("lint", 1)]
    ended = tree.look(checked(tree.name("signal-0")), checked(tree.name("lint", 1)), now=SOON)
    assert isinstance(ended, rounds.Passed)


def test_what_has_said_no_meanwhile_rejects_as_soon_as_all_have_ended() -> None:
    tree = Rounds(TASK, SIGNAL, OTHER)
    works = at_work(tree.name("signal-1"))
    assert isinstance(cannot_run(tree, checked(tree.name("signal-0"), 1), works), rounds.CannotRun)

    other = tree.look(checked(tree.name("lint", 1)), works, now=SOON)
    ended = tree.look(checked(tree.name("lint", 1)), checked(tree.name("signal-1")), now=SOON)

    assert isinstance(other, rounds.Undecided)
    assert isinstance(ended, rounds.Rejected)
    assert tree.verdicts() == {"signal-0": "Failed", "signal-1": "Passed", "lint": "Passed"}


def test_a_verdict_stays_when_its_job_is_gone_long_since() -> None:
    tree = Rounds()
    cannot_run(tree, checked(tree.name("signal-0")))

    hours = at(7200)
    again = tree.look(now=hours)
    assert asked(again) == [tree.name("lint", 1)]
    assert isinstance(tree.look(checked(tree.name("lint", 1)), now=hours), rounds.Passed)


def test_each_further_try_is_one_job() -> None:
    tree = Rounds()
    passed, now = checked(tree.name("signal-0")), 0.0
    cannot_run(tree, passed)

    for number in range(1, 6):
        now += SOON_SECONDS + 1
        tried = tree.look(passed, now=at(now))
        assert asked(tried) == [tree.name("lint", number)]
        name = tree.name("lint", number)
        tree.look(passed, without_image(name), now=at(now))
        assert isinstance(tree.look(passed, cut_short(name), now=at(now)), rounds.CannotRun)


@BOTH
@pytest.mark.parametrize("reason", ["RepositoryUnreachable", "RepositoryAuthFailed"])
def test_a_repository_that_is_away_for_long_uses_up_no_tries(kind: Kind, reason: str) -> None:
    tree, now = Rounds(kind), 0.0
    passed = checked(tree.name("signal-0"))

    for number in range(MAX_ROUNDS + 1):
        cut_off = job(tree.name("lint", number), over(failed("checkout", reason)))
        assert isinstance(tree.look(passed, cut_off, now=at(now)), rounds.CannotRun)
        now += PROBE_SECONDS + 1
        assert asked(tree.look(passed, now=at(now))) == [tree.name("lint", number + 1)]

    assert tree.status.gate_errors == 0


def test_what_is_asked_otherwise_is_all_asked_anew() -> None:
    tree = Rounds()
    cannot_run(tree, checked(tree.name("signal-0")))

    tree.project = objects.project(generation=2, toolchain={"image": "toolchain:2"})
    tree.look(now=SOON)
    again = tree.look(now=SOON)

    assert tree.status.verification.checks == ()
    assert asked(again) == [tree.name("signal-0", 2), tree.name("lint", 2)]


def test_a_project_that_changed_elsewhere_runs_again_only_what_could_not_run() -> None:
    tree = Rounds()
    cannot_run(tree, checked(tree.name("signal-0")))

    tree.project = objects.project(generation=2, pods={"imagePullSecrets": ["registry"]})

    assert asked(tree.look(now=NOW)) == [tree.name("lint", 1)]


def test_where_one_ran_out_of_memory_all_are_run_once_more() -> None:
    tree = Rounds(TASK, SIGNAL, OTHER)
    killed = job(tree.name("signal-0"), objects.check_pod(137, reason="OOMKilled"))
    cannot_run(tree, killed, at_work(tree.name("signal-1")))

    tree.look(checked(tree.name("lint", 1)), checked(tree.name("signal-1")), now=SOON)
    again = tree.look(now=SOON)

    names_ = ("signal-0", "signal-1", "lint")
    assert asked(again) == [tree.name(name, 2) for name in names_]


def test_a_check_that_is_ended_for_its_slowness_timed_out_though_another_cannot_run() -> None:
    tree = Rounds()
    slow = replace(at_work(tree.name("signal-0")), running_since=at(-1000))
    tree.look(without_image(tree.name("lint")))
    stopped = tree.look(cut_short(tree.name("lint")), slow)
    assert tree.name("signal-0") in ended_early(stopped)
    assert [a.check for a in tree.status.verification.abandoned] == ["signal-0"]

    ended = over(objects.ended("checkout"), objects.ended("check", 0, after=1000), deleting=True)
    tree.look(job(tree.name("signal-0"), ended), checked(tree.name("lint", 1)), now=SOON)

    assert tree.verdicts() == {"signal-0": "TimedOut", "lint": "Passed"}


def test_a_gate_that_failed_is_not_run_again_where_only_the_base_could_not_be_asked() -> None:
    tree = Rounds()
    red, passed = checked(tree.name("lint"), 1, said="a.py:1 F401"), checked(tree.name("signal-0"))
    tree.look(red, passed)
    assert isinstance(cannot_run(tree, red, passed, check="lint.base"), rounds.CannotRun)

    again = tree.look(red, passed, now=SOON)

    assert asked(again) == [tree.name("lint.base", 1)]
    only_old = compared(tree.name("lint.base", 1), "Passed", "3 findings")
    assert isinstance(tree.look(red, passed, only_old, now=SOON), rounds.Passed)


def test_checks_that_only_read_are_read_again_together() -> None:
    tree = Rounds(TASK, READS, SIGNAL)
    reads = tree.name("inspect")
    passed = checked(tree.name("lint")), checked(tree.name("signal-1"))
    none = job(reads, pod(waiting("inspect", "ErrImagePull", "not found"), age=30))
    tree.look(none, *passed)
    stopped = tree.look(job(reads, pod(waiting("inspect"), deleting=True, node=None)), *passed)
    assert isinstance(stopped, rounds.CannotRun)

    again = tree.look(*passed, now=SOON)

    assert asked(again) == [tree.name("inspect", 1)]


def test_jobs_that_were_asked_for_beside_a_refused_one_keep_their_names() -> None:
    """Those made before the refusal are there, and no cache shows them yet."""
    tree = Rounds()
    tree.look(job_views.refusal(tree.name("lint"), "quota exceeded", NOW))

    again = tree.look(at_work(tree.name("signal-0")), now=SOON)

    assert asked(again) == [tree.name("lint", 1)]
    assert ended_early(again) == set()


def test_a_job_refused_for_what_a_webhook_adds_is_told_with_the_fields_and_the_remedy() -> None:
    tree, passed = Rounds(), checked(Rounds().name("signal-0"))
    words = (
        "ValidatingAdmissionPolicy 'bernstein-operator' with binding 'bernstein-operator' denied "
        "request: Bernstein's operator makes Jobs with fields of pods that it sets itself only, "
        "not with: tolerations. The value admissionPolicies.podFields of its chart may allow: "
        "affinity"
    )

    tree.look(job_views.refusal(tree.name("lint"), words, NOW), passed)

    waits = tree.status.waiting
    assert waits.reason == "GateErrored"
    assert waits.needs_person
    assert "PodRejected" in waits.message
    assert "not with: tolerations" in waits.message
    assert "Remedy: spec.pods of the Project sets these fields, or else a webhook" in waits.message
    assert tree.look(passed, now=NOW).requeue_after == SOON_SECONDS
    assert tree.status.gate_errors == 0


def test_gates_in_turn_go_on_after_the_one_that_could_not_run() -> None:
    own = {"name": "own", "command": "true", "image": "own:1"}
    gates = {"execution": "Sequential", "pipeline": [{"name": "pii_scan", "enabled": False}, own]}
    tree = Rounds(of=objects.project(gates=gates))
    passed = checked(tree.name("signal-0"))
    cannot_run(tree, passed)
    assert "own" not in tree.verdicts() or tree.verdicts()["own"] == "Skipped"

    assert asked(tree.look(passed, now=SOON)) == [tree.name("lint", 1)]
    then = tree.look(passed, checked(tree.name("lint", 1)), now=SOON)

    assert asked(then) == [tree.name("own")]


def test_what_is_known_so_far_is_shown_with_what_could_not_run() -> None:
    tree = Rounds()

    cannot_run(tree, checked(tree.name("signal-0")))

    assert tree.verdicts() == {"signal-0": "Passed", "lint": "Errored"}


def test_a_cancel_fences_what_may_still_be_made_while_one_waits_to_be_tried_again() -> None:
    tree = Rounds()
    tree.look(job_views.refusal(tree.name("lint"), "quota exceeded", NOW))

    fences = rounds.unseen(tree.status, tree.question(), {}, NOW)

    assert fences == (RunFence(tree.name("signal-0")),)


def test_what_an_older_release_judges_again_is_all_run_again() -> None:
    judged = objects.verification(round=3, checks=[objects.gate("lint")])
    tree = Rounds()
    tree.status = objects.done(verification=judged)

    assert asked(tree.look()) == [tree.name("signal-0", 3), tree.name("lint", 3)]


def test_the_end_of_each_command_is_worked_out_once_a_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def counting(check: CheckSpec, *rest: Any) -> CheckResult:
        read.append(check.name)
        return executed.executed(check, *rest)

    monkeypatch.setattr(verdicts, "executed", counting)
    tree = Rounds()

    tree.look(checked(tree.name("signal-0")), checked(tree.name("lint"), 1))

    assert sorted(read) == ["lint", "signal-0"]


def test_of_another_check_that_is_given_up_the_reason_stays() -> None:
    judged = objects.verification(
        abandoned=[
            AbandonedCheck(check="lint", reason="ImagePullFailed", message="x"),
            AbandonedCheck(check="signal-0", reason="Timeout", message="y"),
        ]
    )
    tree = Rounds()
    tree.status = objects.done(verification=judged)
    ending = job(tree.name("signal-0"), pod(objects.running("check"), deleting=60))

    tree.look(cut_short(tree.name("lint")), ending)

    assert [a.check for a in tree.status.verification.abandoned] == ["signal-0"]


# --- while it is tried again ----------------------------------------------------------------------


def stands_still(tree: Rounds) -> tuple[str, bool] | None:
    waits = tree.status.waiting
    return None if waits is None else (waits.reason, waits.needs_person)


def lacking_image(kind: Kind = TASK) -> tuple[Rounds, JobView]:
    """A tree whose check waits for an image, and the Job of the other one, which has passed."""
    tree = Rounds(kind)
    passed = checked(tree.name("signal-0"))
    cannot_run(tree, passed)
    return tree, passed


STANDS = ("GateErrored", True)


@BOTH
def test_a_check_that_waits_for_its_image_says_so_while_that_is_tried_again(kind: Kind) -> None:
    tree, passed = lacking_image(kind)

    for number in (1, 2):
        name, now = tree.name("lint", number), at(number * (SOON_SECONDS + 1))
        jobs: tuple[JobView, ...]
        for jobs in ((), (job(name),), (without_image(name),), (cut_short(name),)):
            assert stands_still(tree) == STANDS
            tree.look(passed, *jobs, now=now)

    assert stands_still(tree) == STANDS
    assert tree.status.verification.round == 3


@BOTH
def test_it_says_so_no_more_once_the_pod_has_begun(kind: Kind) -> None:
    tree, passed = lacking_image(kind)
    name = tree.name("lint", 1)
    tree.look(passed, now=SOON)
    assert stands_still(tree) == STANDS

    tree.look(passed, at_work(name), now=SOON)

    assert stands_still(tree) is None


@BOTH
def test_a_check_that_is_done_before_anybody_looks_leaves_nothing_that_it_waits_for(
    kind: Kind,
) -> None:
    tree, passed = lacking_image(kind)
    tree.look(passed, now=SOON)

    done = tree.look(passed, checked(tree.name("lint", 1)), now=SOON)

    assert isinstance(done, rounds.Passed)
    assert stands_still(tree) is None


@BOTH
def test_a_project_that_has_changed_may_have_mended_it(kind: Kind) -> None:
    tree, passed = lacking_image(kind)
    tree.look(passed, now=SOON)
    tree.project = objects.project(generation=2)

    tree.look(passed, now=SOON)

    assert stands_still(tree) is None


@BOTH
def test_jobs_that_are_tried_again_may_still_come_and_are_fenced(kind: Kind) -> None:
    tree, passed = lacking_image(kind)
    jobs = {passed.name: passed}
    assert rounds.unseen(tree.status, tree.question(), jobs, NOW) == ()

    tree.look(passed, now=SOON)

    fences = rounds.unseen(tree.status, tree.question(), jobs, SOON)
    assert fences == (RunFence(tree.name("lint", 1)),)


@BOTH
def test_what_helps_names_the_image_and_where_it_is_named(kind: Kind) -> None:
    tree = Rounds(kind)
    image = tree.project.spec.toolchain.image
    stuck = waiting("check", "ErrImagePull", "not found") | {"image": image}
    tree.look(job(tree.name("lint"), pod(stuck, age=30)))
    tree.look(cut_short(tree.name("lint")))

    cause, remedy = parted(tree.status.waiting.message)

    assert "ImagePullFailed" in cause
    assert remedy is not None
    assert "toolchain.image" in remedy
