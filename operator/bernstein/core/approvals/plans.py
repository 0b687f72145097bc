"""A Plan before it begins: whether a person must say yes first, and what came of that."""

from __future__ import annotations

import hashlib
import json

from bernstein.api.approvals.approval import APPROVE, AskedApproval, Asks
from bernstein.api.plan import NEXT, Plan, PlanSpec, PlanStatus
from bernstein.api.project import Project
from bernstein.core.approvals import policy
from bernstein.core.approvals.asking import Question, is_approved

NOT_ASKED = ("approval", "author", "cancel", "requests", "suspend")
"""Fields of a spec that change nothing of what a Plan does."""


def question(
    plan: Plan, project: Project, status: PlanStatus, written_by: str | None = None
) -> Question | None:
    """What is to be asked before the Plan begins; None: nothing, or a person has said yes to
    exactly this. `written_by`: the Task whose agent wrote it.

    One whose turn to begin has come is not asked about any more: its Job may be on its way.
    """
    if _begins(status):
        return None
    rules = policy.effective(project.spec, plan.spec)
    because = policy.why_plan(rules, status.estimate, written_by)
    if not because:
        return None
    author = plan.spec.author if rules.approver_is_not_author else None
    asks = Asks(digest=digest_of(plan.spec), not_by=author)
    asked = Question("Plan", plan.metadata, asks, because, rules)
    return None if is_approved(status.approval, asked) else asked


def lacks_author(plan: Plan, project: Project, status: PlanStatus) -> bool:
    """Whether it may not begin, because nobody knows who may not decide: the rule that asks for
    that came after the Plan was checked."""
    rules = policy.effective(project.spec, plan.spec)
    return not _begins(status) and policy.lacks_author(rules, plan.spec.author)


def may_begin(plan: Plan, project: Project) -> bool:
    """Whether it may get its turn to begin, by what is now: since it asked for one, the policy may
    have changed, or the Plan itself, and it may not have been looked at."""
    status = plan.status
    return question(plan, project, status) is None and not lacks_author(plan, project, status)


def _begins(status: PlanStatus) -> bool:
    return status.integration is not None or status.beginning == NEXT


def digest_of(spec: PlanSpec) -> str:
    """Names what the Plan would do."""
    asked = spec.model_dump(mode="json", exclude_defaults=True, exclude=set(NOT_ASKED))
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def pending(status: PlanStatus | None) -> AskedApproval | None:
    """What is asked about the Plan, while nobody has decided."""
    asked = status.approval if status is not None else None
    return asked if asked is not None and asked.decision is None else None


def is_rejected(status: PlanStatus | None) -> bool:
    """Whether somebody has said no, or nobody yes in time."""
    return status is not None and status.rejected is not None


def is_unapproved(status: PlanStatus | None) -> bool:
    """Whether nobody has said yes who must: nothing of it may start."""
    return pending(status) is not None or is_rejected(status)


def was_approved(status: PlanStatus | None) -> bool:
    """Whether a person has said yes."""
    asked = status.approval if status is not None else None
    return asked is not None and asked.decision == APPROVE


def decided_by(status: PlanStatus | None) -> str:
    """Who let its Tasks start, or ended them: "operator", where no person did."""
    if status is None:
        return "operator"
    asked = status.rejected or status.approval
    return (asked.by if asked is not None else None) or "operator"
