"""Which checks have no verdict yet is said where that takes long, and seldom written."""

from __future__ import annotations

from typing import Any

from bernstein.api.signals import Signal
from bernstein.api.verification import Outstanding, Verification
from bernstein.checks.spec import Subject
from bernstein.core import progress
from bernstein.core.jobs import JobView
from bernstein.core.verification import round as rounds
from bernstein.core.verification.expected.required import required_checks
from bernstein.core.verification.look import Question
from tests.unit.core import objects
from tests.unit.core.objects import at, checked, job, pod, project, running, verification
from tests.unit.core.verification.kinds import BOTH, PLAN, TASK, Kind

NAMES = ("signal-0", "signal-1", "lint", "inspect")
COMMANDS = ("make test", "make slow")
CHECKS = required_checks(
    [Signal.model_validate({"type": "test_passes", "command": each}) for each in COMMANDS],
    project().spec,
    Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True),
)


def look(kind: Kind, *ended: str, now: float, before: Outstanding | None = None) -> Any:
    """One look at Jobs that were made at 0, of which these have ended."""

    def view(name: str) -> JobView:
        called = kind.job(name, 0)
        if name in ended:
            return checked(called)
        return job(called, pod(running("check")), age=0)

    question = Question(
        job=kind.job, checks=CHECKS, project=project(), pinned_sha=objects.BASE, onto="main"
    )
    jobs = {each.name: each for each in map(view, NAMES)}
    status = kind.status(verification(outstanding=before))
    return rounds.take(status, question, jobs, at(now)).status


def told(status: Any) -> str:
    judged: Verification = status.verification
    return judged.outstanding.checks if judged.outstanding is not None else ""


@BOTH
def test_what_takes_long_is_named(kind: Kind) -> None:
    found = look(kind, "lint", now=25)

    assert found.verification.outstanding.told == at(25)
    assert told(found) == "test_passes: make test, test_passes: make slow"


@BOTH
def test_a_round_of_seconds_is_written_of_once_at_its_end(kind: Kind) -> None:
    assert look(kind, now=15).verification.outstanding is None


@BOTH
def test_a_verdict_is_no_reason_to_write_it_is_told_with_the_next_minute(kind: Kind) -> None:
    first = look(kind, now=25).verification.outstanding
    soon = look(kind, "signal-0", now=60, before=first)
    later = look(kind, "signal-0", now=90, before=first)
    same = look(kind, now=300, before=first)

    assert soon.verification.outstanding == first
    assert told(later) == "test_passes: make slow, lint"
    assert same.verification.outstanding == first, "nothing has changed"


def test_how_many_there_are_and_how_they_are_called_makes_it_no_longer() -> None:
    hostile = Outstanding(checks="x" * 300, told=at(0))
    found = objects.done(verification=verification(outstanding=hostile))

    said = progress.of_task(objects.task(status=found), found, at(0)).conditions

    assert all(len(condition.message) < 400 for condition in said)


def test_a_task_and_a_plan_say_which() -> None:
    out = Outstanding(checks="`make slow`", told=at(25))
    task = TASK.status(verification(outstanding=out))
    plan = PLAN.status(verification(outstanding=out)).model_copy(update={"phase": "Delivering"})

    found = progress.of_task(objects.task(status=task), task, at(25)).conditions
    of_plan = progress.of_plan(objects.plan(status=plan), plan, at(25)).conditions

    said = "what was done is judged by the checks; still out: `make slow`"
    assert [c.message for c in (*found, *of_plan) if c.type == "Reconciling"] == [said, said]


def test_a_round_that_is_over_has_none_left() -> None:
    before = Outstanding(checks="`make slow`", told=at(0))
    out = verification(outstanding=before)

    assert rounds.next_round(out).outstanding is None
    found = look(TASK, *NAMES, now=90, before=before)
    assert found.verification.outstanding is None
