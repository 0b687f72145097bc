"""Done, where completion signals ask a model: what its answers lead to, and what they cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bernstein.api.pod import CheckVerdict
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import RunInspect, RunJudge, RunPrepare, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at
from tests.unit.core.verification.asked_models import (
    EXISTS,
    JUDGE,
    MODEL,
    OFF,
    REVIEW,
    broken,
    judged,
    project,
    read,
    said,
    task,
)

PASSED = CheckVerdict("signal-0", "Passed")
RETRY = CheckVerdict("signal-0", "Failed", "JudgeRetry", "a.py: the old path is gone")
UNSURE = CheckVerdict("signal-0", "Skipped", "Unsure", "only 0.50 sure")
LIMITED = CheckVerdict("signal-0", "Errored", "RateLimited", "slow down")
THERE = read("work-s1-inspect-0", CheckVerdict("signal-1", "Passed"))


def look(of: Task, *jobs: JobView, under: Project | None = None, seconds: float = 0) -> Any:
    snapshot = objects.snapshot(of, jobs=jobs, project=under or project())
    return decide(snapshot, at(seconds))


def after(decision: TaskDecision, of: Task) -> Task:
    """The Task as the next look sees it."""
    return of.model_copy(update={"status": decision.status})


def verdicts(status: TaskStatus) -> list[tuple[str, str, bool | None]]:
    assert status.verification is not None
    return [(c.verdict, c.reason, c.by_model) for c in status.verification.checks]


def remedy(status: TaskStatus) -> str:
    assert status.waiting is not None
    return status.waiting.message.partition("Remedy: ")[2]


def test_all_that_ask_share_one_job_beside_that_of_what_only_reads() -> None:
    asked = look(task(JUDGE, EXISTS, REVIEW)).actions

    (reads,) = [a for a in asked if isinstance(a, RunInspect)]
    (asks,) = [a for a in asked if isinstance(a, RunJudge)]
    assert [check.name for check in reads.checks] == ["signal-1"]
    assert [check.name for check in asks.checks] == ["signal-0", "signal-2"]
    assert (asks.job, asks.called) == ("work-s1-judge-1-0", "judge-1")
    assert (asks.sha, asks.base, asks.title) == (objects.HEAD, objects.BASE, "Do work")
    (judge, review) = [check.asks for check in asks.checks]
    assert judge is not None
    assert review is not None
    assert (judge.prompt, judge.form) == ("llm_judge.v1", "judgement")
    assert (review.prompt, review.criteria) == ("llm_review.v1", REVIEW["criteria"])


def test_a_model_that_says_yes_beside_a_signal_that_holds_lets_the_work_on() -> None:
    found = look(task(JUDGE, EXISTS), judged(said(PASSED)), THERE).status

    assert found.state is TaskState.DONE
    assert found.verification.passed is True
    assert verdicts(found) == [("Passed", "", True), ("Passed", "", None)]


def test_a_model_alone_lets_nothing_on_without_a_person() -> None:
    found = look(task(JUDGE), judged(said(PASSED))).status

    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval.because == ("no signal but those of models says that it is done",)


def test_gates_that_pass_are_no_signal_that_the_step_is_done() -> None:
    gates = {"pipeline": [{"name": "pii_scan"}, {"name": "lint", "enabled": False}]}
    scanned = read("work-s1-inspect-0", CheckVerdict("pii_scan", "Passed"))

    found = look(task(JUDGE), judged(said(PASSED)), scanned, under=project(gates=gates)).status

    assert found.state is TaskState.PENDING_APPROVAL


def test_rules_that_a_change_keeps_are_no_signal_that_the_step_is_done() -> None:
    kept = read("work-s1-inspect-0", CheckVerdict("protect-tests", "Passed"))

    found = look(task(JUDGE), judged(said(PASSED)), kept, under=project(protectTests=True)).status

    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval.because == ("no signal but those of models says that it is done",)


def test_what_the_policy_and_what_models_have_asked_is_one_question() -> None:
    warned = CheckVerdict("file-scope", "Failed", "ScopeViolation", "docs/a.md")
    jobs = (judged(said(PASSED)), read("work-s1-inspect-0", warned))
    of = objects.task(status=objects.done(), completionSignals=[JUDGE], files=["src"])

    for result in ("HighRisk", "Always"):
        under = project(fileScope="Warn", approval={"result": result})
        asked = look(of, *jobs, under=under).status.approval

        assert asked.because[-2:] == (
            "it changes a file that its step does not declare: 'docs/a.md'",
            "no signal but those of models says that it is done",
        )
    never = look(of, *jobs, under=project(fileScope="Warn")).status.approval
    assert never.because == ("no signal but those of models says that it is done",)


def test_a_model_that_is_not_sure_has_a_person_asked() -> None:
    found = look(task(JUDGE, EXISTS), judged(said(UNSURE)), THERE).status

    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval.because == (
        "a model could not tell for sure: llm_judge: the step is done",
    )
    assert verdicts(found)[0] == ("Skipped", "Unsure", True)


def test_all_else_is_judged_before_a_person_is_asked() -> None:
    missing = read("work-s1-inspect-0", CheckVerdict("signal-1", "Failed", "PathMissing"))

    found = look(task(JUDGE, EXISTS), judged(said(UNSURE)), missing).status

    assert (found.state, found.approval) == (TaskState.FAILED, None)


def test_a_person_who_approves_stands_for_the_model() -> None:
    of = task(JUDGE, EXISTS)
    waits = after(look(of, judged(said(UNSURE)), THERE), of)
    asked = waits.status.approval
    assert asked is not None
    yes = asked.model_copy(update={"decision": "Approve", "by": "alice", "time": NOW})
    moved = waits.status.model_copy(update={"approval": yes, "state": TaskState.DONE})

    found = look(of.model_copy(update={"status": moved}), judged(said(UNSURE)), THERE)

    assert found.status.state is TaskState.DONE
    assert found.status.waiting is None or found.status.waiting.reason != "AwaitingApproval"


def test_a_yes_to_the_unsure_is_none_to_another_verdict() -> None:
    of = task(JUDGE, EXISTS)
    asked = look(of, judged(said(UNSURE)), THERE).status.approval
    alone = look(task(JUDGE), judged(said(PASSED))).status.approval

    assert asked.asks.digest != alone.asks.digest


@pytest.mark.parametrize("author", [None, "bob"])
def test_who_may_not_approve_may_not_stand_for_a_model_either(author: str | None) -> None:
    policy = project(approval={"approverIsNotAuthor": True})
    snapshot = objects.snapshot(
        task(JUDGE), jobs=(judged(said(PASSED)),), project=policy, plan=objects.plan(author=author)
    )

    found = decide(snapshot, NOW).status

    if author is None:
        assert found.waiting is not None
        assert found.waiting.reason == "AuthorMissing"
    else:
        assert found.approval is not None
        assert found.approval.asks.not_by == "bob"


def test_a_judge_that_asks_for_another_attempt_gets_it_with_its_words() -> None:
    found = look(task(JUDGE, EXISTS), judged(said(RETRY)), THERE).status

    assert (found.state, found.judge_retries) == (TaskState.FAILED, 1)
    assert "a.py: the old path is gone" in found.feedback
    assert found.attempts == ()


def test_for_the_third_time_a_person_decides_instead() -> None:
    twice = objects.done(judge_retries=2)

    found = look(task(JUDGE, EXISTS, status=twice), judged(said(RETRY)), THERE).status

    assert (found.state, found.judge_retries) == (TaskState.PENDING_APPROVAL, 2)
    assert verdicts(found)[0] == ("Skipped", "JudgeRetry", True)
    assert "a.py: the old path is gone" in found.verification.checks[0].excerpt
    assert found.approval.because == (
        "the model asks for one more attempt, after 2 that were made for that: "
        "llm_judge: the step is done",
    )


def test_a_review_that_fails_is_no_retry_of_the_judge() -> None:
    no = CheckVerdict("signal-0", "Failed", "CriteriaNotMet", "a.py has no test")

    found = look(task(REVIEW, EXISTS), judged(said(no)), THERE).status

    assert (found.state, found.judge_retries) == (TaskState.FAILED, None)


def test_a_provider_that_limits_is_asked_again_later_and_costs_no_attempt() -> None:
    of = task(JUDGE, EXISTS)
    held = look(of, judged(said(LIMITED)), THERE)

    assert held.status.state is TaskState.DONE
    assert (held.status.attempt, held.status.gate_errors) == (1, 1)
    assert held.status.waiting.reason == "GateErrored"
    assert remedy(held.status) == "Wait for the time it names, or raise the provider's limit."
    again = look(after(held, of), judged(said(LIMITED)), THERE, seconds=40).actions
    assert [a.job for a in again if isinstance(a, RunJudge)] == ["work-s1-judge-1-1"]
    assert not any(isinstance(a, RunInspect) for a in again)


def test_after_some_tries_only_a_change_of_the_project_asks_again() -> None:
    of = task(JUDGE, EXISTS)
    at_seconds = 0.0
    for number in range(4):
        decision = look(of, THERE, judged(said(LIMITED), number), seconds=at_seconds)
        of, at_seconds = after(decision, of), at_seconds + 400
    assert of.status.gate_errors == 4
    later = look(of, THERE, seconds=1_000_000)

    assert later.actions == ()
    assert later.status.waiting.reason == "GateErrored"
    assert later.status.attempt == 1


@pytest.mark.parametrize("reason", ["AnswerNotInForm", "MarkInData", "ModelKeyUnreadable"])
def test_what_helps_is_said_for_what_only_models_meet(reason: str) -> None:
    no = CheckVerdict("signal-0", "Errored", reason, "no answer")

    found = look(task(JUDGE, EXISTS), judged(said(no)), THERE).status

    assert remedy(found)
    assert "signal" not in remedy(found)
    assert reason in found.waiting.message


def test_a_job_that_fails_says_so_of_all_that_it_was_to_answer() -> None:
    found = look(task(JUDGE, REVIEW), broken(), under=project()).status

    assert found.state is TaskState.DONE
    assert {c.verdict for c in found.verification.checks} == {"Errored"}
    assert found.attempt == 1


def test_without_a_model_nobody_is_asked_and_the_remedy_names_the_field() -> None:
    without = objects.project(gates=OFF)

    found = look(task(JUDGE, EXISTS), THERE, under=without)

    assert not any(isinstance(a, RunJudge) for a in found.actions)
    assert remedy(found.status) == "Add a model with its key to models of the Project."
    of, has_one = after(found, task(JUDGE, EXISTS)), project(generation=2)
    afresh = after(look(of, THERE, under=has_one), of)
    mended = look(afresh, THERE, under=has_one)
    assert [a.job for a in mended.actions if isinstance(a, RunJudge)] == ["work-s1-judge-1-2"]


def test_another_model_is_another_question() -> None:
    of = task(JUDGE, EXISTS)
    under_way = after(look(of), of)

    found = look(under_way, under=project({**MODEL, "name": "gpt-5.5"}))

    assert found.status.verification.round == 1


# --- what it costs -------------------------------------------------------------------------------


def test_what_was_used_is_charged_to_the_task_once() -> None:
    of = task(JUDGE, EXISTS)
    first = look(of, judged(said(PASSED)))  # the other Job is still at work
    assert first.status.spend_usd == "4.5"
    (call,) = first.status.verification.calls
    assert (call.job, call.spend_usd, call.source) == ("work-s1-judge-1-0", "4.5", "Computed")

    then = look(after(first, of), judged(said(PASSED)), THERE).status

    assert (then.spend_usd, then.spend_source) == ("4.5", "Computed")
    assert then.usage.input == 1_000_000
    assert len(then.verification.calls) == 1


def test_every_round_that_asks_is_charged() -> None:
    of = task(JUDGE, EXISTS)
    held = after(look(of, judged(said(LIMITED)), THERE), of)

    found = look(held, judged(said(LIMITED)), judged(said(PASSED), 1), THERE, seconds=400).status

    assert Decimal(found.spend_usd) == Decimal(9)
    assert [call.job for call in found.verification.calls] == [
        "work-s1-judge-1-0",
        "work-s1-judge-1-1",
    ]


def test_what_is_rejected_is_charged_too() -> None:
    assert look(task(JUDGE, EXISTS), judged(said(RETRY)), THERE).status.spend_usd == "4.5"


def test_what_an_agent_has_not_told_stays_unknown() -> None:
    silent = objects.done(spend_source="Unreported")
    told = objects.done(spend_source="Reported", spend_usd="1.25")

    unknown = look(task(JUDGE, status=silent), judged(said(PASSED))).status
    known = look(task(JUDGE, status=told), judged(said(PASSED))).status

    assert unknown.spend_source == "Unreported"
    assert (known.spend_source, known.spend_usd) == ("Reported", "5.75")


def test_jobs_of_an_earlier_attempt_are_none_of_this_ones() -> None:
    judging = {"attempt": 1, "verification": objects.verification()}
    second = objects.with_session(TaskState.DONE, 2, **judging)

    found = look(task(JUDGE, EXISTS, status=second), judged(said(PASSED))).status

    assert found.spend_usd == "0"


def test_nothing_lands_before_the_model_has_answered() -> None:
    found = look(task(JUDGE, EXISTS), THERE)

    assert found.status.verification.passed is None
    assert not any(isinstance(a, RunPrepare) for a in found.actions)
