"""What the next attempt is told of work that checks or people have rejected."""

from __future__ import annotations

from bernstein.api.reasons import Reason, VerdictReason
from bernstein.api.task import LONGEST_FEEDBACK, LONGEST_MESSAGE, TaskStatus
from bernstein.core.approvals.asking import Decided
from bernstein.core.delivery import kept
from bernstein.core.sanitise import cut
from bernstein.core.verification import summary, written


def by_checks(status: TaskStatus) -> TaskStatus:
    """The status with the verdicts as feedback and as the reason of the last attempt, and its work.

    That attempt had reported success.
    """
    assert status.verification is not None
    results = status.verification.checks
    told = written.told_with(summary.feedback(results), status.verification, results)
    short = summary.in_short(results, LONGEST_MESSAGE)
    rejected = _rejected(status, summary.reason(results), short, told)
    if any(r.reason == VerdictReason.JUDGE_RETRY for r in summary.rejected(results)):
        again = {"judge_retries": (status.judge_retries or 0) + 1}
        return rejected.model_copy(update=again)
    return rejected


def by_person(status: TaskStatus, outcome: Decided) -> TaskStatus:
    """The status with the person's words as feedback, and the work for the next attempt to see;
    with the verdicts, too, where checks have said no before him."""
    said = outcome.reason or "no reason was given"
    text = f"A person has looked at it and sent it back: {said}"
    judged = status.verification
    results = judged.checks if judged is not None else ()
    verdicts = summary.feedback(results)
    if judged is not None:
        verdicts = written.told_with(verdicts, judged, results)
    feedback = cut(f"{text}\n\n{verdicts}", LONGEST_FEEDBACK) if verdicts else text
    return _rejected(status, Reason.REJECTED, text, feedback)


def by_feedback(status: TaskStatus) -> TaskStatus:
    """The status of work of whose pull request something was said: the next attempt is told that,
    shown the work, and goes to the same pull request."""
    delivery = status.delivery
    assert delivery is not None
    assert delivery.pull_request is not None
    text = f"what was said of {delivery.pull_request.url} goes back to an agent"
    update = {"state": "Pending", "step": None, "reason": None, "message": None}
    status = status.model_copy(update={"delivery": delivery.model_copy(update=update)})
    return _rejected(status, Reason.REJECTED, text, text)


def for_good(status: TaskStatus, reason: Reason, outcome: Decided) -> TaskStatus:
    """The status of work that lands never: a person has said no, or nobody has said yes in time."""
    said = outcome.reason or "no reason was given"
    expired = "nobody decided about it in time"
    text = expired if reason is Reason.APPROVAL_EXPIRED else f"A person has rejected it: {said}"
    return _ended_so(status, reason, text)


def _rejected(status: TaskStatus, reason: Reason, message: str, feedback: str) -> TaskStatus:
    ended = _ended_so(status, reason, message)
    left = kept.rejected_of_task(status)
    return ended.model_copy(update={"feedback": feedback, "rejected": left})


def _ended_so(status: TaskStatus, reason: Reason, message: str) -> TaskStatus:
    """The status whose last attempt has ended so: it had reported success."""
    last = {"reason": reason, "message": cut(message, LONGEST_MESSAGE)}
    attempts = (*status.attempts[:-1], *(a.model_copy(update=last) for a in status.attempts[-1:]))
    return status.model_copy(update={"attempts": attempts})
