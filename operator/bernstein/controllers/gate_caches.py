"""Keeps what gates have said of trees in a ConfigMap for each Project.

What this process knows counts; the ConfigMap is for the one that leads after it. It is read once,
written once a minute at most and when this one ends, and only in the state that was read or written
last. A write that fails is made up for, later and later, a few times. Where all of it takes too
much memory, that of Projects asked for longest ago is written, forgotten, and read again when it is
asked for. Whatever fails here is logged: gates are run then.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from sys import getsizeof

from bernstein.api.project import Project
from bernstein.core import labels, names
from bernstein.core.actions import KeepVerdicts
from bernstein.core.gate_cache import GateCache, dump, keeping, load
from bernstein.core.owners import owner_reference, unblocking
from bernstein.kube.client import Client
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.errors import Forbidden, KubeError, NotFound
from bernstein.kube.lease import Fence
from bernstein.kube.resource import CONFIG_MAPS, Object, controller_of, is_deleting
from bernstein.observe import logging
from bernstein.resources import PROJECTS

log = logging.logger(__name__)

AGAIN_SECONDS = 60.0
"""Between two writes of one ConfigMap, and until one is read again that could not be."""
LOOK_SECONDS = AGAIN_SECONDS / 6
"""Until it is looked whose minute is over, while there is something to write."""
MOST_FAILURES = 6
"""In a row, after which nothing is written until more comes: half an hour."""
READ_SECONDS = 5.0
"""For reading it: work waits for that. And for all that is written when the process ends."""
MOST_BYTES = 32 << 20
"""Of what is known of all Projects together: of some hundred with as much as is kept of one."""
MOST_GONE = 64
"""Projects that are gone and of which something may still be in memory."""
_NEVER = float("-inf")


@dataclass
class _Known:
    """What is known of one Project's."""

    cache: GateCache
    project: Project
    """As it was when it was asked for last."""
    stored: Mapping[str, str] | None = None
    """The data of the ConfigMap as it was read or written last; None: it is not there, not ours, or
    could not be read."""
    version: str = ""
    """Its resourceVersion then."""
    is_read: bool = False
    tried: float = _NEVER
    written: float = _NEVER
    """When, in seconds of the clock."""
    is_late: bool = False
    """Something is not written: it has come since, for which the minute has to be over, or that
    went wrong."""
    failures: int = 0
    """Writes in a row that went wrong."""
    size: int = 0
    """Bytes of what is known and stored, when they were counted last."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class GateCaches:
    """Of all Projects; shared by the controllers of a process that leads."""

    def __init__(
        self,
        client: Client,
        fence: Fence,
        image: str,
        there: Callable[[], Container[str]],
        clock: Clock = REAL,
    ) -> None:
        """`image` is that of our own programs; `there`: uids of the Projects that there are."""
        self._client = client
        self._fence = fence
        self._image = image
        self._there = there
        self._clock = clock
        self._known: dict[str, _Known] = {}
        """By uid; those asked for last are last."""
        self._has_late = asyncio.Event()
        self._room = MOST_GONE
        """So many are known before it is asked again which of them are gone."""

    async def of(self, project: Project | None) -> GateCache | None:
        """What is known of the Project's; None: it asks for nothing to be kept."""
        if project is None or not (project.spec.gates.enabled and project.spec.gates.cache_enabled):
            return None
        known = self._of(project)
        async with known.lock:
            if not known.is_read and self._is_due(known.tried):
                await self._read(known, project)
        found = known.cache
        await self._make_room(known)
        return found

    async def keep(self, action: KeepVerdicts, project: Project, now: datetime) -> None:
        """Knows these verdicts from now on, and writes them, or with the next ones."""
        known = self._of(project)
        known.cache = keeping(known.cache, action.verdicts, action.images, now)
        async with known.lock:
            if known.is_read and self._may_write(known):
                await self._write(known, project)
            elif known.is_read or known.failures:
                self._comes_late(known)
        await self._make_room(known)

    async def run(self) -> None:
        """Writes what has come in the minute after a write when that is over, and when this is
        cancelled: it may be the last that comes, and a gate may take an hour."""
        try:
            while True:
                await self._has_late.wait()
                await self._clock.sleep(LOOK_SECONDS)
                self._has_late.clear()
                await self._write_late()
                if not self.waits_for_nothing:
                    self._has_late.set()
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(READ_SECONDS):
                    await self._write_late(ends=True)

    @property
    def waits_for_nothing(self) -> bool:
        """Whether all is written, but for what could not be."""
        return not any(known.is_late for known in self._known.values())

    def _comes_late(self, known: _Known) -> None:
        known.is_late = True
        self._has_late.set()

    async def _write_late(self, *, ends: bool = False) -> None:
        """Those whose minute is over, or that `ends` with the process."""
        there = self._there()
        for uid, known in [*self._known.items()]:
            known.is_late = known.is_late and uid in there
            async with known.lock:
                if not known.is_late or not (ends or self._may_write(known)):
                    continue
                if not known.is_read:
                    await self._read(known, known.project)
                if known.is_read:
                    await self._write(known, known.project)
                else:
                    self._failed(known)

    def _of(self, project: Project) -> _Known:
        uid = project.metadata.uid
        known = self._known.pop(uid, None)
        if known is None:
            if len(self._known) >= self._room:
                self._forget_gone()
            known = _Known(GateCache(self._image), project)
        known.project = project
        self._known[uid] = known
        return known

    def _forget_gone(self) -> None:
        """Who is there stays, however many there are: with him would go when he was written."""
        there = self._there()
        self._known = {uid: known for uid, known in self._known.items() if uid in there}
        self._room = len(self._known) + MOST_GONE

    async def _make_room(self, known: _Known) -> None:
        """Counts this one anew, and forgets what others have that were asked for longest ago."""
        size = _size(known)
        if size == known.size:
            return
        known.size = size
        total = sum(each.size for each in self._known.values())
        for other in [*self._known.values()]:
            if total <= MOST_BYTES:
                return
            # One that is locked is in use.
            if other is not known and other.size and not other.lock.locked():
                total -= other.size
                await self._forget_content(other)

    async def _forget_content(self, known: _Known) -> None:
        """It is read again when it is asked for. What has not been written is, unless that was done
        less than a minute ago: then it is lost."""
        async with known.lock:
            before = known.cache
            if known.is_read and before.verdicts and self._may_write(known):
                await self._write(known, known.project)
            if known.cache is not before:
                return  # whoever has kept more meanwhile makes room himself
            known.cache, known.stored, known.version = GateCache(self._image), None, ""
            known.is_read, known.tried, known.size = False, _NEVER, 0
            known.is_late, known.failures = False, 0

    def _may_write(self, known: _Known) -> bool:
        """Its minute is over; longer after some that went wrong."""
        waits = AGAIN_SECONDS * (1 << max(known.failures - 1, 0))
        return self._clock.monotonic() - known.written >= waits

    def _failed(self, known: _Known) -> None:
        """It is written later; or, after some in a row, with what comes next."""
        known.written = self._clock.monotonic()
        known.failures = min(known.failures + 1, MOST_FAILURES)
        if known.failures < MOST_FAILURES:
            self._comes_late(known)
        else:
            known.is_late = False

    def _is_due(self, last: float) -> bool:
        return self._clock.monotonic() - last >= AGAIN_SECONDS

    async def _read(self, known: _Known, project: Project) -> None:
        known.tried = self._clock.monotonic()
        meta, name = project.metadata, names.gate_cache(project.metadata.name)
        try:
            client = self._client.with_timeout(READ_SECONDS)
            live = await client.get(CONFIG_MAPS, name, meta.namespace)
        except NotFound:
            known.is_read, known.stored = True, None
            return
        except KubeError as error:
            log.warning("verdicts of gates not read", project=str(meta.uid), reason=error.reason)
            return
        if not is_ours(live, project):
            log.warning("verdicts of gates not read", project=str(meta.uid), reason="NameConflict")
            return
        self._saw(known, live)
        # What was found here since is newer.
        found, mine = load(self._image, live.get("data")), known.cache
        known.cache = GateCache(
            self._image, {**found.verdicts, **mine.verdicts}, {**found.images, **mine.images}
        )

    async def _write(self, known: _Known, project: Project) -> None:
        known.written = self._clock.monotonic()
        meta, data = project.metadata, dump(known.cache)
        name = names.gate_cache(meta.name)
        try:
            client = self._client.with_timeout(min(READ_SECONDS, self._fence.check()))
            if known.stored is None:
                self._saw(known, await client.create(CONFIG_MAPS, config_map(project, data)))
            elif changes := changed(known.stored, data):
                body = {"metadata": {"resourceVersion": known.version}, "data": changes}
                self._saw(known, await client.patch(CONFIG_MAPS, name, meta.namespace, body))
            known.is_late, known.failures = False, 0
        except KubeError as error:
            log.warning("verdicts of gates not kept", project=str(meta.uid), reason=error.reason)
            # Unless it is refused, it may be another by now: so it is read before it is written.
            known.is_read, known.tried = isinstance(error, Forbidden), _NEVER
            self._failed(known)

    @staticmethod
    def _saw(known: _Known, live: Object) -> None:
        known.is_read, known.stored = True, dict(live.get("data") or {})
        known.version = str(live["metadata"]["resourceVersion"])


