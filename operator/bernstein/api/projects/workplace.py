"""A Project as those see it who work in one of its repositories: it has that one alone.

Whoever is given a Workplace can mount or ask nothing of another repository, as it knows of none.
"""

from __future__ import annotations

from pydantic import Field

from bernstein.api.project import Project, ProjectSpec
from bernstein.api.projects.repository import Repository


class WorkplaceSpec(ProjectSpec):
    place: int = Field(default=0, exclude=True, description="The repository's index.")

    @property
    def repository(self) -> Repository:
        (only,) = self.repositories
        return only


class Workplace(Project):
    spec: WorkplaceSpec
    whole: Project = Field(exclude=True, repr=False)
    """The Project itself, for what concerns all who work for it."""


class Workplaces:
    """Those of the Projects that were asked about last: it is asked at each event of a Task."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._known: dict[tuple[int, str], tuple[Project, Workplace]] = {}
        """By identity of the Project, which is held so that no other can have it."""

    def of(self, project: Project, repository: str) -> Workplace:
        """The Project with the repository of this name, which it must have."""
        if isinstance(project, Workplace):
            return project
        question = (id(project), repository)
        known = self._known.pop(question, None)
        if known is None:
            known = project, _made(project, repository)
        self._known[question] = known  # last of all
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return known[1]


def _made(project: Project, repository: str) -> Workplace:
    rows = enumerate(project.spec.repositories)
    place, its = next((n, each) for n, each in rows if each.name == repository)
    told = {name: getattr(project.spec, name) for name in type(project.spec).model_fields}
    spec = WorkplaceSpec.model_construct(**{**told, "repositories": (its,), "place": place})
    return Workplace.model_construct(
        metadata=project.metadata, spec=spec, status=project.status, whole=project
    )


at = Workplaces().of
