"""What the deletion of a Project's refs looks at, from the caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.projects.refs import PrunedThrough, RefToDelete
from bernstein.api.projects.workplace import Workplace
from bernstein.api.task import Task
from bernstein.controllers.caches.kept_refs import KeptRefs
from bernstein.core import names
from bernstein.core.projects import repositories
from bernstein.core.retention.pruning import Ended, PruneSnapshot

MOST_REFS = 2 * 50
"""Of what has ended, after which no more is read in one look: a Job deletes fewer."""


def snapshot(project: Workplace, kept: KeptRefs, now: datetime) -> PruneSnapshot:
    """What there is to be deleted in the repository of this Project."""
    seconds = project.spec.retention.refs_seconds
    if not seconds:
        return PruneSnapshot(project, {})
    known = project.status.refs_in(project.spec.repository.name)
    through = known.through if known is not None else None
    if known is not None and (known.batch or (known.until is not None and known.until > now)):
        ended: tuple[Ended, ...] = ()  # nothing is begun now
        later: datetime | None = None
    else:
        ended, later = _ended(project, kept, through, now - timedelta(seconds=seconds))
    return PruneSnapshot(
        project,
        {},
        ended,
        later,
        tuple(_departed(project, kept)),
        kept.lost(project),
        _held(project, kept, seconds, now),
    )


def _ended(
    project: Workplace, kept: KeptRefs, through: PrunedThrough | None, before: datetime
) -> tuple[tuple[Ended, ...], datetime | None]:
    owners, later = kept.ended(project, through, before)
    found: list[Ended] = []
    refs = 0
    for end, owner in owners:
        found.append(_of(end.at, owner, project, kept))
        refs += len(found[-1].refs)
        if refs > MOST_REFS:
            break
    return tuple(found), later


def _of(at: datetime, owner: Plan | Task, project: Workplace, kept: KeptRefs) -> Ended:
    its = project.spec.repository.name
    refs = (ref for ref, said in kept.of_owner(owner) if may_be_in(project, said, its))
    uid = owner.metadata.uid
    return Ended(at, uid, names.refs_of(uid), frozenset(refs))


def may_be_in(project: Project, said: str | None, repository: str) -> bool:
    """Whether what names its repository so has its refs in this one. Where it names none, any may
    have them: a ref is deleted at its own commit alone."""
    if said is None:
        return True
    whole = project.whole if isinstance(project, Workplace) else project
    found = repositories.find(whole.spec, said)
    return found is None or found.name == repository


def _departed(project: Workplace, kept: KeptRefs) -> Iterator[RefToDelete]:
    keeps = timedelta(seconds=project.spec.retention.refs_seconds)
    for ref, left in kept.departed(project).items():
        if may_be_in(project, left.repository, project.spec.repository.name):
            due = left.at if left.landed else left.at + keeps
            yield RefToDelete(ref=ref.ref, sha=ref.sha, due=due)


def _held(project: Workplace, kept: KeptRefs, seconds: int, now: datetime) -> Callable[[str], bool]:
    @cache
    def is_held(folder: str) -> bool:
        return kept.is_held(project.metadata.namespace, folder, seconds, now)

    return is_held
