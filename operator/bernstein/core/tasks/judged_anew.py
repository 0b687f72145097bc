"""Verify: the work that a Task has left is judged anew, without any verdict of before.

Done ────▶ verified again from the start; what it is worth is decided as the first time
Failed ──▶ stays Failed: its verdicts are told, in the answer and in status.verification
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bernstein.api.meta import ConditionType
from bernstein.api.reasons import Reason
from bernstein.api.requests import RefusalReason, TaskRequest
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.verification import Verification
from bernstein.core import requests
from bernstein.core.actions import TaskDecision, give_up
from bernstein.core.conditions import find
from bernstein.core.delivery import landing, proposal
from bernstein.core.fsm import is_final
from bernstein.core.money import budget, calls
from bernstein.core.sanitise import cut
from bernstein.core.scheduling import chain
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.verification import round as rounds
from bernstein.core.verification import summary
from bernstein.core.verification.expected.task import question
from bernstein.core.verification.look import judging
from bernstein.core.verification.round import (
    CannotRun,
    Lost,
    Passed,
    Rejected,
    RoundState,
    Undecided,
)
from bernstein.core.waiting import goes_on, is_held, is_kept_back, is_stalled

_ASKS_A_PERSON = (
    "its checks have passed, and a person is asked about that very result: approve or reject it; "
    "once approved it is verified again where its target has moved"
)
_ASKS_OF_GATE = (
    "a gate has rejected it, and a person is asked about that very result: approve it to let it go "
    "on without the gate, or send it back"
)
_WHICH = 300
"""Characters of an answer for the checks that said no."""


def verify(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, now: datetime
) -> TaskDecision:
    """The next step towards the answer. The Task is not cancelled."""
    asked = snapshot.task.spec.requests
    refusal = _why_not(snapshot, status, now)
    if refusal is not None:
        return TaskDecision(requests.refused(status, asked, request, *refusal, now))
    assert status.verification is not None
    if status.state is TaskState.FAILED:
        return _told(snapshot, status, request, now)
    judged = _from_the_start(status.verification)
    update = {"verification": judged, "gate_errors": 0}
    anew = landing.without_turn(goes_on(status.model_copy(update=update)))
    text = f"it is judged anew, in round {judged.round + 1}"
    answered = requests.done(anew, asked, request, text, now)
    return TaskDecision(answered, give_up(judging(snapshot.jobs)))


def _why_not(
    snapshot: TaskSnapshot, status: TaskStatus, now: datetime
) -> tuple[RefusalReason, str] | None:
    wait = chain.first(chain.OWNERS, snapshot, now)
    if wait is not None:
        return RefusalReason.NOTHING_TO_VERIFY, wait.message
    failed = status.state is TaskState.FAILED and is_final(status, snapshot.task.spec.max_retries)
    if status.state is TaskState.PENDING_APPROVAL:
        judged = status.verification
        rejected = judged is not None and judged.passed is False
        text = _ASKS_OF_GATE if rejected else _ASKS_A_PERSON
        return RefusalReason.NOTHING_TO_VERIFY, text
    if status.state is not TaskState.DONE and not failed:
        return RefusalReason.NOTHING_TO_VERIFY, f"it is {status.state}"
    if status.verification is None:
        return RefusalReason.NOTHING_TO_VERIFY, "its last attempt left no work to be judged"
    if landing.is_lost(status):
        text = "what was judged is gone; another candidate is made, and judged then"
        return RefusalReason.NOTHING_TO_VERIFY, text
    if not failed and landing.step_of(status) in ("Preparing", "Landing"):
        return RefusalReason.MERGE_IN_PROGRESS, "it is being merged at this moment"
    if not failed and proposal.is_proposed(status):
        return RefusalReason.MERGE_IN_PROGRESS, "what was verified is in its pull request"
    return None


def _from_the_start(judged: Verification) -> Verification:
    anew = rounds.afresh(judged)
    update = {"first_round": anew.round, "out_of_memory": False, "uncached": True}
    return anew.model_copy(update=update)


def _told(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, now: datetime
) -> TaskDecision:
    """The next step of judging work that stays rejected, whatever is found."""
    asked, judged = snapshot.task.spec.requests, status.verification
    assert judged is not None
    if judged.passed is not None:
        update = {"verification": _from_the_start(judged)}
        return TaskDecision(status.model_copy(update=update))
    outcome = judge(snapshot, goes_on(status), judged, now)
    after = _still_failed(outcome.status, status)
    match outcome:
        case Undecided(seen, actions, again) if not is_kept_back(seen):
            return TaskDecision(after, actions, again)
        case Passed(_, actions):
            text = f"{_passes(after)}; it stays Failed until it is retried"
            return TaskDecision(requests.done(after, asked, request, text, now), actions)
        case Rejected(_, results, actions):
            text = f"it is rejected again: {cut(summary.which(results), _WHICH)}"
            return TaskDecision(requests.done(after, asked, request, text, now), actions)
        case Lost(_, why, actions):
            told = why.reason, why.message
            answer = requests.refused(_rejected(after), asked, request, *told, now)
            return TaskDecision(answer, actions)
        case CannotRun(seen, actions) | Undecided(seen, actions):
            answer = requests.refused(_rejected(after), asked, request, *_why(seen), now)
            return TaskDecision(answer, actions)


def _passes(status: TaskStatus) -> str:
    """What it means that nothing keeps the work back: it may be that nothing was asked."""
    judged = status.verification
    return "every check passes now" if judged and judged.checks else "no check is asked for now"


def judge(
    snapshot: TaskSnapshot, status: TaskStatus, judged: Verification, now: datetime
) -> RoundState[TaskStatus]:
    """One step of judging its work; models are asked within what is left, and what they cost is in
    the sums."""
    asked = replace(
        question(snapshot, judged),
        unpaid=budget.spent_on_work(snapshot),
        left=budget.left_for_models(snapshot),
    )
    outcome = rounds.take(status, asked, snapshot.jobs, now)
    prices = snapshot.project.spec.budget.prices if snapshot.project is not None else ()
    return replace(outcome, status=calls.charged(outcome.status, prices))


def _why(seen: TaskStatus) -> tuple[str, str]:
    """Why it cannot be judged: a reason and words."""
    if is_stalled(seen) and not is_held(seen) and seen.waiting is not None:
        return seen.waiting.reason, seen.waiting.message
    verified = find(seen.conditions, ConditionType.VERIFIED)
    return (verified.reason, verified.message) if verified else (Reason.GATE_ERRORED, "")


def _still_failed(judged: TaskStatus, before: TaskStatus) -> TaskStatus:
    """What was found, in the status of a Task that waits for what it has waited for."""
    update = {"waiting": before.waiting, "gate_errors": before.gate_errors}
    return judged.model_copy(update=update)


def _rejected(status: TaskStatus) -> TaskStatus:
    assert status.verification is not None
    judged = status.verification.model_copy(update={"passed": False, "abandoned": None})
    return status.model_copy(update={"verification": judged})
