"""A required gate that does not pass, and the commit before the work: what was there before?"""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.project import Project
from bernstein.api.task import TaskStatus
from bernstein.core import names
from bernstein.core.actions import RunCheck, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.reasons.limits import MAX_GATE_ERRORS
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification.expected import required
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    HEAD,
    NOW,
    TIP,
    Object,
    checked,
    done,
    job,
    over,
    snapshot,
    verification,
)
from tests.unit.core.verification.comparisons import compared

OWN = {"name": "own", "command": "true", "image": "own:1"}
OFF = {"name": "pii_scan", "enabled": False}
FAST, SLOW = objects.ended("check", 1), objects.ended("check", 1, after=100_000)
"""A command that fails, and one that is not done in its time."""
RED = checked("work-s1-lint-0", 1, said="a.py:1 F401")


def ruled(*pipeline: dict[str, Any], generation: int = 1, **gates: Any) -> Project:
    return objects.project(generation=generation, gates={"pipeline": [*pipeline, OFF], **gates})


def look(status: TaskStatus, *jobs: JobView, of: Project | None = None) -> TaskDecision:
    subject = objects.task(status=status)
    return task_decide.decide(snapshot(subject, jobs=jobs, project=of or objects.project()), NOW)


def asked(decision: TaskDecision) -> list[tuple[str, str | None, bool]]:
    runs = [action for action in decision.actions if isinstance(action, RunCheck)]
    return [(run.job, run.base, run.compares) for run in runs]


def test_the_base_is_asked_only_when_a_required_gate_fails() -> None:
    assert asked(look(done(), checked("work-s1-lint-0"))) == []

    decision = look(done(), RED)

    assert asked(decision) == [("work-s1-lint-0b", BASE, True)]
    assert decision.status.state == "Done"
    optional = ruled({"name": "lint", "required": False})
    assert asked(look(done(), RED, of=optional)) == []


def test_a_signal_that_fails_asks_no_base() -> None:
    signal = {"type": "test_passes", "command": "pytest"}
    subject = objects.task(status=done(), completionSignals=[signal])
    ends = (checked("work-s1-lint-0"), checked("work-s1-signal-0-0", 1))

    decision = task_decide.decide(snapshot(subject, jobs=ends), NOW)

    assert decision.status.state == "Failed"


def test_lint_that_finds_only_what_was_there_before_passes() -> None:
    found = look(done(), RED, compared("work-s1-lint-0b", "Passed", "3 findings")).status

    assert found.verification is not None
    (lint,) = found.verification.checks
    assert (lint.verdict, lint.excerpt) == ("Passed", "3 findings")
    assert found.verification.passed is True


def test_of_lint_the_next_attempt_is_told_the_new_findings_alone() -> None:
    found = look(done(), RED, compared("work-s1-lint-0b", "Failed", "1 new:\nb.py:7 F821")).status

    assert (found.state, found.history[-1].reason) == ("Failed", "GateFailed")
    assert "b.py:7 F821" in (found.feedback or "")
    assert "a.py" not in (found.feedback or "")


@pytest.mark.parametrize("end", [1, 3])
def test_a_gate_that_fails_on_the_base_too_stops_after_one_attempt(end: int) -> None:
    project = ruled(OWN, {"name": "lint", "enabled": False})
    ends = (checked("work-s1-own-0", end), checked("work-s1-own-0b", end))

    assert asked(look(done(), ends[0], of=project)) == [("work-s1-own-0b", BASE, False)]
    found = look(done(), *ends, of=project).status

    assert (found.state, found.attempt, found.gate_errors) == ("Done", 1, 0)
    assert objects.stalled_for(found.conditions) == "BaseFails"
    assert found.verification is not None
    assert [(c.verdict, c.reason) for c in found.verification.checks] == [("Skipped", "BaseFails")]
    assert found.waiting is not None
    assert "'own' fails on the commit before this work, so" in found.waiting.message
    assert "gates.allowBaseFailures" in found.waiting.message
    later = task_decide.decide(
        snapshot(objects.task(status=found), jobs=ends, project=project), objects.at(86400)
    )
    assert (later.actions, later.status) == ((), found), "and is not run again by itself"


