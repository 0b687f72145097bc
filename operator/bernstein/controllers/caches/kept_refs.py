"""Whose refs may go: what has ended, in order, and what was deleted.

Of what was deleted nothing is left but the last event, so its refs are in memory until the status
of the Project has them. A session goes only then: its finalizer holds it, whoever leads. A Plan or
Task has none: those of their own refs that nobody wrote down, because no operator ran when they
were deleted, are named by `bernstein doctor`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from bernstein.api.plan import Plan
from bernstein.api.plan import parse as parse_plan
from bernstein.api.project import Project
from bernstein.api.projects.refs import PrunedThrough, RefToDelete
from bernstein.api.projects.retention import Retention
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.api.task import Task
from bernstein.api.task import parse as parse_task
from bernstein.controllers.caches.folders import FOLDER, Folders, in_namespace
from bernstein.controllers.caches.indexes import of_project, plan_of
from bernstein.controllers.caches.parsed import Parsed
from bernstein.controllers.caches.waiters import End, Ordered
from bernstein.core import owners
from bernstein.core.pods import parse_time
from bernstein.core.retention import refs
from bernstein.core.retention.pruning import ALL
from bernstein.core.retention.refs import Ref
from bernstein.kube.clock import Clock
from bernstein.kube.resource import Key, Object, is_deleting, key_of

MOST_IN_MEMORY = 20_000
"""Refs of what was deleted, of one Project; and as many ends of what was deleted are known."""
AT_ONCE = 20
"""Plans and Tasks that have ended whose refs are read in one look."""
_AT, _PLACE = attrgetter("at"), attrgetter("at", "uid")
_KEPT: int = Retention.model_fields["refs_seconds"].default


@dataclass(frozen=True)
class Departed:
    """When something was deleted, and what it leaves."""

    at: datetime
    landed: bool
    """Its work is where it belongs."""
    repository: str | None
    """As it named that; None: it may be any of the Project's."""


