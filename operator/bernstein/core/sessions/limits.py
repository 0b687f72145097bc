"""How long a session may take."""

from __future__ import annotations

from bernstein.api.project import Project
from bernstein.api.task import Task

_DOUBLED = frozenset({"architect", "security", "manager"})
"""Roles that may take twice as long."""


def timeout_seconds(task: Task, project: Project) -> int:
    """Seconds a session may take: by scope, at least twice the estimate; some roles get double."""
    by_scope: int = getattr(project.spec.limits.timeout_seconds, task.spec.scope)
    limit = max(by_scope, 2 * 60 * (task.spec.estimated_minutes or 0))
    return limit * 2 if task.spec.role in _DOUBLED else limit