def _size(known: _Known) -> int:
    texts = known.cache.verdicts, known.cache.images, known.stored or {}
    return sum(getsizeof(key) + getsizeof(text) for each in texts for key, text in each.items())


def changed(stored: Mapping[str, str], data: Mapping[str, str]) -> dict[str, str | None]:
    """What differs, as a merge patch has it: None for what is gone."""
    gone = {key: None for key in stored if key not in data}
    return gone | {key: text for key, text in data.items() if stored.get(key) != text}


def is_ours(live: Object, project: Project) -> bool:
    """Whether the operator made it for this very Project; what nobody else can write, by the
    admission policies of the chart, has our label and such an owner."""
    is_labelled = live["metadata"].get("labels", {}).get(labels.MANAGED_BY) == labels.MANAGER
    is_owned = (controller_of(live) or {}).get("uid") == project.metadata.uid
    return is_labelled and is_owned and not is_deleting(live)


def config_map(project: Project, data: Mapping[str, str]) -> Object:
    """The object, which is deleted with its Project."""
    meta = project.metadata
    owner = unblocking(owner_reference(PROJECTS.kind, meta.name, meta.uid))
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": names.gate_cache(meta.name),
            "namespace": meta.namespace,
            "labels": {labels.MANAGED_BY: labels.MANAGER, labels.PROJECT: meta.name},
            "ownerReferences": [owner],
        },
        "data": dict(data),
    }
