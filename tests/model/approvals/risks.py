"""What people must say yes to, worked out once more from what a Project and a Plan ask for, and
from what programs have said of commits: not as the engine does it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.pod import Changed
from bernstein.api.task import TaskSpec

_LOOSEST_FIRST = ("Never", "AboveCost", "HighRisk", "Always")


@dataclass(frozen=True)
class Rules:
    """What a Project asked for at some time."""

    policy: ApprovalPolicy
    protected: frozenset[str]
    """Its protected paths."""

    def beside(self, plan: ApprovalPolicy | None) -> Rules:
        """Those that hold for a Plan, and for its Tasks: of either policy what asks for more."""
        return self if plan is None else Rules(_both(self.policy, plan), self.protected)

    def ask_about_plan(self, cost: str | None) -> bool:
        """`cost`: what the Plan may cost in US dollars; None: nobody knows."""
        if self.policy.plan != "AboveCost":
            return self.policy.plan == "Always"
        assert self.policy.above_usd is not None
        return cost is None or Decimal(cost) > Decimal(self.policy.above_usd)

    def ask_about_work(self, spec: TaskSpec, said: Said) -> bool:
        if self.policy.result == "Always" or self._may_touch_a_protected_path(said):
            return True
        if self.policy.result == "Never":
            return False
        sensitive = spec.role == "security" or spec.complexity == "high"
        return sensitive or bool(said.changed.weakened or said.changed.configured)

    def _may_touch_a_protected_path(self, said: Said) -> bool:
        """Whoever protects nothing is asked about no path; what was compared with another list may
        have changed any."""
        compared = said.protected == self.protected
        return bool(self.protected) and not (compared and not said.changed.protected)


def _both(project: ApprovalPolicy, plan: ApprovalPolicy) -> ApprovalPolicy:
    above = [Decimal(each.above_usd) for each in (project, plan) if each.above_usd is not None]
    which = _stricter(project.plan, plan.plan)
    keeps = project.moved_base == "Keep" and plan.moved_base != "Ask"
    return ApprovalPolicy.model_validate(
        {
            "plan": which,
            "aboveUsd": str(min(above)) if which == "AboveCost" else None,
            "result": _stricter(project.result, plan.result),
            "approverIsNotAuthor": project.approver_is_not_author or plan.approver_is_not_author,
            "movedBase": "Keep" if keeps else "Ask",
        }
    )


def _stricter(one: str, other: str) -> str:
    return max(one, other, key=_LOOSEST_FIRST.index)


@dataclass(frozen=True)
class Said:
    """What a program has said of a commit, and which paths it was told to be protected."""

    changed: Changed
    protected: frozenset[str]


class Commits:
    """What was said of each. Who makes one again may have been told of other protected paths, and
    nobody may have heard of the first time."""

    def __init__(self) -> None:
        self._said: dict[str, set[Said]] = defaultdict(set)

    def told(self, sha: str, changed: Changed, protected: frozenset[str]) -> None:
        self._said[sha].add(Said(changed, protected))

    def of(self, sha: str) -> set[Said]:
        return self._said[sha]
