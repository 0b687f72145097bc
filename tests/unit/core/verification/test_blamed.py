"""A check that could not judge, again and again: is it the work that keeps it from judging?"""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.encoding import dump
from bernstein.api.pod import CheckVerdict, InspectResult
from bernstein.api.project import Project
from bernstein.api.task import TaskStatus
from bernstein.core import names
from bernstein.core.actions import RunCheck, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.tasks import decide as task_decide
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    checked,
    done,
    ended,
    failed,
    job,
    over,
    snapshot,
    waiting,
)

OFF = ({"name": "pii_scan", "enabled": False}, {"name": "lint", "enabled": False})
OWN = {"name": "own", "command": "make test"}
TEST = {"type": "test_passes", "command": "pytest -q"}
ABSENT = checked("work-s1-own-0", 127, said="conftest.py said so")


def project(*pipeline: dict[str, Any], **gates: Any) -> Project:
    return objects.project(gates={"pipeline": [*pipeline, *OFF], **gates})


def look(
    status: TaskStatus, *jobs: JobView, of: Project | None = None, after: float = 0, **spec: Any
) -> TaskDecision:
    subject = snapshot(objects.task(status=status, **spec), jobs=jobs, project=of or project(OWN))
    return task_decide.decide(subject, objects.at(after))


def held() -> TaskStatus:
    """After the first time."""
    found = look(done(), ABSENT)
    assert found.actions
    assert (found.status.state, found.status.attempt) == ("Done", 1)
    return found.status


def asked(decision: TaskDecision) -> list[tuple[str, str | None, bool]]:
    runs = [action for action in decision.actions if isinstance(action, RunCheck)]
    return [(run.job, run.base, run.compares) for run in runs]


def again(*ends: JobView, **more: Any) -> TaskDecision:
    return look(held(), *ends, after=PROBE_SECONDS, **more)


def test_a_command_that_is_not_found_is_no_fault_of_the_work_the_first_time() -> None:
    found = look(done(), ABSENT)

    assert asked(found) == []
    assert objects.stalled_for(found.status.conditions) == "GateErrored"


def test_the_second_time_the_base_is_asked_for_the_command() -> None:
    assert asked(again()) == [("work-s1-own-1", None, False)]

    found = again(checked("work-s1-own-1", 127))

    assert asked(found) == [("work-s1-own-1b", BASE, False)]
    assert found.status.gate_errors == 1


@pytest.mark.parametrize("code", [0, 1, 2])
def test_where_the_base_finds_the_command_its_end_is_the_works_doing(code: int) -> None:
    found = again(checked("work-s1-own-1", 127), checked("work-s1-own-1b", code)).status

    assert (found.state, found.history[-1].reason) == ("Failed", "GateFailed")
    assert found.verification is not None
    (own,) = found.verification.checks
    assert (own.verdict, own.reason) == ("Failed", "ExitCode")
    assert "on the commit before this work: the command was not found" in own.excerpt
    assert "not found" in (found.feedback or "")


def test_where_the_base_does_not_find_it_either_it_costs_no_attempt() -> None:
    found = again(checked("work-s1-own-1", 127), checked("work-s1-own-1b", 127)).status

    assert (found.state, found.attempt, found.gate_errors) == ("Done", 1, 2)
    assert objects.stalled_for(found.conditions) == "GateErrored"


def test_a_base_that_cannot_be_asked_decides_nothing() -> None:
    drained = job("work-s1-own-1b", over(ended("check", 143), disrupted=True))

    found = again(checked("work-s1-own-1", 127), drained).status

    assert (found.state, found.attempt) == ("Done", 1)


@pytest.mark.parametrize(
    "end",
    [
        over(ended("check", 137, reason="OOMKilled")),
        over(failed("checkout", "InternalError"), waiting("check")),
    ],
    ids=["out of memory", "broken"],
)
def test_what_the_base_takes_is_never_the_works_doing(end: dict[str, Any]) -> None:
    found = again(checked("work-s1-own-1", 127), job("work-s1-own-1b", end)).status

    assert (found.state, found.attempt) == ("Done", 1)
    assert found.waiting is not None
    assert found.waiting.reason == "GateErrored"


