"""The policy of a plan file: when people decide. The same words as in a Plan object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bernstein.api.approvals.policy import EXPIRES_AFTER_SECONDS, MOVED_BASE, PLANS, RESULTS
from bernstein.api.project import ProjectSpec
from bernstein.api.vocabulary import PLAN_MERGES
from bernstein.core.plans.field_errors import Findings, Table


def table(findings: Findings) -> Table:
    """The fields of `approval`."""
    least, most = EXPIRES_AFTER_SECONDS
    return {
        "plan": lambda path, value: findings.choice(path, value, PLANS),
        "above_usd": findings.sum_of_money,
        "result": lambda path, value: findings.choice(path, value, RESULTS),
        "expires_after_seconds": lambda path, value: findings.integer(path, value, least, most),
        "approver_is_not_author": findings.boolean,
        "moved_base": lambda path, value: findings.choice(path, value, MOVED_BASE),
    }


def go_together(findings: Findings, path: str, policy: Mapping[Any, Any]) -> None:
    """A cost to ask about is named where Plans above it are asked about, and nowhere else."""
    asks, place = policy.get("plan") == "AboveCost", f"{path}.above_usd"
    if asks and policy.get("above_usd") is None:
        findings.error(place, f"{path}: plan: AboveCost needs the field 'above_usd'")
    elif not asks and policy.get("above_usd") is not None:
        findings.error_at(place, "goes with plan: AboveCost, and only with that")


def merge(findings: Findings, project: ProjectSpec | None, path: str, value: object) -> None:
    """A pull request is opened where its Project knows a forge; of an unknown one nobody says."""
    findings.choice(path, value, PLAN_MERGES)
    if value in PLAN_MERGES and project is not None and project.repository.forge is None:
        findings.error_at(path, "pr: the Project's repository has no 'forge'")
