"""What few fields tell of Closed Tasks and Dead sessions, for the first look of a new leader.

Of what is settled no handler of a controller hears, so a new leader has to look at each. What is
read here, while the lists come in, tells it of which of them there is nothing to do: to unpack each
again, to read all of it and to decide about it is half of what a start costs beside ten thousand.
It is taken once. What changes later is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bernstein.core.sessions import dead, reading
from bernstein.core.sessions.dead import Dead
from bernstein.core.tasks import closed
from bernstein.core.tasks.closed import Ended
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object, key_of, resource_version_of, uid_of


class ClosedTask(NamedTuple):
    revision: int
    """The state of the object that this is about."""
    uid: str
    ended: Ended


class DeadSession(NamedTuple):
    revision: int
    """The state of the object that this is about."""
    uid: str
    dead: Dead


class Judged(NamedTuple):
    """How a Task has judged what a session left."""

    task_uid: str
    judgement: str


class FirstLook:
    """Of all that are there, until it is taken."""

    def __init__(self, tasks: Informer, sessions: Informer) -> None:
        self._tasks: dict[Key, ClosedTask] | None = {}
        self._sessions: dict[Key, DeadSession] | None = {}
        self._judged: dict[Key, list[tuple[str, Judged]]] = {}
        """By Task, with names of sessions: what it has judged goes with it."""
        tasks.add_handler(self._task_changed)
        sessions.add_handler(self._session_changed)

    def _task_changed(self, old: Object | None, new: Object | None) -> None:
        if self._tasks is None and self._sessions is None:
            return
        for task in filter(None, (old, new)):
            self._judged.pop(key_of(task), None)
            if self._tasks is not None:
                self._tasks.pop(key_of(task), None)
        found = closed.read(new) if new is not None else None
        if new is None or found is None:
            return
        ended, status = found
        key, uid = key_of(new), uid_of(new)
        if self._tasks is not None:
            self._tasks[key] = ClosedTask(resource_version_of(new), uid, ended)
        if self._sessions is not None:
            names = [attempt.session for attempt in status.attempts]
            judged = [(name, reading.judged_by(status, name)) for name in names]
            self._judged[key] = [(name, Judged(uid, how)) for name, how in judged if how]

    def _session_changed(self, old: Object | None, new: Object | None) -> None:
        if self._sessions is None:
            return
        for session in filter(None, (old, new)):
            self._sessions.pop(key_of(session), None)
        found = dead.read(new) if new is not None else None
        if new is not None and found is not None:
            known = DeadSession(resource_version_of(new), uid_of(new), found)
            self._sessions[key_of(new)] = known

    def take_tasks(self) -> Mapping[Key, ClosedTask]:
        """Of all Closed Tasks of which nothing is left to be written; nothing is kept for another
        call."""
        found, self._tasks = self._tasks, None
        return found or {}

    def take_sessions(self) -> tuple[Mapping[Key, DeadSession], Mapping[Key, Judged]]:
        """The same of Dead sessions, and by session how Closed Tasks have judged what it left."""
        found, judged = self._sessions, self._judged
        self._sessions, self._judged = None, {}
        by_session = {
            Key(task.namespace, name): how for task, each in judged.items() for name, how in each
        }
        return found or {}, by_session
