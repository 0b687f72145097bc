"""Done, where a model of another maker reviews the work: what its answers lead to."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.approval import APPROVE
from bernstein.api.pod import CheckVerdict
from bernstein.api.project import Project
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Attempt, Task
from bernstein.core.actions import RunJudge
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.approvals import asked as people
from tests.unit.core.objects import NOW, at
from tests.unit.core.verification.asked_models import EXISTS, JUDGE, MODEL, judged, read, said

NAME = "cross-model"
YES = CheckVerdict(NAME, "Passed", "", "approved by claude-sonnet-4-5")
NO = CheckVerdict(NAME, "Failed", "ChangesRequested", "claude-sonnet-4-5:\na.py: f fails for 0")
CUT = CheckVerdict(NAME, "Skipped", "Unsure", "part of the change was too much to be shown")
DOWN = CheckVerdict(NAME, "Errored", "RateLimited", "slow down")
THERE = read("work-s1-inspect-0", CheckVerdict("signal-0", "Passed"))


def project(models: Any = (MODEL,), bypass: bool = False, **settings: Any) -> Project:
    off = [{"name": name, "enabled": False} for name in ("lint", "pii_scan")]
    asks = {"crossModel": {"enabled": True, **settings}, "pipeline": off, "allowBypass": bypass}
    return objects.project(gates=asks, models=[*models])


ALL = project()


def task(*signals: dict[str, Any], model: str = "gpt-5.5", **spec: Any) -> Task:
    status = objects.done(verification=objects.verification())
    asked = [{**each} for each in signals or (EXISTS,)]
    return objects.task(status=status, completionSignals=asked, model=model, **spec)


def look(of: Task, *jobs: Any, under: Project = ALL, seconds: float = 0) -> Any:
    return decide(objects.snapshot(of, jobs=jobs, project=under), at(seconds))


def verdict(status: Any) -> tuple[str, str, bool]:
    (found,) = [c for c in status.verification.checks if c.name == NAME]
    return found.verdict, found.reason, found.required


def test_work_that_is_approved_goes_on_beside_a_signal_that_holds() -> None:
    (wanted,) = [a for a in look(task()).actions if isinstance(a, RunJudge)]
    found = look(task(), THERE, judged(said(YES))).status

    assert [check.name for check in wanted.checks] == [NAME]
    assert (found.state, found.verification.passed, found.approval) == (TaskState.DONE, True, None)
    assert verdict(found) == ("Passed", "", True)
    assert found.verification.checks[-1].excerpt == YES.excerpt


def test_approval_is_no_signal_that_the_step_is_done() -> None:
    accepted = CheckVerdict("signal-0", "Passed")
    found = look(task(JUDGE), judged(said(accepted, YES))).status

    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval.because == ("no signal but those of models says that it is done",)


def test_changes_that_it_asks_for_are_the_next_attempts_of_the_same_task() -> None:
    of = task(maxRetries=1)
    found = look(of, THERE, judged(said(NO))).status

    assert found.state is TaskState.FAILED
    assert found.history[-1].reason == "ReviewRejected"
    assert found.feedback == f"Review 'cross-model' Failed:\n{NO.excerpt}"
    assert found.rejected is not None
    opened = look(of.model_copy(update={"status": found})).status
    assert (opened.state, opened.feedback) == (TaskState.OPEN, found.feedback)


def test_what_commands_and_rules_say_comes_before_the_review() -> None:
    under = objects.project(
        gates={
            "crossModel": {"enabled": True},
            "extends": None,
            "pipeline": [{"name": "large_file", "required": True}],
        },
        models=[MODEL],
    )
    large = CheckVerdict("large_file", "Failed", "LargeFile", "a.py: 501 lines")
    inspected = read("work-s1-inspect-0", CheckVerdict("signal-0", "Passed"), large)

    found = look(task(), inspected, judged(said(NO)), under=under).status

    assert found.history[-1].reason == "GateFailed"
    assert "a.py: 501 lines" in found.feedback
    assert "a.py: f fails for 0" in found.feedback


def test_what_was_not_shown_whole_is_a_persons_to_approve() -> None:
    found = look(task(), THERE, judged(said(CUT))).status

    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval.because == ("a model could not tell for sure: cross-model",)


def test_an_error_blocks_is_asked_again_and_costs_no_attempt() -> None:
    of = task()
    held = look(of, THERE, judged(said(DOWN))).status

    assert (held.state, held.attempt, held.waiting.reason) == (TaskState.DONE, 1, "GateErrored")
    assert (held.verification.passed, verdict(held)) == (None, ("Errored", "RateLimited", True))
    again = look(of.model_copy(update={"status": held}), THERE, seconds=400)
    (wanted,) = [a for a in again.actions if isinstance(a, RunJudge)]
    assert wanted.job == "work-s1-judge-1-1"


@pytest.mark.parametrize("answer", [NO, CUT, DOWN], ids=lambda answer: answer.verdict)
def test_what_is_only_to_be_told_keeps_nothing_back(answer: CheckVerdict) -> None:
    found = look(task(), THERE, judged(said(answer)), under=project(onIssues="Report")).status

    assert (found.state, found.verification.passed, found.approval) == (TaskState.DONE, True, None)
    assert verdict(found) == (answer.verdict, answer.reason, False)


def test_what_is_only_told_is_told_to_the_next_attempt_with_what_keeps_it_back() -> None:
    gone = read("work-s1-inspect-0", CheckVerdict("signal-0", "Failed", "PathMissing", "a.py"))
    found = look(task(), gone, judged(said(NO)), under=project(onIssues="Report")).status

    assert found.history[-1].reason == "SignalFailed"
    assert found.feedback.endswith(
        f"Review 'cross-model' Failed, which keeps nothing back:\n{NO.excerpt}"
    )


def test_where_a_project_has_no_other_makers_model_any_more_nobody_is_asked_and_it_is_said() -> (
    None
):
    found = look(task(model="claude-opus-4-5"), THERE)

    assert not any(isinstance(action, RunJudge) for action in found.actions)
    assert verdict(found.status) == ("Errored", "NoReviewer", True)
    assert found.status.verification.passed is None
    assert "gates.crossModel.reviewers" in found.status.waiting.message


def test_who_is_only_to_tell_and_is_nobody_keeps_nothing_back() -> None:
    under = project(onIssues="Report")
    found = look(task(model="claude-opus-4-5"), THERE, under=under).status

    assert (found.state, found.verification.passed) == (TaskState.DONE, True)
    assert verdict(found) == ("Errored", "NoReviewer", False)


def test_another_reviewer_is_another_question() -> None:
    of = task()
    under_way = of.model_copy(update={"status": look(of, THERE).status})
    other = {**MODEL, "name": "gemini-3-flash", "provider": "gemini"}

    found = look(under_way, under=project(models=(MODEL, other))).status

    assert (found.verification.round, found.verification.passed) == (1, None)


def test_a_person_may_let_it_go_on_without_the_review_where_gates_may_be_bypassed() -> None:
    under, of = project(bypass=True), task(maxRetries=0)
    jobs = (THERE, judged(said(NO)))
    pending = of.model_copy(update={"status": look(of, *jobs, under=under).status})
    assert pending.status.state is TaskState.PENDING_APPROVAL
    yes = people.decided(people.made(look(pending, *jobs, under=under)), APPROVE, reason="It is.")
    snapshot = objects.snapshot(pending, jobs=jobs, project=under, approvals=people.known(yes))

    found = decide(snapshot, NOW).status

    assert verdict(found)[0] == "Bypassed"


def test_the_first_look_at_what_an_agent_has_left_asks_the_same_question() -> None:
    """Of whoever has written it, not of who had written what was rejected before: else each such
    Task would be judged anew before it was judged."""
    other = {**MODEL, "name": "gpt-5.5", "provider": "openai"}
    under = project(models=(MODEL, other))
    before = Attempt(session="work-s0", attempt=1, counted=True, reason="X", model="claude-opus")
    status = objects.with_session(TaskState.IN_PROGRESS, attempts=(before,))
    ran = objects.session(
        state=SessionState.DEAD,
        model="gpt-5.5",
        outcome={"reason": "Succeeded", "started": True},
        work=objects.work().model_dump(),
    )
    of = objects.task(status=status, completionSignals=[EXISTS])

    reported = decide(objects.snapshot(of, sessions=(ran,), project=under), NOW).status
    after = look(of.model_copy(update={"status": reported}), under=under)

    assert reported.state is TaskState.DONE
    assert reported.verification is not None
    assert after.status.verification.round == 0
    assert after.status.verification.policy == reported.verification.policy
    (wanted,) = [a for a in after.actions if isinstance(a, RunJudge)]
    assert [check.asks and check.asks.model for check in wanted.checks] == [MODEL["name"]]