DRAINED = over(ended("check", 143), disrupted=True)


def test_a_command_is_not_found_for_the_first_time_after_its_pod_was_drained_too() -> None:
    first = look(done(), job("work-s1-own-0", DRAINED)).status

    found = look(first, checked("work-s1-own-1", 127))

    assert asked(found) == []
    assert (found.status.state, found.status.attempt) == ("Done", 1)
    assert objects.stalled_for(found.status.conditions) == "GateErrored"
    second = look(found.status, checked("work-s1-own-2", 127), after=PROBE_SECONDS)
    assert asked(second) == [("work-s1-own-2b", BASE, False)]


def test_that_it_was_not_found_is_known_though_its_pod_was_drained_meanwhile() -> None:
    drained = again(job("work-s1-own-1", DRAINED)).status

    found = look(drained, checked("work-s1-own-2", 127), after=2 * PROBE_SECONDS)

    assert asked(found) == [("work-s1-own-2b", BASE, False)]


def test_that_it_was_not_found_is_known_while_the_base_cannot_be_asked() -> None:
    unasked = again(checked("work-s1-own-1", 127), job("work-s1-own-1b", DRAINED)).status

    found = look(unasked, checked("work-s1-own-2", 127), after=2 * PROBE_SECONDS)

    assert asked(found) == [("work-s1-own-2b", BASE, False)]


def test_a_signal_whose_command_is_not_found_twice_asks_the_base_too() -> None:
    nothing = project({"name": "own", "command": "true", "enabled": False})
    more: dict[str, Any] = {"of": nothing, "completionSignals": [TEST]}
    first = look(done(), checked("work-s1-signal-0-0", 127), **more).status
    second = checked("work-s1-signal-0-1", 127)

    found = look(first, second, after=PROBE_SECONDS, **more)

    assert asked(found) == [("work-s1-signal-0-1b", BASE, False)]
    no_tests = checked("work-s1-signal-0-1b", 4)
    blamed = look(found.status, second, no_tests, after=PROBE_SECONDS, **more).status
    assert (blamed.state, blamed.history[-1].reason) == ("Failed", "SignalFailed")


def test_an_optional_gate_asks_no_base() -> None:
    of = project(OWN | {"required": False})

    assert look(done(), ABSENT, of=of).status.verification.passed is True  # type: ignore[union-attr]


BROKEN = ended("inspect", 137, reason="OOMKilled")
SLOW = dump(InspectResult((CheckVerdict("pii_scan", "Errored", "TooSlow", "took over 120 s"),)))
PII = {"name": "pii_scan", "condition": "always"}
SCANS: dict[str, Any] = {"of": objects.project(gates={"pipeline": [PII, OFF[1]]})}


@pytest.mark.parametrize(
    "end",
    [over(ended("checkout"), BROKEN), over(ended("inspect", said=SLOW))],
    ids=["dies", "slow"],
)
def test_what_breaks_our_reader_counts_from_the_second_time_on(end: dict[str, Any]) -> None:
    first = look(done(), job("work-s1-inspect-0", end), **SCANS).status
    assert (first.state, first.attempt, first.gate_errors) == ("Done", 1, 1)

    second = look(first, job("work-s1-inspect-1", end), after=PROBE_SECONDS, **SCANS).status

    assert (second.state, second.history[-1].reason) == ("Failed", "GateFailed")
    assert second.verification is not None
    assert [c.reason for c in second.verification.checks] == ["Unreadable"]


def test_a_reader_that_is_drained_again_and_again_costs_nothing() -> None:
    drained = over(ended("checkout"), BROKEN, disrupted=True)
    first = look(done(), job("work-s1-inspect-0", drained), **SCANS).status

    second = look(first, job("work-s1-inspect-1", drained), after=PROBE_SECONDS, **SCANS).status

    assert (second.state, second.attempt) == ("Done", 1)


