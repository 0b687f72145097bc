"""Which of a Plan's repositories its steps work in, and which they wait for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bernstein.api.plan import PlanRepository, PlanSpec, Stage, Step
from bernstein.api.project import ProjectSpec
from bernstein.api.projects.repository import Repository
from bernstein.core.projects import repositories


class Routed(NamedTuple):
    """Names of repositories of the Project; None: the Plan says nothing that would need one."""

    repository: str | None
    after: str | None


def entry(spec: PlanSpec, said: str | None) -> PlanRepository | None:
    """The entry of `repos` of this name; without one the first."""
    if said is None:
        return next(iter(spec.repos), None)
    return next((each for each in spec.repos if each.called == said), None)


def route(spec: PlanSpec, stage: Stage, step: Step, project: ProjectSpec | None) -> Routed:
    """Where a step of a valid Plan works."""
    if project is None:
        return Routed(None, None)
    if not spec.repos and len(project.repositories) == 1:
        return Routed(None, None)
    its = _found(entry(spec, step.repo or stage.repo), project)
    after = step.depends_on_repo and _found(entry(spec, step.depends_on_repo), project)
    return Routed(its.name if its else None, after.name if after else None)


def used(spec: PlanSpec, project: ProjectSpec) -> tuple[Repository, ...]:
    """The repositories of the Project that steps of the Plan work in, in the order in which it
    lists them."""
    said = set(_said(spec))
    entries = [each for each in spec.repos if each.called in said]
    found = [_found(each, project) for each in entries or (None,)]
    return tuple(each for each in found if each is not None)


def _said(spec: PlanSpec) -> Iterator[str]:
    """What steps call the repositories that they work in."""
    for stage in spec.stages:
        for step in stage.steps:
            its = entry(spec, step.repo or stage.repo)
            if its is not None:
                yield its.called


def _found(said: PlanRepository | None, project: ProjectSpec) -> Repository | None:
    if said is None:
        return project.repositories[0]
    return repositories.find(project, said.path, said.branch)
