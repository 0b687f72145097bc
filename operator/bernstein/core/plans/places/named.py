"""Which of a Plan's repositories its steps work in, and which they wait for."""

from __future__ import annotations

from typing import NamedTuple

from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.api.projects.repository import Repository
from bernstein.core.projects import repositories


class Routed(NamedTuple):
    """Names of repositories of the Project; None: the Plan says nothing that would need one."""

    repository: str | None
    after: str | None


def route(
    spec: PlanSpec, said: str | None, project: ProjectSpec | None, *, after: str | None = None
) -> Routed:
    """Where a step or a node of a valid Plan works, by what is said of it; and, of a step, after
    all of which other repository."""
    if project is None:
        return Routed(None, None)
    if not spec.repos and len(project.repositories) == 1:
        return Routed(None, None)
    its = _found(spec, said, project)
    first = _found(spec, after, project) if after else None
    return Routed(its.name if its else None, first.name if first else None)


def used(spec: PlanSpec, project: ProjectSpec) -> tuple[Repository, ...]:
    """The repositories of the Project that steps of a valid Plan work in, in their order."""
    if not spec.repos:
        return (project.repositories[0],)
    found = (repositories.of_entry(its, project) for its in repositories.entries_used(spec))
    return tuple(its for its in found if its is not None)


def _found(spec: PlanSpec, said: str | None, project: ProjectSpec) -> Repository | None:
    its = repositories.entry(spec, said)
    if its is None:
        assert not spec.repos, "a valid Plan names those alone that it lists"
        return project.repositories[0]
    return repositories.of_entry(its, project)
