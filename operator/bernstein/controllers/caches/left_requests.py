"""Pull requests of what was deleted.

Of what was deleted nothing is left but the last event, so they are in memory until the status of
the Project has them. Where no operator ran when it was deleted nobody knows them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bernstein.api.plan import Plan
from bernstein.api.plan import parse as parse_plan
from bernstein.api.project import Project
from bernstein.api.projects.closing import RequestClosing, RequestToClose
from bernstein.api.task import Task
from bernstein.api.task import parse as parse_task
from bernstein.controllers.caches.indexes import of_project
from bernstein.controllers.caches.parsed import Parsed
from bernstein.core.retention import left_requests
from bernstein.core.retention.left_requests import LeftRequest
from bernstein.kube.clock import Clock
from bernstein.kube.resource import Object

MOST_IN_MEMORY = 2000
"""Of one Project; what goes beyond stays open."""


class LeftRequests:
    """Of all Projects; a replica that waits for its turn to lead knows the same, but for those that
    a status has had: who leads has closed them, and people may have opened one again."""

    def __init__(
        self, plans: Parsed[Plan], tasks: Parsed[Task], projects: Parsed[Project], clock: Clock
    ) -> None:
        self._clock = clock
        self._left: defaultdict[str, dict[str, LeftRequest]] = defaultdict(dict)
        """By Project and branch: by its uid, where the owner's status had that, since another
        Project of the same name closes nothing of it."""
        plans.informer.add_handler(self._plan_changed)
        tasks.informer.add_handler(self._task_changed)
        projects.informer.add_handler(self._project_changed)

    def _plan_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None and old is not None:
            plan = parse_plan(old)
            self._note(plan, left_requests.of_plan(plan, self._clock.now()))

    def _task_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None and old is not None:
            task = parse_task(old)
            self._note(task, left_requests.of_task(task, self._clock.now()))

    def _note(self, owner: Plan | Task, found: Iterable[LeftRequest]) -> None:
        for left in found:
            if owner.status.project is None:
                return
            uid, of = owner.status.project_uid, owner.status.project
            known = self._left[uid or of_project(owner.metadata.namespace, of)]
            if len(known) < MOST_IN_MEMORY:
                known[_name(left)] = left

    def _project_changed(self, old: Object | None, new: Object | None) -> None:
        meta = (new or old or {})["metadata"]
        keys = meta["uid"], of_project(meta["namespace"], meta["name"])
        if new is None:
            for key in keys:
                self._left.pop(key, None)
            return
        closing = (new.get("status") or {}).get("closing") or ()
        if closing and any(self._left.get(key) for key in keys):
            self._forget(keys, [RequestClosing.model_validate(each) for each in closing])

    def _forget(self, keys: Iterable[str], closing: Iterable[RequestClosing]) -> None:
        for each in closing:
            for row in (*each.waiting, *((each.at_work,) if each.at_work is not None else ())):
                for known in [self._left.get(key, {}) for key in keys]:
                    for name in [name for name, left in known.items() if _is(left, row)]:
                        del known[name]

    def of(self, project: Project) -> Sequence[LeftRequest]:
        """What memory alone has."""
        return tuple(left for key in _keys(project) for left in self._left.get(key, {}).values())

    def written(self, project: Project, closing: Iterable[RequestClosing]) -> None:
        """The Project's status has these now."""
        self._forget(_keys(project), closing)


def _is(left: LeftRequest, row: RequestToClose) -> bool:
    return left.branch == row.branch and left.digest in (None, row.repository)


def _name(left: LeftRequest) -> str:
    return f"{left.repository}/{left.branch}"


def _keys(project: Project) -> tuple[str, str]:
    meta = project.metadata
    return meta.uid, of_project(meta.namespace, meta.name)
