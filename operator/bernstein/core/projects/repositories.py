"""Which repository of its Project a Plan or a Task works in.

It is named as a repository is called in the Project, or by its address. Without a word it is the
first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import NamedTuple

from bernstein.api.delivery import PullRequest
from bernstein.api.plan import Plan, PlanRepository, PlanSpec
from bernstein.api.programs.forge import SeenPullRequest
from bernstein.api.project import Project, ProjectSpec
from bernstein.api.projects.repository import Repository
from bernstein.api.projects.workplace import Workplace, at
from bernstein.api.reasons import Reason
from bernstein.api.task import Task
from bernstein.core import names
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.names import short_hash
from bernstein.core.sanitise import line
from bernstein.urls import split

_LISTED = 600
_SAID = 200


class Place(NamedTuple):
    """The Project with the one repository that is worked in, or why there is none."""

    project: Workplace | None
    problem: Diagnosis | None = None


def digest(repository: Repository) -> str:
    """The same for the same repository, over https or SSH: a pull request's number means nothing in
    another one."""
    parts = split(repository.url)
    if parts is None:
        return short_hash(repository.url, length=16)
    path = parts.path.strip("/").removesuffix(".git").lower()
    return short_hash((parts.hostname or "").lower(), path, length=16)


def url_of(repository: Repository, ref: str) -> str:
    """Where the ref is."""
    return repository.work_url if names.is_work_ref(ref) else repository.url


def is_in(pull: PullRequest, repository: Repository) -> bool:
    """Whether the pull request is in this repository, as far as is known."""
    return pull.repository in (None, digest(repository))


def pull_request(told: SeenPullRequest, url: str, repository: Repository) -> PullRequest | None:
    """One of this repository, as a Job tells of it; None: it is not what a forge tells."""
    try:
        return PullRequest.model_validate(
            {"number": told.number, "url": line(url, 2048), "state": told.state}
            | {"sha": told.sha, "repository": digest(repository)}
        )
    except ValueError:
        return None


def of_plan(plan: Plan, project: Project) -> Repository | None:
    """The repository that the Plan began in; before that, the one that it names."""
    begun = plan.status.integration
    if begun is not None and begun.repository is not None:
        return find(project.spec, begun.repository)
    return named_in(plan.spec, project.spec)


def named_in(plan: PlanSpec, spec: ProjectSpec) -> Repository | None:
    """The repository that the Plan's first step works in."""
    said = plan.repos[0] if len(plan.repos) == 1 else next(entries_used(plan), None)
    return find(spec, None) if said is None else of_entry(said, spec)


def of_entry(entry: PlanRepository, spec: ProjectSpec) -> Repository | None:
    """The repository of the Project that an entry of `repos` means; as find."""
    return find(spec, entry.path, entry.branch)


def entry(plan: PlanSpec, said: str | None) -> PlanRepository | None:
    """The entry of `repos` of this name; without one the first."""
    if said is None or not said.strip():
        return next(iter(plan.repos), None)
    return next((each for each in plan.repos if each.called == said.strip()), None)


def entries_used(plan: PlanSpec) -> Iterator[PlanRepository]:
    """The entries of `repos` that steps work in, each once, in the order of the steps."""
    if not plan.repos:
        return
    said = dict.fromkeys([work.repo for work in plan.work])
    its = (entry(plan, each) for each in said)
    yield from {each.called: each for each in its if each is not None}.values()


def place_of_plan(plan: Plan, project: Project | None) -> Workplace | None:
    """The Project as the Plan sees it; None: it has none with its repository."""
    repository = of_plan(plan, project) if project is not None else None
    if project is None or repository is None:
        return None
    return at(project, repository.name)


def of_task(task: Task, plan: Plan | None, project: Project) -> Repository | None:
    """The repository that the Task works in."""
    if task.spec.repo is None and plan is not None:
        return of_plan(plan, project)
    return find(project.spec, task.spec.repo)


def called(spec: ProjectSpec, task: Task) -> str:
    """The name of the repository that the Task names; "": the Project has none of that name. That
    of a Plan is not asked: the refs in which its Tasks land are the Plan's own."""
    its = find(spec, task.spec.repo)
    return its.name if its is not None else ""


def place_of_task(task: Task, plan: Plan | None, project: Project | None) -> Place:
    """The Project as the Task sees it."""
    if project is None:
        return Place(None)
    repository = of_task(task, plan, project)
    if repository is not None:
        return Place(at(project, repository.name))
    text = f"the Project has no repository {unknown(project.spec, task.spec.repo or '')}"
    return Place(None, Diagnosis(Reason.REPOSITORY_NOT_FOUND, text))


def find(spec: ProjectSpec, said: str | None, branch: str | None = None) -> Repository | None:
    """The repository of this name or address, and of this branch if one is said.

    None: there is none, or the address is that of several.
    """
    if said is None:
        return spec.repositories[0]
    named = [each for each in spec.repositories if each.name == said]
    found = named or [each for each in spec.repositories if address(each.url) == address(said)]
    fits = [each for each in found if branch in (None, each.branch)]
    return fits[0] if len(fits) == 1 else None


def unknown(spec: ProjectSpec, said: str, branch: str | None = None) -> str:
    """The name that is none, with what may be meant, and what there is."""
    told = f"'{line(said, _SAID)}'"
    names = [each.name for each in spec.repositories]
    listed = line(", ".join(names), _LISTED)
    same = [each for each in spec.repositories if address(each.url) == address(said)]
    if branch is not None and (same or said in names):
        branches = [each.branch for each in spec.repositories if each in same or each.name == said]
        return (
            f"{told} with the branch '{line(branch, _SAID)}': work in it goes to "
            f"{line(', '.join(branches), _LISTED)}, as the Project says"
        )
    if len(same) > 1:
        return (
            f"{told} alone: that is the address of {line(', '.join(r.name for r in same), _LISTED)}"
        )
    meant = get_close_matches(said, names, n=1)
    hint = f", did you mean '{meant[0]}'?" if meant else ","
    return f"{told}{hint} it has: {listed}"


def address(url: str) -> str:
    """The address without what makes no difference to a git server."""
    return url.rstrip("/").removesuffix(".git")
