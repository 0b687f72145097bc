"""A Plan that has spent its budget asks no model about work until it may spend more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bernstein.api.pod import CheckVerdict
from bernstein.api.programs.judge import JudgeResult
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import RunInspect, RunJudge, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.tasks.decide import decide
from bernstein.core.verification import models
from bernstein.core.verification.round import afresh
from bernstein.core.waiting import is_stalled
from tests.unit.core import objects
from tests.unit.core.objects import NOW
from tests.unit.core.verification.asked_models import (
    EXISTS,
    JUDGE,
    REVIEW,
    USED,
    judged,
    project,
    said,
    task,
)
from tests.unit.core.verification.asked_models import read as inspected

READ = inspected("work-s1-inspect-0", CheckVerdict("signal-1", "Passed"))


def look(
    *jobs: JobView,
    budget: str | None = "10",
    spent: str = "10",
    status: TaskStatus | None = None,
    signals: Sequence[dict[str, Any]] = (REVIEW, EXISTS),
) -> TaskDecision:
    plan = objects.plan(budget=budget)
    of_now = plan.status.model_copy(update={"spend_usd": spent})
    return decide(
        objects.snapshot(
            task(*signals, status=status),
            jobs=jobs,
            project=project(),
            plan=plan.model_copy(update={"status": of_now}),
        ),
        NOW,
    )


def test_what_asks_nobody_is_judged_all_the_same() -> None:
    decision = look()

    assert [type(action) for action in decision.actions] == [RunInspect]
    assert decision.status.waiting is None


def test_then_it_stands_still_and_says_why() -> None:
    status = look(READ).status

    assert is_stalled(status)
    assert status.waiting is not None
    assert status.waiting.reason == "BudgetExceeded"
    assert "budget of $10.00 is spent" in status.waiting.message
    assert status.verification is not None
    assert status.verification.passed is None
    assert look(READ, status=status).actions == ()


def test_a_greater_budget_lets_it_go_on() -> None:
    stood = look(READ).status

    decision = look(READ, budget="11", status=stood)

    assert [type(action) for action in decision.actions] == [RunJudge]
    assert decision.status.waiting is None


def test_without_a_budget_and_with_money_left_models_are_asked() -> None:
    for found in (look(READ, budget=None), look(READ, spent="9.99")):
        assert [type(action) for action in found.actions] == [RunJudge]


def test_a_job_that_is_at_work_is_not_ended_and_its_answer_counts() -> None:
    answered = judged(said(CheckVerdict("signal-0", "Failed", "Unmet")))

    status = look(READ, answered).status

    assert status.verification is not None
    assert status.verification.passed is False


# --- a limit of each Task -----------------------------------------------------------------------


def of_task(
    *jobs: JobView,
    limit: int | str | None = "5",
    status: TaskStatus | None = None,
    budget: str | None = None,
) -> TaskDecision:
    given = objects.snapshot(
        task(REVIEW, EXISTS, status=status),
        jobs=jobs,
        project=project(limits={} if limit is None else {"modelsUsdPerTask": limit}),
        plan=objects.plan(budget=budget),
    )
    return decide(given, NOW)


def that_has_spent(models: str | None, of_all: str = "100") -> TaskStatus:
    return objects.done().model_copy(update={"models_usd": models, "spend_usd": of_all})


def test_a_job_is_told_what_models_may_still_cost_for_its_task() -> None:
    first, later = of_task(READ), of_task(READ, status=that_has_spent("4.5"))

    assert [run.dollars for run in asks(first)] == ["5"]
    assert [run.dollars for run in asks(later)] == ["0.5"]


def test_the_less_of_both_counts() -> None:
    less, more = (of_task(READ, limit=limit, budget="10") for limit in (3, 30))

    assert [run.dollars for run in (*asks(less), *asks(more))] == ["3", "10"]


def test_what_agents_have_spent_is_not_in_it_and_without_a_limit_nothing_is_counted() -> None:
    (run,) = asks(of_task(READ, status=that_has_spent(None)))
    (free,) = asks(of_task(READ, limit=None, status=that_has_spent("9")))

    assert (run.dollars, free.dollars) == ("5", None)


def test_a_task_that_has_spent_it_stands_still_and_goes_on_with_a_greater_one() -> None:
    stood = of_task(READ, status=that_has_spent("5.1")).status

    assert is_stalled(stood)
    assert stood.waiting is not None
    assert stood.waiting.reason == "BudgetExceeded"
    assert "limits.modelsUsdPerTask of $5.00 is spent" in stood.waiting.message
    assert asks(of_task(READ, status=stood)) == []
    assert [run.dollars for run in asks(of_task(READ, limit="6", status=stood))] == ["0.9"]


def test_what_models_have_cost_is_counted_over_all_attempts() -> None:
    yes = judged(said(CheckVerdict("signal-0", "Passed")))

    found = of_task(READ, yes, limit="20", status=that_has_spent("4.5")).status

    assert (found.models_usd, found.spend_usd) == ("9", "104.5")


# --- what may cost more than is left --------------------------------------------------------------


def asks(decision: TaskDecision) -> list[RunJudge]:
    return [action for action in decision.actions if isinstance(action, RunJudge)]


def short(dollars: str = "0.5", number: int = 0) -> JobView:
    """The judge Job, in which the question might have cost more than these."""
    told = CheckVerdict("signal-0", "Errored", "BudgetExceeded", "it may cost $0.7500")
    return judged(JudgeResult((told,), (), dollars=dollars), number)


def test_a_job_is_told_what_is_left() -> None:
    assert [run.dollars for run in asks(look(READ, spent="9.5"))] == ["0.5"]
    assert [run.dollars for run in asks(look(READ, spent="9.99999"))] == ["0"]
    assert [run.dollars for run in asks(look(READ, budget=None))] == [None]


def test_jobs_beside_each_other_share_it() -> None:
    gates = {
        "pipeline": [
            {"name": name, "condition": "always"}
            for name in ("review_rubric", "integration_test_gen")
        ]
    }
    plan = objects.plan(budget="10")
    of_now = plan.status.model_copy(update={"spend_usd": "9"})
    found = decide(
        objects.snapshot(
            task(EXISTS),
            project=project(gates=gates),
            plan=plan.model_copy(update={"status": of_now}),
        ),
        NOW,
    )

    assert [run.dollars for run in asks(found)] == ["0.5", "0.5"]


def test_a_question_that_might_cost_more_is_no_error_of_the_check_and_waits_for_money() -> None:
    first = look(READ, short(), spent="9.5")
    assert first.actions == ()
    assert first.status.gate_errors == 0

    then = look(READ, short(), spent="9.5", status=first.status)

    assert then.actions == ()
    assert is_stalled(then.status)
    assert then.status.waiting is not None
    assert then.status.waiting.reason == "BudgetExceeded"
    assert "more than the $0.5 that are left" in then.status.waiting.message


def test_its_status_says_how_much_was_too_little_also_to_who_reads_it_later() -> None:
    found = look(READ, short("0.25"), spent="9.75").status

    assert found.verification is not None
    stored = found.dump()
    assert stored["verification"]["tooLittleUsd"] == "0.25"
    assert TaskStatus.model_validate(stored).verification == found.verification


def test_of_several_jobs_that_had_too_little_the_most_counts() -> None:
    jobs = [short(dollars) for dollars in ("0.5", "10", "2")]
    verification = objects.verification()

    found = models.lacking(verification, jobs)

    assert found.too_little_usd == "10", "as a sum, not as a text"
    paid = judged(said(CheckVerdict("signal-0", "Passed")))
    assert models.lacking(found, [paid]).too_little_usd is None


def test_with_more_than_that_it_is_asked_again() -> None:
    stood = look(READ, short(), spent="9.5", status=look(READ, short(), spent="9.5").status).status

    same = look(READ, short(), spent="9.5", status=stood)
    more = look(READ, short(), spent="9.5", budget="11", status=stood)
    without = look(READ, short(), spent="9.5", budget=None, status=stood)

    assert asks(same) == []
    assert [(run.job, run.dollars) for run in asks(more)] == [("work-s1-judge-1-1", "1.5")]
    assert [run.job for run in asks(without)] == ["work-s1-judge-1-1"]


def test_once_it_has_answered_nothing_is_said_of_money_any_more() -> None:
    stood = look(READ, short(), spent="9.5").status
    answered = judged(said(CheckVerdict("signal-0", "Passed"), spent=(USED,)), 1)

    found = look(READ, short(), answered, spent="9.5", budget="11", status=stood).status

    assert found.verification is not None
    assert (found.verification.passed, found.verification.too_little_usd) == (True, None)


# --- what was answered before the money was too little --------------------------------------------

BOTH = (REVIEW, EXISTS, JUDGE)
LACKED = CheckVerdict("signal-2", "Errored", "BudgetExceeded", "it may cost $0.7500")


def partly(review: str) -> JobView:
    """The judge Job that has put the first of two questions, and had too little for the other."""
    answered = CheckVerdict("signal-0", review, "" if review == "Passed" else "Unmet")
    return judged(JudgeResult((answered, LACKED), (USED,), dollars="0.5"))


def test_what_was_answered_is_not_asked_and_paid_again_after_a_raise() -> None:
    first = look(READ, partly("Passed"), spent="9.5", signals=BOTH).status

    again = look(READ, partly("Passed"), budget="20", status=first, signals=BOTH)

    assert [(run.job, run.known) for run in asks(again)] == [("work-s1-judge-1-1", ("signal-0",))]


def test_its_verdict_stands_beside_what_is_answered_then() -> None:
    first = look(READ, partly("Passed"), spent="9.5", signals=BOTH).status
    rest = judged(said(CheckVerdict("signal-2", "Passed"), spent=(USED,)), 1)

    for jobs in ((READ, partly("Passed"), rest), (READ, rest)):
        found = look(*jobs, budget="20", status=first, signals=BOTH).status.verification
        assert found is not None
        assert [(c.name, c.verdict) for c in found.checks] == [
            ("signal-0", "Passed"),
            ("signal-1", "Passed"),
            ("signal-2", "Passed"),
        ]
        assert found.passed is True


def test_a_no_is_the_end_of_it_and_waits_for_no_money() -> None:
    found = look(READ, partly("Failed"), spent="9.5", signals=BOTH).status

    assert found.verification is not None
    assert found.verification.passed is False


def test_where_all_is_judged_anew_all_is_asked() -> None:
    first = look(READ, partly("Passed"), spent="9.5", signals=BOTH).status
    verified = first.verification
    assert verified is not None
    anew = first.model_copy(update={"verification": afresh(verified)})

    (run,) = asks(look(budget="20", status=anew, signals=BOTH))

    assert run.known == ()


# --- work that has failed is judged once more -----------------------------------------------------

ASKED = {"id": "r-1", "verb": "Verify", "by": "ann", "reason": "the model is another one"}


def failed_work() -> TaskStatus:
    """Failed for good, and begun to be judged anew."""
    left = objects.verification(passed=False, checks=[objects.gate("lint", "Failed")])
    return objects.status(
        TaskState.FAILED,
        attempt=4,
        sessions=1,
        session="work-s1",
        waiting=objects.waits("GateFailed", "no retry is left", needs_person=True),
        verification=left,
        ended_at=NOW,
    )


def look_again(status: TaskStatus, *jobs: JobView, spent: str) -> TaskDecision:
    plan = objects.plan(budget="10")
    of_now = plan.status.model_copy(update={"spend_usd": spent})
    wanted = [{**REVIEW}, {**EXISTS}]
    subject = objects.task(status=status, completionSignals=wanted, requests=[ASKED])
    of_plan = plan.model_copy(update={"status": of_now})
    given = objects.snapshot(subject, jobs=jobs, project=project(), plan=of_plan)
    return decide(given, NOW)


def test_failed_work_is_judged_anew_within_what_is_left_and_that_is_counted() -> None:
    begun = look_again(failed_work(), spent="9.5").status
    read_ = inspected("work-s1-inspect-1", CheckVerdict("signal-1", "Passed"))

    asked = look_again(begun, read_, spent="9.5")
    yes = judged(said(CheckVerdict("signal-0", "Passed")), 1)
    told = look_again(asked.status, read_, yes, spent="9.5").status

    assert [run.dollars for run in asks(asked)] == ["0.5"]
    assert told.spend_usd == "4.5"
    assert [(a.answer, told.state) for a in told.requests or ()] == [("Done", TaskState.FAILED)]


def test_failed_work_is_judged_by_no_model_where_the_budget_is_spent_and_that_is_the_answer() -> (
    None
):
    begun = look_again(failed_work(), spent="10").status
    read_ = inspected("work-s1-inspect-1", CheckVerdict("signal-1", "Passed"))

    found = look_again(begun, read_, spent="10")

    assert asks(found) == []
    (answer,) = found.status.requests or ()
    assert (answer.answer, answer.reason) == ("Refused", "BudgetExceeded")
    assert "budget of $10.00 is spent" in answer.message
    assert found.status.waiting is not None
    assert found.status.waiting.reason == "GateFailed"


# --- what some of several models answered ---------------------------------------------------------

HEARD = CheckVerdict("gemini-3-flash", "Failed", "ChangesRequested", "a.py: f fails for 0")


def reviewed(*heard: CheckVerdict, number: int = 0) -> JobView:
    """The judge Job in which one of two models has answered, and the other would cost too much."""
    verdicts = (CheckVerdict("signal-0", "Passed"), LACKED)
    return judged(JudgeResult(verdicts, (USED,), dollars="0.5", heard=heard), number)


def test_a_model_that_has_answered_with_others_is_not_paid_again_after_a_raise() -> None:
    first = look(READ, reviewed(HEARD), spent="9.5", signals=BOTH).status

    (again,) = asks(look(READ, reviewed(HEARD), budget="20", status=first, signals=BOTH))
    (later,) = asks(look(READ, budget="20", status=first, signals=BOTH))

    assert (again.heard, later.heard) == ((HEARD,), (HEARD,))
    assert first.verification is not None
    assert (first.verification.heard or ())[0].asked == again.asked


def test_what_a_model_has_said_of_another_question_is_not_handed_on() -> None:
    first = look(READ, reviewed(HEARD), spent="9.5", signals=BOTH).status
    assert first.verification is not None
    (known,) = first.verification.heard or ()
    other = first.verification.model_copy(
        update={"heard": (known.model_copy(update={"asked": "0" * 32}),)}
    )

    status = first.model_copy(update={"verification": other})
    (again,) = asks(look(READ, budget="20", status=status, signals=BOTH))

    assert again.heard == ()


def test_where_all_is_judged_anew_nothing_that_was_said_counts() -> None:
    first = look(READ, reviewed(HEARD), spent="9.5", signals=BOTH).status
    assert first.verification is not None

    assert afresh(first.verification).heard is None


def test_what_is_no_answer_is_not_kept() -> None:
    broken = CheckVerdict("gpt-5.5", "Errored", "RateLimited", "slow down")

    first = look(READ, reviewed(broken), spent="9.5", signals=BOTH).status

    assert first.verification is not None
    assert first.verification.heard is None
