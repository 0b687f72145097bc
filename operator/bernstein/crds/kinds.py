"""The kinds: which model each is made from, what it is called, what `kubectl get` shows of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bernstein.api.approvals.approval import Approval
from bernstein.api.meta import ConditionType, Model
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.roles.role import AgentRole
from bernstein.api.session import AgentSession
from bernstein.api.task import Task


@dataclass(frozen=True)
class Column:
    """A column of `kubectl get`; a wide one shows with `-o wide` only."""

    name: str
    path: str
    type: str = "string"
    wide: bool = False

    def schema(self) -> dict[str, Any]:
        column: dict[str, Any] = {"name": self.name, "type": self.type, "jsonPath": self.path}
        return column | {"priority": 1} if self.wide else column


def _condition(kind: str, field: str = "status") -> str:
    return f'.status.conditions[?(@.type=="{kind}")].{field}'


def _why(*kinds: str) -> Column:
    """The column Reason: that of the first of these conditions that there is."""
    return Column("Reason", _first(kinds, "reason"))


def _first(kinds: Iterable[str], field: str) -> str:
    """A path has no "or". What stands in brackets with commas between is looked up in turn, and the
    first that is found is shown; the space before it lets filters be read there."""
    in_turn = ",".join(f' ?(@.type=="{kind}")' for kind in kinds)
    return f".status.conditions[{in_turn}].{field}"


_PROGRESS = (ConditionType.STALLED, ConditionType.RECONCILING, ConditionType.SUCCEEDED)
_WARNINGS = (
    *(ConditionType.PULL_REQUESTS_NOT_CLOSED, ConditionType.CACHE_NOT_FILLED),
    *(ConditionType.REFS_NOT_DELETED, ConditionType.WORK_CREDENTIAL_TOO_STRONG),
    ConditionType.READ_CREDENTIAL_TOO_STRONG,
)
"""Of a Project, which has one only while there is a reason for it; those first that are new, and
not as somebody may have chosen."""
AGE = Column("Age", ".metadata.creationTimestamp", "date")


@dataclass(frozen=True)
class Kind:
    model: type[Model]
    plural: str
    short_name: str
    columns: tuple[Column, ...]

    @property
    def name(self) -> str:
        return self.model.__name__


KINDS = (
    Kind(
        Project,
        "projects",
        "bproj",
        (
            Column("Repository", ".spec.repositories[0].name"),
            Column("Ready", _condition(ConditionType.READY)),
            Column("Reason", _condition(ConditionType.READY, "reason")),
            Column("Running", ".status.running", "integer"),
            Column("Max", ".spec.limits.maxAgents", "integer"),
            AGE,
            Column("Warning", _first(_WARNINGS, "type"), wide=True),
            Column("URL", ".spec.repositories[0].url", wide=True),
            Column("Branch", ".spec.repositories[0].branch", wide=True),
            Column("Merge", ".spec.merge.strategy", wide=True),
        ),
    ),
    Kind(
        Plan,
        "plans",
        "bplan",
        (
            Column("Phase", ".status.phase"),
            Column("Closed", ".status.counts.closed", "integer"),
            Column("Total", ".status.counts.total", "integer"),
            _why(*_PROGRESS, ConditionType.SUSPENDED),
            Column("Cost", ".status.spendUsd"),
            AGE,
            Column("Failed", ".status.counts.failed", "integer", wide=True),
            Column("Stage", ".status.currentStage", wide=True),
            Column("Running", ".status.counts.running", "integer", wide=True),
            Column("Until", ".status.waiting.until", wide=True),
            Column("Budget", ".spec.budget", wide=True),
            Column("Delivery", ".status.delivery.state", wide=True),
            Column("Request", ".status.delivery.pullRequest.number", "integer", wide=True),
            Column("CI", ".status.delivery.pullRequest.ci", wide=True),
            Column("Project", ".status.project", wide=True),
            Column("Approval", ".status.approval.name", wide=True),
            Column("URL", ".status.delivery.pullRequest.url", wide=True),
        ),
    ),
    Kind(
        Task,
        "tasks",
        "btask",
        (
            Column("State", ".status.state"),
            Column("Tries", ".status.attempt", "integer"),
            _why(*_PROGRESS),
            Column("Cost", ".status.spendUsd"),
            AGE,
            Column("Title", ".spec.title", wide=True),
            Column("Role", ".spec.role", wide=True),
            Column("Until", ".status.waiting.until", wide=True),
            Column("Approval", ".status.approval.name", wide=True),
            Column("URL", ".status.delivery.pullRequest.url", wide=True),
        ),
    ),
    Kind(
        AgentSession,
        "agentsessions",
        "bsess",
        (
            Column("State", ".status.state"),
            Column("Reason", ".status.reason"),
            Column("Heartbeat", ".status.report.heartbeatTime", "date"),
            AGE,
            Column("Task", ".spec.taskRef.name", wide=True),
            Column("Agent", ".spec.agent", wide=True),
            Column("Model", ".spec.model", wide=True),
            Column("Input", ".status.report.usage.input", "integer", wide=True),
            Column("Output", ".status.report.usage.output", "integer", wide=True),
            Column("SHA", ".status.work.sha", wide=True),
            Column("Pod", ".status.pod.name", wide=True),
            Column("Node", ".status.pod.node", wide=True),
            Column("Progress", ".status.report.progress", wide=True),
        ),
    ),
    Kind(
        Approval,
        "approvals",
        "bappr",
        (
            Column("State", ".status.state"),
            _why(*_PROGRESS),
            AGE,
            Column("Kind", ".spec.subject.kind", wide=True),
            Column("Subject", ".spec.subject.name", wide=True),
            Column("Decision", ".spec.decision", wide=True),
            Column("By", ".spec.decidedBy", wide=True),
            Column("Expires", ".status.expiresAt", wide=True),
            Column("Files", ".status.shown.filesChanged", "integer", wide=True),
            Column("Cost", ".status.shown.costUsd", wide=True),
            Column("Because", ".status.shown.because[0]", wide=True),
            Column("Title", ".status.shown.title", wide=True),
            Column("Commit", ".spec.asks.sha", wide=True),
            Column("Said", ".spec.reason", wide=True),
        ),
    ),
    Kind(
        AgentRole,
        "agentroles",
        "brole",
        (
            Column("Valid", _condition(ConditionType.VALIDATED)),
            Column("Reason", _condition(ConditionType.VALIDATED, "reason")),
            Column("Overrides", ".status.overrides", "boolean"),
            Column("Model", ".status.effective.model"),
            Column("Effort", ".status.effective.effort"),
            AGE,
            Column("Description", ".spec.description", wide=True),
        ),
    ),
)
