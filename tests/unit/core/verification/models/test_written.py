"""Done, where a gate has a model write a test and then runs it: two Jobs, one verdict."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import CheckVerdict, Usage
from bernstein.api.programs.judge import JudgeResult, Spent
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.actions import RunCheck, RunJudge
from bernstein.core.jobs import JobView
from bernstein.core.judging import written
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.objects import at, ended, job, over
from tests.unit.core.verification.asked_models import EXISTS, MODEL, USED, read

GATE = "integration_test_gen"
TEST = "import app\n\n\ndef test_half() -> None:\n    assert app.share(4, 2) == 2\n"
OTHER = TEST.replace("test_half", "test_other")
THERE = read("work-s1-inspect-0", CheckVerdict("signal-0", "Passed"))
WRITER, RUN = "work-s1-judge-integration-test-gen-{}u26", "work-s1-integration-test-gen-{}u20"


def project(**settings: Any) -> Project:
    off = [{"name": name, "enabled": False} for name in ("lint", "pii_scan")]
    pipeline = [*off, {"name": GATE, **settings}]
    return objects.project(gates={"pipeline": pipeline}, models=[MODEL])


REQUIRED, OPTIONAL = project(), project(required=False)


def task() -> Task:
    python = objects.verification(python_changed=True)
    return objects.task(status=objects.done(verification=python), completionSignals=[{**EXISTS}])


def wrote(test: str = TEST, number: int = 0, **more: Any) -> JobView:
    """The judge Job of that round, in which a model has written the test."""
    said = JudgeResult((CheckVerdict(GATE, "Passed"),), (USED,), written.packed(test))
    return asked_job(JudgeResult(**{**_fields(said), **more}), number)


def _fields(result: JudgeResult) -> dict[str, Any]:
    return {name: getattr(result, name) for name in ("verdicts", "spent", "written")}


def asked_job(result: JudgeResult, number: int = 0) -> JobView:
    pod = over(ended("checkout"), ended("judge", said=result))
    labels = {"bernstein.dev/check": f"judge-{GATE}"}
    return job(WRITER.format(number), pod, labels=labels)


def ran(code: int, number: int = 0, printed: str = "") -> JobView:
    """The check Job of that round."""
    pod = over(ended("checkout"), ended("check", code, said=printed))
    return job(RUN.format(number), pod, labels={"bernstein.dev/check": GATE})


def look(of: Task, *jobs: JobView, under: Project = REQUIRED, seconds: float = 0) -> Any:
    return decide(objects.snapshot(of, jobs=(THERE, *jobs), project=under), at(seconds))


def then(of: Task, found: Any) -> Task:
    return of.model_copy(update={"status": found.status})


def actions(found: Any, kind: type) -> list[Any]:
    return [action for action in found.actions if isinstance(action, kind)]


def verdict(found: Any) -> tuple[str, str]:
    (check,) = [c for c in found.status.verification.checks if c.name == GATE]
    return check.verdict, check.reason


def test_first_a_model_is_asked_in_a_job_of_its_own_and_nothing_runs() -> None:
    found = look(task())

    (asks,) = actions(found, RunJudge)
    assert (asks.job, [c.name for c in asks.checks]) == (WRITER.format(0), [GATE])
    assert asks.checks[0].asks.tokens == 2048
    assert not actions(found, RunCheck)


def test_then_what_it_has_written_is_run_as_any_command_is() -> None:
    found = look(task(), wrote())

    (runs,) = actions(found, RunCheck)
    assert (runs.job, written.unpacked(runs.check.test)) == (RUN.format(0), TEST)
    assert runs.check.image == objects.project().spec.toolchain.image
    assert (runs.base, runs.compares) == (None, False)
    assert not actions(found, RunJudge)
    assert found.status.verification.passed is None


def test_a_test_that_passes_lets_the_work_on() -> None:
    found = look(task(), wrote(), ran(0))

    assert verdict(found) == ("Passed", "")
    assert found.status.verification.passed is True
    assert (found.status.state, found.status.approval) == (TaskState.DONE, None)


def test_a_test_that_fails_ends_the_attempt_and_is_told_to_the_next() -> None:
    found = look(task(), wrote(), ran(1, printed="E  assert 8 == 2"))

    assert verdict(found) == ("Failed", "WrittenTestFails")
    assert (found.status.state, found.status.history[-1].reason) == (TaskState.FAILED, "GateFailed")
    assert "E  assert 8 == 2" in found.status.feedback
    shown = TEST.replace("\n\n\n", "\n\n").rstrip()
    assert found.status.feedback.endswith(f"The test that fails:\n{shown}")


def test_it_is_told_without_what_has_the_form_of_a_secret() -> None:
    token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    test = f'{TEST}    assert app.key() != "{token}"\n'

    found = look(task(), wrote(test), ran(1))

    assert "app.key()" in found.status.feedback
    assert token not in found.status.feedback


def test_the_base_is_not_asked_what_was_written_for_the_work() -> None:
    found = look(task(), wrote(), ran(1))

    assert not actions(found, RunCheck)
    assert found.status.state is TaskState.FAILED


@pytest.mark.parametrize("code", [2, 3, 4, 5, 134])
def test_a_test_of_no_use_costs_no_attempt_and_another_one_is_written(code: int) -> None:
    first = task()
    found = look(first, wrote(), ran(code))

    assert verdict(found) == ("Errored", "WrittenTestUnusable")
    assert (found.status.state, found.status.attempt) == (TaskState.DONE, 1)
    assert found.status.waiting.reason == "GateErrored"

    second = then(first, found)
    asked = look(second, wrote(), ran(code), seconds=400)
    assert [each.job for each in actions(asked, RunJudge)] == [WRITER.format(1)]
    assert not actions(asked, RunCheck)

    anew = look(then(second, asked), wrote(), ran(code), wrote(OTHER, 1), seconds=401)
    (runs,) = actions(anew, RunCheck)
    assert (runs.job, written.unpacked(runs.check.test)) == (RUN.format(1), OTHER)

    over_ = look(then(second, anew), wrote(OTHER, 1), ran(0, 1), seconds=402)
    assert verdict(over_) == ("Passed", "")


def test_whose_tests_are_never_of_use_waits_for_a_person() -> None:
    of = task()
    jobs: list[JobView] = []
    for number in range(4):
        jobs += [wrote(number=number), ran(2, number)]
        found = look(of, *jobs, seconds=1000 * number)
        of = then(of, found)

    waiting = of.status.waiting
    assert waiting is not None
    assert (waiting.needs_person, waiting.until) == (True, None)
    assert "log of the check" in waiting.message
    assert of.status.attempt == 1


def test_while_another_check_cannot_start_nobody_is_paid_for_the_next_test() -> None:
    """However often that one is tried: it costs nothing, and so nothing counts it."""
    asked = [{"name": "pii_scan", "enabled": False}, {"name": "lint"}, {"name": GATE}]
    under = objects.project(gates={"pipeline": asked}, models=[MODEL])
    of, writers = task(), {WRITER.format(0)}
    for number in range(12):
        name, now = f"work-s1-lint-{number}", 1000.0 * number
        pulls = job(name, objects.pod(objects.waiting("check", "ErrImagePull"), age=30))
        given_up = job(name, objects.pod(objects.waiting("check"), deleting=True, node=None))
        for seconds, jobs in ((0, (pulls,)), (1, (given_up,)), (400, ())):
            found = look(of, wrote(), ran(2), *jobs, under=under, seconds=now + seconds)
            writers |= {each.job for each in actions(found, RunJudge)}
            of = then(of, found)

    assert writers == {WRITER.format(0)}
    passes = objects.result_job("work-s1-lint-12", "check", "")
    found = look(of, wrote(), ran(2), passes, under=under, seconds=20_000)
    assert verdict(found) == ("Errored", "WrittenTestUnusable")
    asked_again = look(then(of, found), wrote(), ran(2), passes, under=under, seconds=21_000)
    assert [each.job for each in actions(asked_again, RunJudge)] == [WRITER.format(13)]


def test_what_kept_a_test_from_running_has_the_same_test_run_again_and_nobody_asked() -> None:
    first = task()
    found = look(first, wrote(), ran(127))
    assert verdict(found) == ("Errored", "ToolMissing")

    again = look(then(first, found), seconds=400)  # the Jobs are gone by then

    (runs,) = actions(again, RunCheck)
    assert (runs.job, written.unpacked(runs.check.test)) == (RUN.format(1), TEST)
    assert not actions(again, RunJudge)


@pytest.mark.parametrize("answered", [CheckVerdict(GATE, "Errored", "RateLimited", "slow down")])
def test_a_model_that_cannot_answer_is_asked_again(answered: CheckVerdict) -> None:
    first = task()
    found = look(first, wrote(verdicts=(answered,), written=""))
    assert verdict(found) == ("Errored", "RateLimited")

    again = look(then(first, found), seconds=400)
    assert [each.job for each in actions(again, RunJudge)] == [WRITER.format(1)]


@pytest.mark.parametrize("told", ["", "no test", "A" * 4000])
def test_a_yes_without_a_test_lets_nothing_on(told: str) -> None:
    found = look(task(), wrote(written=told))

    assert verdict(found) == ("Errored", "NoVerdict")
    assert found.status.verification.passed is None


def test_what_a_model_of_a_signal_says_is_no_verdict_of_the_gate() -> None:
    """Nor is what anything else than its own Job tells."""
    said = JudgeResult((CheckVerdict(GATE, "Passed"),), (), written.packed(TEST))
    pod = over(ended("checkout"), ended("judge", said=said))
    other = job("work-s1-judge-1-0", pod, labels={"bernstein.dev/check": "judge-1"})

    assert [each.job for each in actions(look(task(), other), RunJudge)] == [WRITER.format(0)]


def test_an_optional_one_tells_and_keeps_nothing_back() -> None:
    fails = look(task(), wrote(), ran(1), under=OPTIONAL)
    of_no_use = look(task(), wrote(), ran(2), under=OPTIONAL)

    assert verdict(fails) == ("Failed", "WrittenTestFails")
    assert verdict(of_no_use) == ("Errored", "WrittenTestUnusable")
    assert fails.status.verification.passed is True
    assert of_no_use.status.verification.passed is True


def test_what_its_writing_has_cost_is_charged_once() -> None:
    first = task()
    found = look(first, wrote())
    later = look(then(first, found), wrote(), ran(0))

    assert (found.status.spend_usd, later.status.spend_usd) == ("4.5", "4.5")
    assert [call.job for call in later.status.verification.calls] == [WRITER.format(0)]


def test_a_project_that_names_another_model_has_another_test_written() -> None:
    first = task()
    told = look(first, wrote())
    other = objects.project(
        gates=project(model="other").spec.gates.dump(), models=[MODEL, MODEL | {"name": "other"}]
    )

    outdated = look(then(first, told), wrote(), under=other)
    assert outdated.status.verification.written is None
    asks = look(then(first, outdated), wrote(), under=other)
    assert [each.job for each in actions(asks, RunJudge)] == [WRITER.format(1)]


def test_a_command_of_the_projects_own_runs_what_was_written() -> None:
    own = project(command='pytest "$TEST"', image="tests:1", timeoutSeconds=7)

    (runs,) = actions(look(task(), wrote(), under=own), RunCheck)

    check = runs.check
    assert (check.command, check.image, check.timeout) == ('pytest "$TEST"', "tests:1", 7)


def test_nothing_is_asked_where_no_python_has_changed() -> None:
    of = objects.task(status=objects.done(), completionSignals=[{**EXISTS}])

    found = look(of)

    assert verdict(found) == ("Skipped", "ConditionNotMet")
    assert not actions(found, RunJudge)


def test_a_model_that_the_project_does_not_have_is_said_and_nothing_runs() -> None:
    under = objects.project(gates=REQUIRED.spec.gates.dump())

    found = look(task(), under=under)

    assert not actions(found, RunJudge)
    assert verdict(found) == ("Errored", "NoModel")


def test_of_a_run_without_usage_nothing_is_charged() -> None:
    found = look(task(), wrote(spent=(Spent("claude-sonnet-4-5", Usage()),)))

    assert found.status.spend_usd == "0"
