"""Phases of a workflow that people let begin: asked once for each, when its first node is ready.

A yes holds for all nodes of the phase, and all of their runs. A no, or nobody's word in time, is
one to the Plan: it is cancelled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bernstein.api.approvals.approval import APPROVE, Asks
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.workflow import PhaseStatus, WorkflowStatus
from bernstein.api.reasons import Reason
from bernstein.api.waiting import WaitReason
from bernstein.core.actions import CreateApproval
from bernstein.core.approvals import asking, policy
from bernstein.core.approvals.asking import Question
from bernstein.core.plans.workflows import definition
from bernstein.core.sanitise import line, some
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.waiting import waits

_NAMED = 60


def may_enter(snapshot: PlanSnapshot, status: PlanStatus, phase: str) -> bool:
    """Whether nodes of the phase may run."""
    assert snapshot.plan.spec.workflow is not None
    said = (each for each in snapshot.plan.spec.workflow.phases if each.name == phase)
    if not any(each.requires_approval for each in said):
        return True
    return any(each.name == phase and each.approval.decision == APPROVE for each in _asked(status))


@dataclass(frozen=True)
class Look:
    """What one look at what people are asked comes to."""

    status: PlanStatus
    actions: tuple[CreateApproval, ...] = ()
    seconds: float | None = None
    """Until it is to be looked at again at the latest."""


def look(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> Look:
    """One look at each question: what is asked is written down first, then there is an Approval,
    then somebody decides."""
    actions: list[CreateApproval] = []
    again: list[float] = []
    for phase in _open(snapshot, status):
        question, before = _question(snapshot, status, phase), _of(status, phase)
        if question is None:
            continue
        asked = before.approval if before is not None else None
        its = status.model_copy(update={"approval": asked, "waiting": None})
        seen = asking.look(its, question, snapshot.approvals, now)
        actions += seen.actions
        again += [seen.seconds] if seen.seconds is not None else []
        if seen.status.approval is not None and seen.status.approval != asked:
            status = _with(status, PhaseStatus(name=phase, approval=seen.status.approval))
    return Look(status, tuple(actions), min(again, default=None))


def waits_for_people(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    """The status of a Plan of which nothing moves but what people have to decide; the same, where
    they have to decide nothing."""
    waiting = _awaiting(snapshot, status)
    if not waiting:
        return status
    asked = [each for each in _asked(status) if each.approval.decision is None]
    if not asked:
        lacks = _lacks_author(snapshot)
        text = policy.MISSING_AUTHOR
        reason = Reason.AUTHOR_MISSING
        return waits(status, reason, text, now, needs_person=True) if lacks else status
    told = (f"'{line(p.name, _NAMED)}' by Approval '{p.approval.name}'" for p in asked)
    text = f"a person must let begin: {some(told, len(asked))}"
    return waits(status, WaitReason.AWAITING_APPROVAL, text, now)


def withdrawn(status: PlanStatus) -> PlanStatus:
    """The status that asks nobody any more; what was decided stays known."""
    kept = tuple(each for each in _asked(status) if each.approval.decision is not None)
    if status.workflow is None or kept == status.workflow.phases:
        return status
    return _put(status, kept)


def _open(snapshot: PlanSnapshot, status: PlanStatus) -> Iterable[str]:
    """Phases that people are asked about, or are to be."""
    undecided = {each.name for each in _asked(status) if each.approval.decision is None}
    decided = {each.name for each in _asked(status)} - undecided
    return [
        name
        for name in _names(snapshot)
        if name in undecided or (name in _awaiting(snapshot, status) and name not in decided)
    ]


def _awaiting(snapshot: PlanSnapshot, status: PlanStatus) -> set[str]:
    """Phases with nodes that are ready and may not run."""
    workflow, course = snapshot.plan.spec.workflow, status.workflow
    if workflow is None or course is None:
        return set()
    nodes = definition.of(workflow).nodes
    return {nodes[node.name].phase for node in course.nodes if node.state == "Awaiting"}


def _question(snapshot: PlanSnapshot, status: PlanStatus, phase: str) -> Question | None:
    """None: nobody knows who may not decide."""
    assert snapshot.project is not None
    assert status.workflow is not None
    plan = snapshot.plan
    if _lacks_author(snapshot):
        return None
    rules = policy.effective(snapshot.project.spec, plan.spec)
    author = plan.spec.author if rules.approver_is_not_author else None
    asks = Asks(digest=status.workflow.digest, phase=phase, not_by=author)
    because = (f"phase '{line(phase, 200)}' of its workflow begins with a person's yes",)
    return Question("Plan", plan.metadata, asks, because, rules)


def _lacks_author(snapshot: PlanSnapshot) -> bool:
    if snapshot.project is None:
        return False
    rules = policy.effective(snapshot.project.spec, snapshot.plan.spec)
    return policy.lacks_author(rules, snapshot.plan.spec.author)


def _names(snapshot: PlanSnapshot) -> list[str]:
    assert snapshot.plan.spec.workflow is not None
    return [phase.name for phase in snapshot.plan.spec.workflow.phases]


def _asked(status: PlanStatus) -> tuple[PhaseStatus, ...]:
    return status.workflow.phases if status.workflow is not None else ()


def _of(status: PlanStatus, phase: str) -> PhaseStatus | None:
    return next((each for each in _asked(status) if each.name == phase), None)


def _with(status: PlanStatus, new: PhaseStatus) -> PlanStatus:
    if _of(status, new.name) is None:
        return _put(status, (*_asked(status), new))
    return _put(status, tuple(new if e.name == new.name else e for e in _asked(status)))


def _put(status: PlanStatus, phases: tuple[PhaseStatus, ...]) -> PlanStatus:
    assert isinstance(status.workflow, WorkflowStatus)
    workflow = status.workflow.model_copy(update={"phases": phases})
    return status.model_copy(update={"workflow": workflow})
