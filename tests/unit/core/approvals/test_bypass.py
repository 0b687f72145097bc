"""A person may let work go on without a gate that has said no, where the Project allows that."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.verification import CheckResult
from bernstein.core import conditions
from bernstein.core.actions import RunCheck, RunFence, RunLand
from tests.unit.core import objects
from tests.unit.core.approvals.asked import ANN, BEN, decided, made
from tests.unit.core.approvals.bypasses import (
    BECAUSE,
    ONE,
    RED,
    TWO,
    allowing,
    asks,
    begun,
    bypassed,
    look,
    name,
    ran,
    yes,
)
from tests.unit.core.delivery.tasks import step
from tests.unit.core.objects import HEAD, checked, sha, told, verification


def of_gate(status: TaskStatus, name: str = "gate_a") -> CheckResult:
    assert status.verification is not None
    return next(r for r in status.verification.checks if r.name == name)


def test_without_the_projects_word_nobody_is_asked_and_it_fails() -> None:
    found = asks(of=allowing(allow=False))

    assert (found.state, found.approval) == (TaskState.FAILED, None)


def test_while_a_retry_is_left_nobody_is_asked() -> None:
    assert asks(maxRetries=1).state is TaskState.FAILED


def test_before_it_fails_for_good_a_person_is_asked_about_that_gate_on_that_commit() -> None:
    found = asks()

    assert (found.state, found.attempt) == (TaskState.PENDING_APPROVAL, 1)
    assert found.history[-1].reason == "BypassNeeded"
    assert found.approval is not None
    about = found.approval.asks
    assert (about.gate, about.sha, about.base, about.attempt) == (
        *("gate_a", HEAD, objects.BASE),
        1,
    )
    assert "'gate_a' has said no: Failed (ExitCode)" in found.approval.because[0]
    assert told(found.conditions)["Reconciling"] == ("True", "AwaitingApproval")
    assert told(found.conditions)["Verified"] == ("False", "GateFailed")
    assert conditions.find(found.conditions, "Stalled") is None
    assert found.attempts[-1].reason == "Succeeded"
    assert made(look(found)).spec.asks == about


def test_a_signal_that_says_no_is_nobodys_to_excuse() -> None:
    signals = [{"type": "test_passes", "command": "make test"}]
    jobs = (*RED, checked(name("signal-0"), 1))

    assert asks(jobs=jobs, completionSignals=signals).state is TaskState.FAILED


def test_a_rule_that_says_no_is_nobodys_to_excuse() -> None:
    ruled = {"name": "file-scope", "kind": "gate", "verdict": "Failed", "asked": "x"}
    red = {"name": "gate_a", "kind": "gate", "verdict": "Failed", "asked": "x"}
    judged = asks().verification
    assert judged is not None
    status = begun(policy=judged.policy, passed=False, checks=[red, ruled])

    assert look(status).status.state is TaskState.FAILED


def test_approved_the_verdict_says_who_and_why_and_it_lands() -> None:
    found = bypassed()

    assert found.state is TaskState.DONE
    assert (found.history[-1].actor, found.history[-1].reason) == (ANN, "Bypassed")
    after = look(found).status
    judged = after.verification
    assert judged is not None
    assert (judged.passed, judged.sha) == (True, HEAD)
    result = of_gate(after)
    assert (result.verdict, result.excerpt) == ("Bypassed", "exit code 1\nF401 in web.py")
    assert result.bypass is not None
    assert (result.bypass.by, result.bypass.reason) == (ANN, BECAUSE)
    assert (result.bypass.verdict, result.bypass.time) == ("Failed", objects.NOW)
    verified = conditions.find(after.conditions, "Verified")
    assert verified is not None
    assert verified.message == f"0 checks passed; bypassed: gate_a by {ANN}"
    assert after.delivery is not None
    assert after.delivery.step == "Landing"
    (land,) = look(after).actions
    assert isinstance(land, RunLand)
    assert f'"by":"{ANN}"' in land.attests
    assert BECAUSE in land.attests


def test_after_one_gate_the_next_that_has_said_no_is_asked_about() -> None:
    both, jobs = allowing(ONE, TWO), (*RED, *ran("gate_b", 1))

    found = look(bypassed(jobs=jobs, of=both), of=both).status

    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval is not None
    assert found.approval.asks.gate == "gate_b"
    assert of_gate(found).verdict == "Bypassed"


def test_what_was_not_reached_before_is_judged_then() -> None:
    in_turn = allowing(ONE, TWO, execution="Sequential")
    before = bypassed(of=in_turn)

    decision = look(before, of=in_turn)

    assert [a.check.name for a in decision.actions if isinstance(a, RunCheck)] == ["gate_b"]
    assert decision.status.verification is not None
    assert decision.status.verification.passed is None
    rejected = look(before, of=in_turn, jobs=ran("gate_b", 1)).status
    assert rejected.approval is not None
    assert rejected.approval.asks.gate == "gate_b"


def test_what_the_policy_asks_about_is_asked_besides() -> None:
    strict = allowing(result="Always")

    found = look(bypassed(of=strict), of=strict).status

    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval is not None
    assert (found.approval.asks.gate, found.approval.decision) == (None, None)


def test_a_yes_to_a_gate_is_none_to_the_work_on_another_base() -> None:
    keeps = allowing(result="Always", movedBase="Keep")
    before = bypassed(of=keeps)
    assert before.approval is not None
    anyhow = before.approval.model_copy(update={"because": ("all work is asked about",)})
    moved = verification(
        sha=sha(7), base=sha(6), passed=True, digest="e" * 64, checks=[],
        origin={"ref": "r", "sha": HEAD}, candidate=True,
    )  # fmt: skip
    gateless = objects.project(
        gates={"enabled": False}, approval={"result": "Always", "movedBase": "Keep"}
    )
    status = before.model_copy(update={"verification": moved, "approval": anyhow})

    found = look(status, of=gateless).status

    assert found.state is TaskState.PENDING_APPROVAL


def test_sent_back_it_fails_with_the_persons_words_and_the_verdict() -> None:
    before = asks()
    found = look(before, decided(made(look(before)), "Retry", reason="mend it")).status

    assert found.state is TaskState.FAILED
    assert "mend it" in (found.feedback or "")
    assert "Quality gate 'gate_a' Failed" in (found.feedback or "")


def test_rejected_it_is_over() -> None:
    before = asks()

    found = look(before, decided(made(look(before)), "Reject")).status

    assert found.state is TaskState.CANCELLED


def test_out_of_time_the_gate_has_decided() -> None:
    limited = allowing(expiresAfterSeconds=3600)
    before = asks(of=limited)

    found = look(before, made(look(before, of=limited)), of=limited, now=3600).status

    assert found.state is TaskState.FAILED
    assert objects.stalled_for(found.conditions) == "GateFailed"
    assert found.attempts[-1].reason == "GateFailed"
    assert "Quality gate 'gate_a' Failed" in (found.feedback or "")
    assert found.approval is not None
    assert found.approval.decision == "Expired"


def test_a_yes_without_a_reason_is_none() -> None:
    before = asks()

    for reason in (None, "", "\u202e"):
        found = look(before, yes(before, reason=reason)).status
        assert found.state is TaskState.PENDING_APPROVAL


def test_the_author_may_not_where_another_person_must() -> None:
    strict = allowing(approverIsNotAuthor=True)
    plan = objects.plan(author=ANN)
    before = asks(of=strict, plan=plan)

    own = yes(before, of=strict, plan=plan)
    others = yes(before, BEN, of=strict, plan=plan)

    assert own.spec.asks.not_by == ANN
    assert look(before, own, of=strict, plan=plan).status.state is TaskState.PENDING_APPROVAL
    assert look(before, others, of=strict, plan=plan).status.state is TaskState.DONE


def test_while_nobody_knows_the_author_nobody_is_asked_and_nothing_is_lost() -> None:
    found = asks(of=allowing(approverIsNotAuthor=True))

    assert found.state is TaskState.DONE
    assert objects.stalled_for(found.conditions) == "AuthorMissing"
    later = look(found, of=allowing(approverIsNotAuthor=True), plan=objects.plan(author=ANN))
    assert later.status.state is TaskState.PENDING_APPROVAL


@pytest.mark.parametrize("decision", [None, "Approve"])
def test_where_the_project_takes_its_word_back_it_is_rejected(decision: str | None) -> None:
    before = asks()
    given = made(look(before))
    given = given if decision is None else decided(given, decision, reason=BECAUSE)

    found = look(before, given, of=allowing(allow=False)).status

    assert found.state is TaskState.FAILED
    assert objects.stalled_for(found.conditions) == "GateFailed"


def test_other_checks_judge_it_anew() -> None:
    before = asks()
    stricter = allowing(ONE, TWO)

    found = look(before, yes(before), of=stricter).status

    assert found.state is TaskState.DONE
    assert found.approval is None
    assert found.verification is not None
    assert (found.verification.passed, found.verification.checks) == (None, ())


@pytest.mark.parametrize(
    "now",
    [
        allowing(allow=False),
        allowing(approverIsNotAuthor=True),
        allowing({**ONE, "command": "make other"}),
    ],
    ids=["not allowed", "by the author", "another check"],
)
@pytest.mark.parametrize("passed", [False, True])
def test_what_was_bypassed_is_judged_anew_where_that_holds_no_more(
    now: Project, passed: bool
) -> None:
    status = bypassed()
    if passed:
        status = look(status).status.model_copy(update={"delivery": step("Next")})
    plan = objects.plan(author=ANN)

    found = look(status, of=now, plan=plan).status

    judged = found.verification
    assert judged is not None
    assert (judged.passed, [r for r in judged.checks if r.bypass]) == (None, [])
    red = ran("gate_a", 1, judged.round)
    anew = look(found, of=now, plan=plan, jobs=red).status
    assert anew.state in (TaskState.FAILED, TaskState.PENDING_APPROVAL)


def test_on_a_candidate_the_gate_is_asked_again() -> None:
    on_newer = verification(
        sha=sha(7), base=sha(6), origin={"ref": "r", "sha": HEAD}, candidate=True
    )
    update = {"verification": on_newer, "delivery": step("Preparing", tip=sha(6))}
    before = bypassed()

    found = look(before.model_copy(update=update), jobs=RED).status

    assert before.approval is not None
    assert found.approval is not None
    assert found.approval.name != before.approval.name
    assert (found.approval.asks.gate, found.approval.asks.sha) == ("gate_a", sha(7))


@pytest.mark.parametrize(
    "changed",
    [{"sha": sha(5)}, {"base": sha(6)}, {"digest": "e" * 64}, {"gate": "gate_b"}, {"gate": None}],
    ids=lambda changed: next(iter(changed)),
)
def test_a_decision_about_anything_else_has_no_effect(changed: dict[str, Any]) -> None:
    before = asks()
    given = yes(before)
    about = given.spec.asks.model_copy(update=changed)
    forged = given.model_copy(update={"spec": given.spec.model_copy(update={"asks": about})})

    assert look(before, forged).status.state is TaskState.PENDING_APPROVAL


def test_what_was_decided_stays_when_the_approval_is_deleted() -> None:
    assert look(bypassed()).status.verification.passed is True  # type: ignore[union-attr]


def test_a_no_that_was_known_stays_marked_so_that_a_job_of_it_that_comes_late_is_fenced() -> None:
    """A process that did not know it may have asked for that Job."""
    before = asks()
    assert before.verification is not None
    known = tuple(r.model_copy(update={"cached": True}) for r in before.verification.checks)
    begun = before.verification.model_copy(update={"checks": known, "again": (), "since": 0})
    before = before.model_copy(update={"verification": begun})

    found = look(before, yes(before)).status

    assert (of_gate(found).verdict, of_gate(found).cached) == ("Bypassed", True)
    assert RunFence(name("gate_a")) in look(found, cancel={"reason": "not needed"}).actions


def test_a_cancel_comes_first() -> None:
    before = asks()

    found = look(before, yes(before), cancel={"reason": "no"}).status

    assert found.state is TaskState.CANCELLED


def test_the_word_alone_lets_nothing_on() -> None:
    judged = bypassed().verification
    assert judged is not None
    forged = judged.checks[0].model_copy(update={"bypass": None})
    status = bypassed().model_copy(
        update={"verification": judged.model_copy(update={"checks": (forged,)})}
    )

    assert look(status, of=allowing(allow=False)).status.state is TaskState.FAILED


def test_who_asks_to_verify_it_meanwhile_is_told_what_is_asked() -> None:
    request = {"id": "r1", "verb": "Verify", "by": ANN, "reason": "again"}

    (answer,) = look(asks(), requests=[request]).status.requests or ()

    assert answer.answer == "Refused"
    assert answer.message.startswith("a gate has rejected it, and a person is asked")
