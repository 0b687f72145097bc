"""The refs of what has ended, by their folder: all of a Plan's, its Tasks' and their sessions'.

What has ended is packed, and a Plan may have thousands of these. They are read a few at a time, and
others run between; what was read stays for the next batch of refs and for the Project's other
repositories, until anything in the folder changes.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession
from bernstein.api.task import Task
from bernstein.controllers.caches.parsed import Parsed
from bernstein.core import names, owners
from bernstein.core.retention import refs
from bernstein.core.retention.refs import Ref
from bernstein.kube.clock import Clock
from bernstein.kube.resource import Object, controller_of

FOLDER = "folder"
"""Index of Plans, Tasks and sessions by the folder of their refs, and their namespace."""
READ_AT_ONCE = 25
"""Objects in one step of the loop; each takes a tenth of a millisecond."""
MOST_KEPT = 10_000
"""Refs of folders that were read last; those of the very last are kept, however many there are."""


def folder_of_plan(plan: Object) -> Collection[str]:
    meta = plan["metadata"]
    return (in_namespace(meta["namespace"], names.refs_of(meta["uid"])),)


def folder_of_task(task: Object) -> Collection[str]:
    meta, owner = task["metadata"], controller_of(task)
    of_a_plan = owner is not None and owners.is_plan(owner["apiVersion"], owner["kind"])
    uid = owner["uid"] if owner is not None and of_a_plan else meta["uid"]
    return (in_namespace(meta["namespace"], names.refs_of(uid)),)


def folder_of_session(session: Object) -> Collection[str]:
    spec = session["spec"]
    uid = (spec.get("planRef") or spec["taskRef"])["uid"]
    return (in_namespace(session["metadata"]["namespace"], names.refs_of(uid)),)


def in_namespace(namespace: str, folder: str) -> str:
    """A Task and its sessions have the same: it is kept once for all of them."""
    return sys.intern(f"{namespace}/{folder}")


class Found(NamedTuple):
    """A ref, and the repository that its owner named; None: it may be in any of the Project's."""

    ref: Ref
    repository: str | None


class Folders:
    """Those that were read last."""

    def __init__(
        self,
        plans: Parsed[Plan],
        tasks: Parsed[Task],
        sessions: Parsed[AgentSession],
        clock: Clock,
    ) -> None:
        self._tasks, self._sessions, self._clock = tasks, sessions, clock
        self._kept: OrderedDict[str, Sequence[Found]] = OrderedDict()
        self._reading: dict[str, int] = {}
        """Of folders that are being read, how often they have changed since."""
        for parsed, of in (
            (plans, folder_of_plan),
            (tasks, folder_of_task),
            (sessions, folder_of_session),
        ):
            self._follow(parsed, of)

    def _follow(self, parsed: Parsed[Any], of: Any) -> None:
        def changed(old: Object | None, new: Object | None) -> None:
            if not self._kept and not self._reading:
                return  # as at nearly all events
            for obj in filter(None, (old, new)):
                for folder in of(obj):
                    self._kept.pop(folder, None)
                    if folder in self._reading:
                        self._reading[folder] += 1

        parsed.informer.add_handler(changed)

    async def of_owner(self, owner: Plan | Task) -> Sequence[Found]:
        """The refs of a Plan or of a Task without one, of its Tasks and of their sessions."""
        meta = owner.metadata
        folder = in_namespace(meta.namespace, names.refs_of(meta.uid))
        known = self._kept.get(folder)
        if known is not None:
            self._kept.move_to_end(folder)
            return known
        self._reading[folder] = 0
        try:
            found = [*_of_plan(owner), *await self._read(folder)]
            is_current = not self._reading[folder]
        finally:
            del self._reading[folder]
        if is_current:
            self._keep(folder, found)
        return found

    def _keep(self, folder: str, found: Sequence[Found]) -> None:
        self._kept[folder] = found
        refs_kept = sum(map(len, self._kept.values()))
        while refs_kept > MOST_KEPT and len(self._kept) > 1:
            refs_kept -= len(self._kept.popitem(last=False)[1])

    async def _read(self, folder: str) -> list[Found]:
        found: list[Found] = []
        where: dict[str, str | None] = {}
        for number, key in enumerate(self._tasks.informer.index_keys(FOLDER, folder), 1):
            task = self._tasks.get(key)
            if task is not None:
                its = where[task.metadata.uid] = refs.repository_of(task)
                found += (Found(ref, its) for ref in refs.of_task(task))
            await self._pause(number)
        for number, key in enumerate(self._sessions.informer.index_keys(FOLDER, folder), 1):
            session = self._sessions.get(key)
            if session is not None:
                its = where.get(session.spec.task_ref.uid)
                found += (Found(ref, its) for ref in refs.of_session(session))
            await self._pause(number)
        return found

    async def _pause(self, read: int) -> None:
        if read % READ_AT_ONCE == 0:
            await self._clock.sleep(0)


def _of_plan(owner: Plan | Task) -> Iterator[Found]:
    if isinstance(owner, Plan):
        for repository, found in refs.of_plan(owner).items():
            yield from (Found(ref, repository) for ref in found)
