"""The policy of a plan file: when people decide. The same words as in a Plan object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bernstein.api.approvals.policy import EXPIRES_AFTER_SECONDS, MOVED_BASE, PLANS, RESULTS
from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.api.vocabulary import PLAN_MERGES
from bernstein.core.plans.field_errors import Findings, Table
from bernstein.core.plans.places import named
from bernstein.core.projects import repositories


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


def merge(findings: Findings, path: str, value: object) -> None:
    findings.choice(path, value, PLAN_MERGES)


def without_forge(spec: PlanSpec, project: ProjectSpec) -> bool:
    """Whether a pull request is asked for where the Project knows no forge of a repository."""
    if spec.merge not in PLAN_MERGES:
        return False
    return any(its.forge is None for its in named.used(spec, project))


def repository(
    findings: Findings, project: ProjectSpec | None, path: str, value: Mapping[Any, Any]
) -> None:
    """An entry of `repos` names a repository of the Project, where that is known."""
    said, branch = value.get("path"), value.get("branch")
    if project is None or not isinstance(said, str):
        return
    branch = branch if isinstance(branch, str) else None
    if repositories.find(project, said, branch) is None:
        text = repositories.unknown(project, said, branch)
        findings.error_at(f"{path}.path", f"the Project has no repository {text}")