class KeptRefs:
    """Of all Projects; a replica that waits for its turn to lead knows the same, but for those that
    a status has had: who leads has deleted them, or will."""

    def __init__(
        self,
        plans: Parsed[Plan],
        tasks: Parsed[Task],
        sessions: Parsed[AgentSession],
        projects: Parsed[Project],
        clock: Clock,
    ) -> None:
        self._plans, self._tasks, self._sessions = plans, tasks, sessions
        self._projects = projects.informer
        self.folders = Folders(plans, tasks, sessions, clock)
        self._clock = clock
        self._ends = (
            Ordered(plans.informer, _end_of_plan),
            Ordered(tasks.informer, _end_of_task),
        )
        self._departed: defaultdict[str, dict[Ref, Departed]] = defaultdict(dict)
        """By Project."""
        self._lost: defaultdict[str, int] = defaultdict(int)
        self._landed: OrderedDict[str, bool] = OrderedDict()
        """Of deleted Plans and Tasks, by uid."""
        self._leaving: defaultdict[str, dict[str, Key]] = defaultdict(dict)
        """Sessions that are being deleted, by Project and uid."""
        self._noted: set[str] = set()
        """Uids of those whose refs are written down, or are known here at least."""
        plans.informer.add_handler(self._plan_changed)
        tasks.informer.add_handler(self._task_changed)
        sessions.informer.add_handler(self._session_changed)
        projects.informer.add_handler(self._project_changed)

    # --- what the caches tell ---------------------------------------------------------------------

    def _plan_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None and old is not None:
            plan = parse_plan(old)
            for repository, found in refs.of_plan(plan).items():
                self._went(plan, plan.status.project, found, repository)

    def _task_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None and old is not None:
            task = parse_task(old)
            its = refs.repository_of(task)
            self._went(task, task.status.project, refs.of_task(task), its)

    def _went(
        self,
        owner: Plan | Task,
        project: str | None,
        found: Iterable[Ref],
        repository: str | None,
    ) -> None:
        if project is None or not self._keeps(Key(owner.metadata.namespace, project)):
            return
        landed = refs.has_landed(owner)
        self._landed[owner.metadata.uid] = landed
        while len(self._landed) > MOST_IN_MEMORY:
            self._landed.popitem(last=False)
        departed = Departed(self._clock.now(), landed, repository)
        self._note(of_project(owner.metadata.namespace, project), found, departed)

    def _keeps(self, project: Key) -> bool:
        """Whether anybody will ever ask for what is left there."""
        known = self._projects.get(project)
        return not self._projects.has_synced if known is None else bool(_seconds(known))

    def _note(self, where: str, found: Iterable[Ref], departed: Departed) -> None:
        known = self._departed[where]
        for ref in found:
            if ref not in known and len(known) >= MOST_IN_MEMORY:
                self._lost[where] += 1
            else:
                known.setdefault(ref, departed)

    def _session_changed(self, old: Object | None, new: Object | None) -> None:
        if new is not None and is_deleting(new):
            meta = new["metadata"]
            where = of_project(meta["namespace"], new["spec"]["project"])
            self._leaving[where][meta["uid"]] = key_of(new)
        elif new is None and old is not None:
            meta = old["metadata"]
            where = of_project(meta["namespace"], old["spec"]["project"])
            self._leaving[where].pop(meta["uid"], None)
            self._noted.discard(meta["uid"])

    def _project_changed(self, old: Object | None, new: Object | None) -> None:
        meta = (new or old or {})["metadata"]
        where = of_project(meta["namespace"], meta["name"])
        if new is None or not _seconds(new):
            self._forget(where)
            return
        known = self._departed.get(where)
        for pruning in ((new.get("status") or {}).get("refs") or ()) if known else ():
            self._forget_rows(where, (Ref(r["ref"], r["sha"]) for r in pruning.get("waiting", ())))

    # --- what a Project asks ----------------------------------------------------------------------

    def ended(
        self, project: Project, through: PrunedThrough | None, before: datetime
    ) -> tuple[Iterator[tuple[End, Plan | Task]], datetime | None]:
        """What has ended behind a place and before a time, in the order of the ends; and when the
        first of the others ended."""
        where = _where(project)
        found: list[End] = []
        later: list[datetime] = []
        for ends in self._ends:
            under = ends.under(where)
            last = bisect_right(under, before, key=_AT)
            first = _behind(under, through) if through is not None else 0
            found += under[first : max(first, min(last, first + AT_ONCE))]
            later += [end.at for end in under[max(first, last) : max(first, last) + 1]]
        owners = self._owners(project.metadata.namespace, sorted(found)[:AT_ONCE])
        return owners, min(later, default=None)

    def _owners(self, namespace: str, ends: Iterable[End]) -> Iterator[tuple[End, Plan | Task]]:
        for end in ends:
            key = Key(namespace, end.name)
            found = (parsed.get(key) for parsed in (self._plans, self._tasks))
            for owner in found:
                if owner is not None and owner.metadata.uid == end.uid:
                    yield end, owner

    def look(self, project: Project) -> tuple[str, ...]:
        """Takes in what sessions leave that are being deleted, and have ended; returns their
        uids."""
        where = _where(project)
        seen: list[str] = []
        for uid, key in self._leaving.get(where, {}).items():
            session = self._sessions.get(key)
            if session is None or session.status.state is not SessionState.DEAD:
                continue
            seen.append(uid)
            if uid not in self._noted:
                landed = self._landed.get(session.spec.task_ref.uid, False)
                departed = Departed(self._clock.now(), landed, None)
                self._note(where, refs.of_session(session), departed)
        return tuple(seen)

    def departed(self, project: Project) -> Mapping[Ref, Departed]:
        """What memory alone has."""
        return self._departed.get(_where(project), {})

    def has_any(self, project: Project) -> bool:
        """Whether anything has ended or was deleted."""
        where = _where(project)
        ended = any(ends.under(where) for ends in self._ends)
        return ended or bool(self._departed.get(where)) or where in self._lost

    def lost(self, project: Project) -> int:
        return self._lost.get(_where(project), 0)

    def written(self, project: Project, rows: Iterable[RefToDelete], seen: Iterable[str]) -> None:
        """The Project's status has these now, and these sessions were looked at before that."""
        where = _where(project)
        self._forget_rows(where, (Ref(row.ref, row.sha) for row in rows))
        self._lost.pop(where, None)
        self._noted.update(seen)

    def _forget_rows(self, where: str, rows: Iterable[Ref]) -> None:
        known = self._departed.get(where, {})
        for row in rows:
            known.pop(row, None)

    def forget(self, project: Project) -> None:
        """Nothing of it is to be deleted."""
        self._forget(_where(project))

    def _forget(self, where: str) -> None:
        self._departed.pop(where, None)
        self._lost.pop(where, None)

    def is_noted(self, session: AgentSession) -> bool:
        """Whether nobody needs the session to know its refs."""
        return session.metadata.uid in self._noted or not refs.of_session(session)

    def is_held(self, namespace: str, folder: str, seconds: int, now: datetime) -> bool:
        """Whether anybody that goes on, or may go on, has refs in the folder."""
        named = in_namespace(namespace, folder)
        owner: Plan | Task | None = next(iter(self._plans.by_index(FOLDER, named).values()), None)
        if owner is None:
            keys = self._tasks.informer.index_keys(FOLDER, named)
            for task in filter(None, map(self._tasks.get, keys)):
                if owners.plan_of(task) is not None:
                    return True  # its Plan is gone, and so will it be: no need to read the others
                owner = task
        its_name = owner.metadata.name if isinstance(owner, Task) else None
        tasks = self._tasks.going_by_index(namespace, FOLDER, named).items()
        sessions = self._sessions.going_by_index(namespace, FOLDER, named).values()
        others = (task for name, task in tasks if name != its_name)
        return refs.is_held(owner, others, sessions, seconds, now)


