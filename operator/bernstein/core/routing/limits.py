"""How long a session may take."""

from __future__ import annotations

from bernstein.api.plans.parts import Part
from bernstein.api.project import Project, ProjectSpec
from bernstein.api.task import Task, TaskSpec

_DOUBLED = frozenset({"architect", "security", "manager"})
"""Roles that may take twice as long."""


def timeout_seconds(task: Task, project: Project) -> int:
    """Seconds a session of the Task may take."""
    return seconds_of(task.spec, project.spec)


def seconds_of(work: TaskSpec | Part, project: ProjectSpec) -> int:
    """By scope, at least twice the estimate; some roles get double."""
    by_scope: int = getattr(project.limits.timeout_seconds, work.scope)
    limit = max(by_scope, 2 * 60 * (work.estimated_minutes or 0))
    return limit * 2 if work.role in _DOUBLED else limit