def test_a_gate_that_the_base_passes_counts_as_it_is() -> None:
    project = ruled(OWN, {"name": "lint", "enabled": False})

    found = look(done(), checked("work-s1-own-0", 1), checked("work-s1-own-0b"), of=project).status

    assert (found.state, found.history[-1].reason) == ("Failed", "GateFailed")


def test_the_project_may_excuse_what_the_base_fails() -> None:
    off = {"name": "lint", "enabled": False}
    kind, ends = ruled(OWN, off), (checked("work-s1-own-0", 1), checked("work-s1-own-0b", 1))
    stalled = look(done(), *ends, of=kind).status

    kinder = ruled(OWN, off, generation=2, allowBaseFailures=True)
    again = look(stalled, of=kinder)
    assert asked(again) == [("work-s1-own-1", None, False)], "a change of the Project is noticed"
    ends = (checked("work-s1-own-1", 1), checked("work-s1-own-1b", 1))
    found = look(again.status, *ends, of=kinder).status

    assert found.verification is not None
    assert found.verification.passed is True
    (own,) = found.verification.checks
    assert (own.verdict, own.reason, own.excused) == ("Skipped", "BaseFails", True)


def test_only_what_the_plan_started_from_excuses() -> None:
    """What agents have landed since excuses nobody: one would make the gate fail for all."""
    off, later = {"name": "lint", "enabled": False}, done(verification=verification(base=TIP))
    red = checked("work-s1-own-0", 1)

    strict, kind = ruled(OWN, off), ruled(OWN, off, allowBaseFailures=True)

    assert asked(look(later, red, of=strict)) == [("work-s1-own-0b", TIP, False)]
    assert asked(look(later, red, of=kind)) == [("work-s1-own-0b", BASE, False)]

    compares = {"name": "benchmark"}
    broken = compared("work-s1-benchmark-0", "Skipped")
    strict, kind = ruled(compares, off), ruled(compares, off, allowBaseFailures=True)

    assert asked(look(later, broken, of=strict)) == []
    on_start = ("work-s1-benchmark-0b", BASE, True)
    assert asked(look(later, broken, of=kind)) == [on_start]
    assert asked(look(done(), broken, of=kind)) == [], "that was compared with it already"


@pytest.mark.parametrize(
    ("work", "before", "state"),
    [
        (SLOW, FAST, "Failed"),
        (FAST, SLOW, "BaseFails"),
        (SLOW, SLOW, "passed"),
        (FAST, FAST, "passed"),
    ],
)
def test_what_fails_in_another_way_is_not_excused(work: Object, before: Object, state: str) -> None:
    kind = ruled(OWN, {"name": "lint", "enabled": False}, allowBaseFailures=True)
    ends = (job("work-s1-own-0", over(work)), job("work-s1-own-0b", over(before)))

    found = look(done(), *ends, of=kind).status

    assert found.verification is not None
    waits = found.waiting.reason if found.waiting is not None else None
    passed = "passed" if found.verification.passed else None
    assert (passed or (waits if found.state == "Done" else found.state)) == state


KILLED = objects.ended("check", 137, reason="OOMKilled")
OF_THE_BASE: dict[str, tuple[str, Object, tuple[str, str]]] = {
    "a gate without memory": ("own", over(KILLED), ("Errored", "OutOfMemory")),
    "a gate without room": (
        "own",
        over(objects.ended("check", 137), reason="Evicted"),
        ("Errored", "ResourceLimit"),
    ),
    "a slow gate": ("own", over(SLOW), ("Skipped", "BaseFails")),
    "a list without memory": (
        "lint",
        over(objects.ended("list-before", 137, reason="OOMKilled"), objects.waiting("check")),
        ("Errored", "OutOfMemory"),
    ),
    "a slow list": (
        "lint",
        over(
            objects.ended("list-before", 137, after=100_000),
            objects.waiting("check"),
            reason="DeadlineExceeded",
        ),
        ("Skipped", "BaseFails"),
    ),
}