def _where(project: Project) -> str:
    return of_project(project.metadata.namespace, project.metadata.name)


def _behind(ends: Sequence[End], through: PrunedThrough) -> int:
    """Where one goes on: with the same that had more refs than a Job deletes."""
    bisect = bisect_right if through.ref == ALL else bisect_left
    return bisect(ends, (through.at, through.uid), key=_PLACE)


def _seconds(project: Object) -> int:
    """For how long the Project keeps refs; 0: for ever."""
    seconds: int = (project["spec"].get("retention") or {}).get("refsSeconds", _KEPT)
    return seconds


def _end_of_plan(obj: Object) -> Mapping[str, End]:
    if (obj.get("status") or {}).get("phase") not in refs.PHASES:
        return {}
    plan = parse_plan(obj)
    return _end(plan, plan.status.project)


def _end_of_task(obj: Object) -> Mapping[str, End]:
    """Of one that has a Plan there is none: that ends it."""
    if plan_of(obj) or (obj.get("status") or {}).get("state") not in refs.STATES:
        return {}
    meta, status = obj["metadata"], obj["status"]
    if is_deleting(obj) or status.get("project") is None:
        return {}
    # At a start there are thousands, and to parse one takes a tenth of a millisecond.
    moves = status.get("history") or ({"time": meta["creationTimestamp"]},)
    ended = parse_time(status.get("endedAt") or moves[-1]["time"])
    return {of_project(meta["namespace"], status["project"]): End(ended, meta["uid"], meta["name"])}


def _end(owner: Plan | Task, project: str | None) -> Mapping[str, End]:
    ended, meta = refs.has_finished(owner), owner.metadata
    if ended is None or project is None:
        return {}
    where = of_project(meta.namespace, project)
    return {where: End(ended, meta.uid, meta.name)}
