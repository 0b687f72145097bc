"""Done, where gates ask a model: what its answers lead to, and what they cost."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.approval import RETRY
from bernstein.api.pod import CheckVerdict
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import RunJudge
from bernstein.core.jobs import JobView
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.approvals import asked as people
from tests.unit.core.objects import NOW, at
from tests.unit.core.verification.asked_models import EXISTS, JUDGE, MODEL, judged, read, said

GATES = ("intent_verification", "review_rubric", "test_expansion")
YES = {name: CheckVerdict(name, "Passed") for name in GATES}
NO = CheckVerdict("intent_verification", "Failed", "IntentNotMet", "a.py: it is something else")
PARTLY = CheckVerdict("intent_verification", "Passed", "PartlyMet", "partially\nb.py is missing")
LOW = CheckVerdict("review_rubric", "Failed", "ScoreTooLow", "5.2 of 10, needed are 6")
MISSING = CheckVerdict("test_expansion", "Failed", "TestsMissing", "- a.py: f, of 0")
DOWN = ("Errored", "RateLimited", "slow down")
THERE = read("work-s1-inspect-0", CheckVerdict("signal-0", "Passed"))


def project(**settings: dict[str, Any]) -> Project:
    """A Project with these gates alone; without any with all three."""
    asked = settings or {name: {} for name in GATES}
    off = [{"name": name, "enabled": False} for name in ("lint", "pii_scan")]
    pipeline = [*off, *({"name": name, **given} for name, given in asked.items())]
    return objects.project(gates={"pipeline": pipeline}, models=[MODEL])


ALL = project()


def task(*signals: dict[str, Any]) -> Task:
    python = objects.verification(python_changed=True)
    return objects.task(
        status=objects.done(verification=python), completionSignals=[{**s} for s in signals]
    )


def answers(*verdicts: CheckVerdict) -> JobView:
    """The judge Job, in which the model has said yes to everything else."""
    return judged(said(*(YES | {verdict.name: verdict for verdict in verdicts}).values()))


def look(of: Task, *jobs: JobView, under: Project = ALL, seconds: float = 0) -> Any:
    return decide(objects.snapshot(of, jobs=jobs, project=under), at(seconds))


def verdicts(status: TaskStatus) -> dict[str, tuple[str, str, bool]]:
    assert status.verification is not None
    return {c.name: (c.verdict, c.reason, c.required) for c in status.verification.checks}


def test_all_are_put_to_the_model_with_what_the_step_asks_for() -> None:
    (wanted,) = [a for a in look(task(EXISTS), THERE).actions if isinstance(a, RunJudge)]

    assert [check.name for check in wanted.checks] == [*GATES]
    assert (wanted.job, wanted.title) == ("work-s1-judge-1-0", "Do work")


def test_work_that_a_model_finds_good_goes_on_beside_a_signal_that_holds() -> None:
    found = look(task(EXISTS), THERE, answers()).status

    assert (found.state, found.verification.passed) == (TaskState.DONE, True)
    assert found.approval is None
    assert all(check.by_model for check in found.verification.checks[1:])


def test_the_yes_of_gates_is_no_signal_that_the_step_is_done() -> None:
    """Beside the signal of a model all of it is said by models."""
    yes = CheckVerdict("signal-0", "Passed")
    found = look(task(JUDGE), judged(said(yes, *YES.values()))).status

    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval.because == ("no signal but those of models says that it is done",)


def test_whose_signals_fail_is_not_saved_by_any_model() -> None:
    gone = read("work-s1-inspect-0", CheckVerdict("signal-0", "Failed", "PathMissing"))

    assert look(task(EXISTS), gone, answers()).status.state is TaskState.FAILED


@pytest.mark.parametrize("no", [NO, LOW], ids=lambda no: no.name)
def test_a_no_ends_the_attempt_with_its_words(no: CheckVerdict) -> None:
    found = look(task(EXISTS), THERE, answers(no)).status

    assert found.state is TaskState.FAILED
    assert found.history[-1].reason == "GateFailed"
    assert f"Quality gate '{no.name}' Failed:\n{no.excerpt}" in found.feedback
    assert found.judge_retries is None


def test_who_does_it_in_part_goes_on_and_is_told_where_something_else_fails() -> None:
    alone = look(task(EXISTS), THERE, answers(PARTLY)).status
    beside = look(task(EXISTS), THERE, answers(PARTLY, LOW)).status

    assert (alone.state, alone.verification.passed) == (TaskState.DONE, True)
    assert beside.state is TaskState.FAILED
    assert beside.feedback == (
        "Quality gate 'review_rubric' Failed:\n5.2 of 10, needed are 6\n\n"
        "Quality gate 'intent_verification' Passed, which keeps nothing back:\n"
        "partially\nb.py is missing"
    )


def test_tests_that_are_missing_keep_nothing_back_and_are_told_with_what_does() -> None:
    alone = look(task(EXISTS), THERE, answers(MISSING)).status
    beside = look(task(EXISTS), THERE, answers(MISSING, LOW)).status

    assert (alone.state, alone.verification.passed) == (TaskState.DONE, True)
    assert verdicts(alone)["test_expansion"] == ("Failed", "TestsMissing", False)
    assert alone.verification.checks[-1].excerpt == "- a.py: f, of 0"
    assert beside.state is TaskState.FAILED
    assert beside.feedback.endswith(
        "Quality gate 'test_expansion' Failed, which keeps nothing back:\n- a.py: f, of 0"
    )


def test_whoever_is_sent_back_by_a_person_is_told_of_them_too() -> None:
    of, jobs = task(EXISTS), (THERE, answers(MISSING))
    gates = ALL.spec.gates.dump()
    under = objects.project(gates=gates, models=[MODEL], approval={"result": "Always"})
    pending = of.model_copy(update={"status": look(of, *jobs, under=under).status})
    asked = people.made(look(pending, *jobs, under=under))
    back = people.decided(asked, RETRY, reason="The name is wrong.")
    approvals = people.known(back)
    snapshot = objects.snapshot(pending, jobs=jobs, project=under, approvals=approvals)

    found = decide(snapshot, NOW).status

    assert found.state is TaskState.FAILED
    assert "The name is wrong." in (found.feedback or "")
    assert (found.feedback or "").endswith("- a.py: f, of 0")


# --- what is only told ----------------------------------------------------------------------------

TOLD = project(intent_verification={"blockOnNo": False})


@pytest.mark.parametrize(
    "answer", [NO, CheckVerdict("intent_verification", "Skipped", "Unsure", "not all was shown")]
)
def test_an_answer_that_is_only_to_be_told_keeps_nothing_back(answer: CheckVerdict) -> None:
    found = look(task(EXISTS), THERE, answers(answer), under=TOLD).status

    assert (found.state, found.verification.passed) == (TaskState.DONE, True)
    assert found.approval is None
    assert verdicts(found)["intent_verification"] == (answer.verdict, answer.reason, False)


def test_who_is_only_to_tell_must_be_able_to() -> None:
    down = CheckVerdict("intent_verification", *DOWN)

    found = look(task(EXISTS), THERE, answers(down), under=TOLD).status

    assert found.verification.passed is None
    assert found.waiting.reason == "GateErrored"
    assert verdicts(found)["intent_verification"] == ("Errored", "RateLimited", True)


def test_a_project_that_lets_a_no_keep_back_again_has_the_model_asked_anew() -> None:
    of = task(EXISTS)
    told = look(of, THERE, under=TOLD)
    under_way = of.model_copy(update={"status": told.status})

    found = look(under_way, under=project(intent_verification={})).status

    assert (found.verification.round, found.verification.passed) == (1, None)


# --- not sure, or not able ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["intent_verification", "review_rubric"])
def test_a_yes_to_what_was_not_shown_in_full_has_a_person_asked(name: str) -> None:
    unsure = CheckVerdict(name, "Skipped", "Unsure", "part of the change was too much")

    found = look(task(EXISTS), THERE, answers(unsure)).status

    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval.because == (f"a model could not tell for sure: {name}",)


def test_nobody_is_asked_about_advice_that_is_not_sure() -> None:
    unsure = CheckVerdict("test_expansion", "Skipped", "Unsure", "part of the change was too much")

    found = look(task(EXISTS), THERE, answers(unsure)).status

    assert (found.state, found.approval) == (TaskState.DONE, None)


@pytest.mark.parametrize("name", ["intent_verification", "review_rubric"])
def test_who_cannot_answer_is_asked_again_at_no_cost_of_an_attempt(name: str) -> None:
    of = task(EXISTS)
    held = look(of, THERE, answers(CheckVerdict(name, *DOWN))).status

    assert (held.state, held.attempt, held.waiting.reason) == (TaskState.DONE, 1, "GateErrored")
    again = look(of.model_copy(update={"status": held}), THERE, seconds=400)
    (wanted,) = [a for a in again.actions if isinstance(a, RunJudge)]
    assert wanted.job == "work-s1-judge-1-1"


def test_advice_that_nobody_could_give_is_not_waited_for() -> None:
    found = look(task(EXISTS), THERE, answers(CheckVerdict("test_expansion", *DOWN))).status

    assert (found.state, found.verification.passed) == (TaskState.DONE, True)


def test_what_gates_have_used_is_charged_as_for_signals() -> None:
    found = look(task(EXISTS), THERE, answers(LOW)).status

    assert (found.spend_usd, found.spend_source) == ("4.5", "Computed")
    assert [call.job for call in found.verification.calls] == ["work-s1-judge-1-0"]


def test_a_model_that_the_project_does_not_have_is_said_and_nobody_is_asked() -> None:
    under = objects.project(gates=project(review_rubric={"model": "nobody"}).spec.gates.dump())

    found = look(task(EXISTS), THERE, under=under)

    assert not any(isinstance(action, RunJudge) for action in found.actions)
    assert verdicts(found.status)["review_rubric"] == ("Errored", "NoModel", True)
    assert "Add a model with its key" in found.status.waiting.message
