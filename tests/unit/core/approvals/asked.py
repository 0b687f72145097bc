"""Questions to people, and what they decide, as decisions see them."""

from __future__ import annotations

from typing import Any

from bernstein.api.approvals.approval import Approval
from bernstein.api.project import Project
from bernstein.core.actions import CreateApproval, Decision
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object

DIGEST = "d" * 64
ANN, BEN = "ann@example.org", "ben@example.org"
LONG = f"oidc:{'x' * 295}"
"""A user whose name is as long as one may be."""


def asking(**policy: Any) -> Project:
    """A Project with this policy."""
    rules = {"result": "Always"} | policy
    return objects.project(
        gates={"pipeline": [{"name": "pii_scan", "enabled": False}]}, approval=rules
    )


def made(decision: Decision[Any, Any]) -> Approval:
    """The Approval that was asked for."""
    (action,) = [a for a in decision.actions if isinstance(a, CreateApproval)]
    return of(action.approval)


def of(manifest: Object, **spec: Any) -> Approval:
    meta = manifest["metadata"] | {"uid": "uid-approval", "generation": 1}
    meta |= {"creationTimestamp": NOW}
    return Approval.model_validate(manifest | {"metadata": meta, "spec": manifest["spec"] | spec})


def decided(
    approval: Approval, decision: str, by: str = ANN, reason: str | None = None
) -> Approval:
    update = {"decision": decision, "decided_by": by, "reason": reason}
    return approval.model_copy(update={"spec": approval.spec.model_copy(update=update)})


def known(*approvals: Approval) -> dict[str, Approval]:
    return {approval.metadata.name: approval for approval in approvals}
