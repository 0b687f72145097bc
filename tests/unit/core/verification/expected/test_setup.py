"""What a Project runs in a checkout before its checks, and what follows where that fails."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api import pod as protocol
from bernstein.api.project import Project
from bernstein.api.signals import Signal
from bernstein.api.task import TaskStatus
from bernstein.api.verification import CheckResult
from bernstein.checks.spec import CheckSpec
from bernstein.core.actions import RunCheck, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification.cached import made_with
from bernstein.core.verification.executed import executed
from bernstein.core.verification.expected import required
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object, done, ended, failed, job, over, snapshot, waiting
from tests.unit.core.verification.expected.test_required import CHANGED

SETUP = {"command": "npm ci", "timeoutSeconds": 300}
OWN = {"name": "own", "command": "npm run verify", "image": "own:1"}
TESTS = {"name": "tests", "command": "npm test"}
LINT = {"name": "lint", "command": "npx eslint ."}
READS = {"name": "pii_scan"}
PYTHON = {"name": "no_foo", "plugin": "Python"}
RUNS = CheckSpec("own", "gate", "own", True, command="make", image="own:1", setup="npm ci")
KEY = f"AKIA{'Q' * 4}{'7' * 12}"


def project(*pipeline: Object, setup: Object | None = SETUP, **gates: Any) -> Project:
    own: dict[str, Any] = {"setup": setup} if setup is not None else {}
    return objects.project(gates={"pipeline": list(pipeline), "extends": None, **gates}, **own)


def checks(of: Project) -> dict[str, CheckSpec]:
    signals = [
        Signal(type="test_passes", command="npm test"),
        Signal(type="path_exists", path="a"),
    ]
    return {c.name: c for c in required.required_checks(signals, of.spec, CHANGED)}


def test_it_runs_before_what_runs_the_works_own_code_and_before_nothing_else() -> None:
    mutants, bandit = {"name": "mutation_testing"}, {"name": "security_scan"}
    found = checks(project(OWN, TESTS, LINT, READS, PYTHON, mutants, bandit))

    with_it = {name for name, check in found.items() if check.setup is not None}
    assert with_it == {"signal-0", "own", "tests", "mutation_testing"}
    assert (found["own"].setup, found["own"].setup_seconds) == ("npm ci", 300)
    # The work's code could write what these read, or the configuration that is pinned.
    assert {"lint", "pii_scan", "no_foo", "security_scan"} <= found.keys()


def test_without_it_no_check_changes() -> None:
    with_it, without = checks(project(OWN)), checks(project(OWN, setup=None))

    assert without["own"].setup is None
    assert with_it["signal-1"].digest == without["signal-1"].digest


def test_another_command_is_another_question_and_its_time_is_none() -> None:
    other = SETUP | {"command": "npm ci --ignore-scripts"}
    longer = SETUP | {"timeoutSeconds": 301}
    setups = (None, SETUP, other, longer)
    digests = [checks(project(OWN, setup=setup))["own"].digest for setup in setups]

    assert len(set(digests)) == 3
    assert digests[1] == digests[3]


def test_a_verdict_is_kept_for_the_setup_that_it_was_reached_with() -> None:
    closed = {"git": [{"ports": [{"port": 443}]}], "policy": "Managed"}

    def made(setup: Object | None) -> str | None:
        own: dict[str, Any] = {"setup": setup} if setup is not None else {}
        of = objects.project(gates={"pipeline": [OWN]}, network=closed, **own)
        return made_with([checks(of)["own"]], of.spec)

    labels = [made(None), made(SETUP), made(SETUP | {"command": "true"})]
    assert None not in labels
    assert len(set(labels)) == 3


ENDS: dict[str, tuple[Object, str]] = {
    "it fails": (
        over(
            *(ended("checkout"), ended("setup", 1, said=f"no such package\n{KEY}")),
            waiting("check"),
        ),
        "the Project's setup ended with exit code 1:\n> no such package",
    ),
    "it is not done in time": (
        over(
            ended("checkout"),
            ended("setup", 124, said="launcher: not done after 300 s"),
            waiting("check"),
        ),
        "the Project's setup ended with exit code 124:\n> launcher: not done after 300 s",
    ),
    "its memory is not enough": (
        over(ended("checkout"), ended("setup", 137, reason="OOMKilled"), waiting("check")),
        "the Project's setup ran out of memory",
    ),
    "its disk is not enough": (
        over(ended("checkout"), ended("setup", 137), waiting("check"), reason="Evicted"),
        "the Project's setup ended with exit code 137",
    ),
}


@pytest.mark.parametrize(("pod", "told"), ENDS.values(), ids=ENDS)
def test_where_it_does_not_succeed_nothing_is_known_of_the_tree(pod: Object, told: str) -> None:
    found = executed(RUNS, job("own", pod), None, NOW)

    assert (found.verdict, found.reason) == ("Errored", "SetupFailed")
    assert found.excerpt.startswith(told)
    assert KEY not in found.excerpt


def test_a_disruption_is_none_of_its_doing() -> None:
    pod = over(ended("checkout"), ended("setup", 143), waiting("check"), disrupted=True)

    assert executed(RUNS, job("own", pod), None, NOW).reason == "Disrupted"


# --- the work, or the Project? ------------------------------------------------------------------


def look(status: TaskStatus, *jobs: JobView, of: Project, after: float = 0) -> TaskDecision:
    subject = objects.task(status=status)
    return task_decide.decide(snapshot(subject, jobs=jobs, project=of), objects.at(after))


def result(decision: TaskDecision) -> CheckResult:
    assert decision.status.verification is not None
    (found,) = decision.status.verification.checks
    return found


def broken(name: str) -> JobView:
    return job(name, over(ended("checkout"), ended("setup", 1, said="gone"), waiting("check")))


@pytest.mark.parametrize(
    ("of_base", "state", "told"),
    [
        (ended("setup"), "Failed", ("Failed", "ExitCode")),
        (ended("setup", 1), "Done", ("Errored", "SetupFailed")),
    ],
    ids=["it succeeds there", "it does not"],
)
def test_a_second_time_the_commit_before_the_work_says_whose_doing_it_is(
    of_base: Object, state: str, told: tuple[str, str]
) -> None:
    of = project(OWN)
    first = look(done(), broken(asked(look(done(), of=of))), of=of).status
    assert (first.state, first.attempt) == ("Done", 1)
    assert first.waiting is not None
    assert first.waiting.reason == "GateErrored"

    work = broken(asked(look(first, of=of, after=PROBE_SECONDS)))
    base = asked(look(first, work, of=of, after=PROBE_SECONDS))
    there = job(base, over(ended("checkout"), of_base, ended("check", 1)))
    second = look(first, work, there, of=of, after=PROBE_SECONDS)

    assert second.status.state == state
    assert (result(second).verdict, result(second).reason) == told


def asked(decision: TaskDecision) -> str:
    """The name of the only Job that is asked for."""
    (run,) = (a for a in decision.actions if isinstance(a, RunCheck))
    return run.job


def compared(name: str, *setups: Object) -> JobView:
    said = protocol.CheckVerdict("mutation_testing", "Passed", "", "")
    main = ended("check", said=said) if not any_failed(setups) else waiting("check")
    return job(name, over(ended("checkout"), *setups, main))


def any_failed(setups: tuple[Object, ...]) -> bool:
    return any(s["state"]["terminated"]["exitCode"] for s in setups)


COMPARED: dict[str, tuple[tuple[Object, ...], str, str]] = {
    "it succeeds in both": ((ended("setup-before"), ended("setup")), "Passed", ""),
    "it fails in the base": ((ended("setup-before", 1),), "Errored", "SetupFailed"),
    "it fails in the work alone": (
        (ended("setup-before"), ended("setup", 1)),
        *("Failed", "ExitCode"),
    ),
    "it fails in the work, and was not run in the base": (
        (ended("setup", 1),),
        *("Errored", "SetupFailed"),
    ),
}


@pytest.mark.parametrize(("setups", "verdict", "reason"), COMPARED.values(), ids=COMPARED)
def test_of_both_trees_the_one_counts_in_which_it_fails(
    setups: tuple[Object, ...], verdict: str, reason: str
) -> None:
    of = project({"name": "mutation_testing", "condition": "always"})
    name = asked(look(done(), of=of))

    found = result(look(done(), compared(name, *setups), of=of))

    assert (found.verdict, found.reason) == (verdict, reason)


def test_a_checkout_that_fails_is_told_before_it() -> None:
    pod = over(failed("checkout", "RefMoved"), waiting("setup"), waiting("check"))

    assert executed(RUNS, job("own", pod), None, NOW).reason == "RefMoved"
