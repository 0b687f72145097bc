"""What the deletion of a Project's refs looks at, from the caches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache
from heapq import nsmallest
from typing import NamedTuple

from bernstein.api.project import Project
from bernstein.api.projects.refs import PrunedThrough, RefToDelete
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.caches.folders import Found
from bernstein.controllers.caches.kept_refs import KeptRefs
from bernstein.core import names
from bernstein.core.projects import repositories
from bernstein.core.retention import pruning
from bernstein.core.retention.pruning import Ended, PruneSnapshot
from bernstein.core.retention.refs import Ref

MOST_REFS = 2 * 50
"""Of what has ended, after which no more is read in one look: a Job deletes fewer."""


async def snapshot(project: Workplace, kept: KeptRefs, now: datetime) -> PruneSnapshot:
    """What there is to be deleted in the repository of this Project."""
    seconds = project.spec.retention.refs_seconds
    if not seconds:
        return PruneSnapshot(project, {})
    known = project.status.refs_in(project.spec.repository.name)
    through = known.through if known is not None else None
    found = _Ends((), None)
    if not pruning.is_busy(project, now):
        found = await _ended(project, kept, through, now)
    departed, more = _departed(project, kept, now)
    return PruneSnapshot(
        project,
        {},
        found.ended,
        found.later,
        departed,
        more,
        kept.lost(project),
        _held(project, kept, seconds, now, found.held),
    )


class _Ends(NamedTuple):
    ended: tuple[Ended, ...]
    later: datetime | None
    """When the first ended that is not due yet."""
    held: frozenset[str] = frozenset()
    """Folders whose refs were not read, as somebody goes on in them."""


async def _ended(
    project: Workplace, kept: KeptRefs, through: PrunedThrough | None, now: datetime
) -> _Ends:
    """What has ended is read only where nobody goes on, and no more of it than a Job deletes."""
    seconds, namespace = project.spec.retention.refs_seconds, project.metadata.namespace
    owners, later = kept.ended(project, through, now - timedelta(seconds=seconds))
    found: list[Ended] = []
    held: set[str] = set()
    refs = 0
    for end, owner in owners:
        uid = owner.metadata.uid
        folder = names.refs_of(uid)
        its: Iterable[Found] = ()
        if kept.is_held(namespace, folder, seconds, now):
            held.add(folder)
        else:
            its = await kept.folders.of_owner(owner)
        found.append(Ended(end.at, uid, folder, frozenset(_of_repository(project, its))))
        refs += len(found[-1].refs)
        waits = folder in held and pruning.waits_for_somebody(end.at, seconds, now)
        if waits or refs > MOST_REFS:
            break
    return _Ends(tuple(found), later, frozenset(held))


def _of_repository(project: Workplace, found: Iterable[Found]) -> Iterator[Ref]:
    is_its = _is_its(project)
    return (each.ref for each in found if is_its(each.repository))


def _is_its(project: Workplace) -> Callable[[str | None], bool]:
    """`may_be_in` for this repository; thousands name the same."""
    return cache(lambda said: may_be_in(project, said, project.spec.repository.name))


def may_be_in(project: Project, said: str | None, repository: str) -> bool:
    """Whether what names its repository so has its refs in this one. Where it names none, any may
    have them: a ref is deleted at its own commit alone."""
    if said is None:
        return True
    whole = project.whole if isinstance(project, Workplace) else project
    found = repositories.find(whole.spec, said)
    return found is None or found.name == repository


def _departed(
    project: Workplace, kept: KeptRefs, now: datetime
) -> tuple[tuple[RefToDelete, ...], int]:
    """Those that come first, as many as there is room for, and how many others do not wait yet.

    Where there is no room, and nothing is begun now, nobody looks through what may be thousands.
    """
    state, most = project.status.refs_in(project.spec.repository.name), pruning.room(project)
    if state is not None and len(state.waiting) >= most and pruning.is_busy(project, now):
        return (), state.unwritten
    keeps, is_its = timedelta(seconds=project.spec.retention.refs_seconds), _is_its(project)
    found = [
        (left.at if left.landed else left.at + keeps, *ref)
        for ref, left in kept.departed(project).items()
        if is_its(left.repository)
    ]
    first = nsmallest(most, found, key=pruning.order(state))
    rows = tuple(RefToDelete(ref=ref, sha=sha, due=due) for due, ref, sha in first)
    others = len(found) - len(rows)
    if others and state is not None:
        told = {Ref(row.ref, row.sha) for row in state.waiting} - {Ref(*row[1:]) for row in first}
        departed = kept.departed(project)
        others -= sum(ref in departed and is_its(departed[ref].repository) for ref in told)
    return rows, others


def _held(
    project: Workplace, kept: KeptRefs, seconds: int, now: datetime, held: Collection[str]
) -> Callable[[str], bool]:
    """`held`: folders of which that is known."""

    @cache
    def is_held(folder: str) -> bool:
        return folder in held or kept.is_held(project.metadata.namespace, folder, seconds, now)

    return is_held
