"""A required gate that has said no to the last attempt of a Task: may a person let it go on?

    rejected by gates alone, no retry left ──▶ asked ──┬─▶ Approve: the gate is Bypassed, and
                                                       │   what is judged goes on without it
                                                       └─▶ anything else: the work is rejected

While a retry is left nobody is asked: the next attempt is told what the gate has found. One
question is about one gate on one commit, and each gate that has said no is a question of its own.
What is landed then must have passed everything else, as any work.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime

from bernstein.api.approvals.approval import Asks
from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.task import TaskStatus
from bernstein.api.verification import Bypass, CheckResult, Verification
from bernstein.core.approvals import policy
from bernstein.core.approvals.asking import Decided, Question
from bernstein.core.fsm import may_retry
from bernstein.core.sanitise import line
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.verification import rerun, summary
from bernstein.core.verification.candidate import origin_of
from bernstein.core.verification.expected.task import specs_of

_MOST_SHOWN = 4
"""Other gates that a person is told of that have said no."""


def question(snapshot: TaskSnapshot, status: TaskStatus) -> Question | None:
    """What is to be asked about work that was rejected; None: nothing, it is rejected."""
    judged, project = status.verification, snapshot.project
    if judged is None or judged.passed is not False or project is None:
        return None
    if not project.spec.gates.allow_bypass or is_outdated(snapshot, judged):
        return None
    said_no = summary.rejected(judged.checks)
    if not said_no or not all(map(summary.may_be_bypassed, said_no)):
        return None
    if may_retry(status, snapshot.task.spec.max_retries):
        return None
    rules = _rules(snapshot)
    author = policy.author_of(snapshot.task, snapshot.plan)
    asks = Asks(
        attempt=status.attempt,
        work=origin_of(judged).sha,
        sha=judged.sha,
        base=judged.base,
        digest=_digest(judged),
        gate=said_no[0].name,
        not_by=author if rules.approver_is_not_author else None,
    )
    return Question("Task", snapshot.task.metadata, asks, _why(said_no), rules)


def is_outdated(snapshot: TaskSnapshot, judged: Verification) -> bool:
    """Whether other checks are asked for by now than those that have judged it."""
    return judged.policy != summary.digest_of_checks(specs_of(snapshot, judged))


def bypassed(
    snapshot: TaskSnapshot, status: TaskStatus, outcome: Decided, now: datetime
) -> TaskStatus:
    """The status in which what was asked about is judged on without the gate: what has a verdict
    keeps it, and what was not reached, or could not run, is run."""
    judged, asked = status.verification, status.approval
    assert judged is not None
    assert asked is not None
    checks = specs_of(snapshot, judged)
    results = tuple(
        _without(result, outcome, asked.name, now) if result.name == asked.asks.gate else result
        for result in judged.checks
    )
    again = rerun.could_not_run(checks, results, {})
    next_ = rerun.next_try(judged, checks, results, {}, again)
    gone = dict.fromkeys(("passed", "verified_at", "digest", "quality_score"))
    return status.model_copy(update={"verification": next_.model_copy(update=gone)})


def _without(result: CheckResult, outcome: Decided, approval: str, now: datetime) -> CheckResult:
    bypass = Bypass(
        by=outcome.by,
        reason=outcome.reason,
        approval=approval,
        verdict=result.verdict,
        time=now,
    )
    return result.model_copy(update={"verdict": "Bypassed", "bypass": bypass})


def hold(snapshot: TaskSnapshot, judged: Verification) -> bool:
    """Whether what people let go on without a gate does so by the rules of now, too."""
    bypasses = [result.bypass for result in judged.checks if result.bypass is not None]
    if not bypasses:
        return True
    if snapshot.project is None or not snapshot.project.spec.gates.allow_bypass:
        return False
    if not _rules(snapshot).approver_is_not_author:
        return True
    author = policy.author_of(snapshot.task, snapshot.plan)
    return author is not None and all(bypass.by != author for bypass in bypasses)


def _rules(snapshot: TaskSnapshot) -> ApprovalPolicy:
    assert snapshot.project is not None
    plan = snapshot.plan.spec if snapshot.plan is not None else None
    return policy.effective(snapshot.project.spec, plan)


def _digest(judged: Verification) -> str:
    """Names what was judged, every verdict, and by which checks."""
    verdicts = summary.digest(judged.base, judged.sha, judged.tree, judged.checks)
    text = json.dumps([verdicts, judged.policy])
    return hashlib.sha256(text.encode()).hexdigest()


def _why(said_no: list[CheckResult]) -> tuple[str, ...]:
    first, *others = said_no
    why = [
        f"gate {_told(first)}: shall it go on without that?",
        "no retry is left: without a yes it is rejected for good",
    ]
    why += [f"asked about next: gate {_told(other)}" for other in others[:_MOST_SHOWN]]
    return tuple(line(text, 300) for text in why)


def _told(result: CheckResult) -> str:
    reason = f" ({result.reason})" if result.reason else ""
    return f"'{result.name}' has said no: {result.verdict}{reason}"
