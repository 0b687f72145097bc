"""The work of a Task: whether a person must say yes before it lands, and whether one has."""

from __future__ import annotations

from bernstein.api.approvals.approval import Asks
from bernstein.api.task import TaskStatus
from bernstein.api.verification import Verification
from bernstein.checks.changes import digest_of
from bernstein.core.approvals import policy
from bernstein.core.approvals.asking import Question, is_approved
from bernstein.core.projects.protected import protected_paths
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.verification.candidate import origin_of


def question(snapshot: TaskSnapshot, status: TaskStatus) -> Question | None:
    """What is to be asked about the tree that was verified; None: nothing.

    A person whose yes it has is not asked again.
    """
    asked = _question(snapshot, status)
    return None if asked is None or is_approved(status.approval, asked) else asked


def _question(snapshot: TaskSnapshot, status: TaskStatus) -> Question | None:
    judged, project = status.verification, snapshot.project
    if judged is None or judged.passed is not True or project is None:
        return None
    plan = snapshot.plan
    rules = policy.effective(project.spec, plan.spec if plan is not None else None)
    protected = digest_of(protected_paths(project.spec))
    of_models = policy.why_models(judged)
    because = (*policy.why_result(rules, snapshot.task, judged, protected), *of_models)
    if not because:
        return None
    author = policy.author_of(snapshot.task, plan) if rules.approver_is_not_author else None
    asks = _asks(status, judged, author)
    return Question("Task", snapshot.task.metadata, asks, because, rules)


def _asks(status: TaskStatus, judged: Verification, author: str | None) -> Asks:
    return Asks(
        attempt=status.attempt,
        work=origin_of(judged).sha,
        sha=judged.sha,
        base=judged.base,
        digest=judged.digest or judged.tree,
        not_by=author,
    )


def may_land(snapshot: TaskSnapshot, status: TaskStatus) -> bool:
    """Whether all people have said yes who must."""
    return question(snapshot, status) is None