@pytest.mark.parametrize("end", OF_THE_BASE)
def test_what_a_run_on_the_base_takes_is_never_the_works_to_answer_for(end: str) -> None:
    gate, pod, expected = OF_THE_BASE[end]
    project = ruled(OWN, {"name": "lint", "enabled": False}) if gate == "own" else None
    on_base = job(f"work-s1-{gate}-0b", pod)

    found = look(done(), checked(f"work-s1-{gate}-0", 1), on_base, of=project).status

    assert (found.state, found.attempt) == ("Done", 1)
    assert found.verification is not None
    assert [(c.verdict, c.reason) for c in found.verification.checks] == [expected]


def test_a_list_of_the_work_that_takes_too_long_leaves_its_verdict_as_it_is() -> None:
    begun = (objects.ended("checkout"), objects.ended("list-before"))
    slow = over(
        *begun,
        objects.ended("list-head", 137, after=100_000),
        objects.waiting("check"),
        reason="DeadlineExceeded",
    )

    assert look(done(), RED, job("work-s1-lint-0b", slow)).status.state == "Failed"


def test_what_excuses_is_part_of_the_question() -> None:
    """A verdict that was given under one rule is none under the other."""
    off = {"name": "lint", "enabled": False}
    assert objects.asked("own", ruled(OWN, off)) != objects.asked(
        "own", ruled(OWN, off, allowBaseFailures=True)
    )


@pytest.mark.parametrize("compares", [True, False])
def test_a_base_that_cannot_be_judged_is_asked_again_at_no_cost(compares: bool) -> None:
    gate = "lint" if compares else "own"
    project = ruled(OWN, {"name": "lint", "enabled": compares}) if not compares else None
    drained = job(f"work-s1-{gate}-0b", over(objects.ended("check", 143), disrupted=True))

    found = look(done(), checked(f"work-s1-{gate}-0", 1), drained, of=project).status

    assert (found.state, found.attempt, found.gate_errors) == ("Done", 1, 1)
    assert found.gate_errors <= MAX_GATE_ERRORS


def test_a_base_that_lacks_the_command_excuses_nothing() -> None:
    project = ruled(OWN, {"name": "lint", "enabled": False})
    ends = (checked("work-s1-own-0", 1), checked("work-s1-own-0b", 127))

    assert look(done(), *ends, of=project).status.state == "Failed"


def test_a_linter_that_ends_with_an_error_on_both_trees_cannot_compare() -> None:
    found = look(done(), RED, compared("work-s1-lint-0b", "Skipped")).status

    assert objects.stalled_for(found.conditions) == "BaseFails"


def test_words_that_nobody_can_read_leave_the_verdict_as_it_is() -> None:
    nonsense = job("work-s1-lint-0b", over(objects.ended("check", said="{")))

    assert look(done(), RED, nonsense).status.state == "Failed"


def test_a_linter_of_the_projects_own_lists_no_findings() -> None:
    own = required.required_checks(
        (), ruled({"name": "lint", "command": "flake8"}).spec, objects.EVERYTHING
    )

    assert own[0].findings is None


def test_in_turn_the_base_is_asked_before_the_next_gate() -> None:
    project = ruled({"name": "lint"}, OWN, execution="Sequential")

    assert asked(look(done(), RED, of=project)) == [("work-s1-lint-0b", BASE, True)]
    went_on = look(done(), RED, compared("work-s1-lint-0b", "Passed"), of=project)
    assert asked(went_on) == [("work-s1-own-0", None, False)]


def test_a_job_on_the_base_has_a_name_that_no_gate_has() -> None:
    assert names.on_base("lint") == "lint.base"
    decision = look(done(), RED)
    assert [run.sha for run in decision.actions if isinstance(run, RunCheck)] == [HEAD]