LINTERS = ["lint", "type_check"]
DIES = over(ended("checkout"), ended("check", 137))
SAYS_NOTHING = over(ended("checkout"), failed("check", "InternalError"))


def compared_twice(linter: str, end: dict[str, Any]) -> TaskStatus:
    """The Task after the program that compares what the linter finds has ended so for the second
    time; the linter itself has found something in the work."""
    others = [gate for gate in OFF if gate["name"] != linter]
    of = objects.project(gates={"pipeline": [{"name": linter, "condition": "always"}, *others]})
    red = checked(names.session_job("work-s1", linter, 0), 1, said="a.py:1 F401")
    called, status = names.on_base(linter), done()
    for number in range(2):
        again = names.session_job("work-s1", called, number)
        assert asked(look(status, red, of=of, after=number * PROBE_SECONDS)) == [
            (again, BASE, True)
        ]
        ends = (red, job(again, end))
        status = look(status, *ends, of=of, after=number * PROBE_SECONDS).status
        if number == 0:
            assert (status.state, status.attempt, status.gate_errors) == ("Done", 1, 1)
    return status


@pytest.mark.parametrize("linter", LINTERS)
@pytest.mark.parametrize("end", [DIES, SAYS_NOTHING], ids=["dies", "breaks"])
def test_what_breaks_the_comparison_of_a_linter_counts_from_the_second_time_on(
    linter: str, end: dict[str, Any]
) -> None:
    found = compared_twice(linter, end)

    assert (found.state, found.history[-1].reason) == ("Failed", "GateFailed")
    assert found.verification is not None
    (result,) = found.verification.checks
    assert (result.name, result.verdict, result.reason) == (linter, "Failed", "Unreadable")
    assert "for the second time" in (found.feedback or "")


@pytest.mark.parametrize("linter", LINTERS)
def test_a_comparison_of_a_linter_that_is_drained_again_and_again_costs_nothing(
    linter: str,
) -> None:
    found = compared_twice(linter, over(ended("checkout"), ended("check", 137), disrupted=True))

    assert (found.state, found.attempt) == ("Done", 1)


def test_a_reader_that_dies_for_the_first_time_after_it_was_drained_costs_nothing() -> None:
    drained = over(ended("checkout"), BROKEN, disrupted=True)
    first = look(done(), job("work-s1-inspect-0", drained), **SCANS).status
    dies = over(ended("checkout"), BROKEN)

    second = look(first, job("work-s1-inspect-1", dies), **SCANS).status
    assert (second.state, second.attempt, second.gate_errors) == ("Done", 1, 2)

    third = look(second, job("work-s1-inspect-2", dies), after=PROBE_SECONDS, **SCANS).status
    assert (third.state, third.history[-1].reason) == ("Failed", "GateFailed")


def test_what_breaks_our_comparison_counts_from_the_second_time_on() -> None:
    of = objects.project(gates={"pipeline": [OFF[0], {"name": "lint", "condition": "always"}]})
    red = checked("work-s1-lint-0", 1, said="E501")

    def broken(name: str) -> JobView:
        return job(name, over(ended("checkout"), failed("check", "InternalError")))

    first = look(done(), red, broken("work-s1-lint-0b"), of=of).status
    assert (first.state, first.attempt) == ("Done", 1)

    second = look(first, red, broken("work-s1-lint-1b"), of=of, after=PROBE_SECONDS).status

    assert (second.state, second.history[-1].reason) == ("Failed", "GateFailed")
    assert second.verification is not None
    assert [c.reason for c in second.verification.checks] == ["Unreadable"]


def test_work_that_ends_what_lists_it_fails_where_the_base_is_listed() -> None:
    of = project({"name": "coverage_delta", "condition": "always"})
    listed = (ended("checkout"), ended("list-before"), ended("list-head", 1))

    found = look(done(), job("work-s1-coverage-delta-0u14", over(*listed)), of=of).status

    assert found.verification is not None
    assert [(c.verdict, c.reason) for c in found.verification.checks] == [("Failed", "ExitCode")]
