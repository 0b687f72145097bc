"""What a controller is given and what it declares: all that `engine` needs to run it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from bernstein.api.project import Project
from bernstein.api.verification import Verification
from bernstein.controllers.caches import Caches
from bernstein.controllers.claims import Claims
from bernstein.controllers.documents import DocumentReader
from bernstein.controllers.gate_caches import GateCaches
from bernstein.controllers.logs.reader import LogReader
from bernstein.controllers.plans.outputs import Outputs
from bernstein.controllers.sessions.knowledge import KnowledgeReader
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.writer import Writer
from bernstein.core.gate_cache import GateCache
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import (
    Due,
    Mapper,
    Pause,
    Predicate,
    PriorityFunction,
    Result,
    at_once,
    deletion_first,
    due_at_once,
)
from bernstein.kube.resource import Key, Object, Resource
from bernstein.observe.metrics import Metrics


@dataclass(frozen=True)
class Context:
    """What every controller gets. All share everything but the writer, which is its own."""

    caches: Caches
    writer: Writer
    settings: OperatorSettings
    metrics: Metrics
    logs: LogReader
    documents: DocumentReader
    clock: Clock = REAL
    claims: Claims = field(default_factory=Claims)
    """Known to all controllers of the process alike."""
    gate_caches: GateCaches | None = None
    """So are these; None: no verdict is kept."""
    knowledge: KnowledgeReader | None = None
    """None: what Projects tell in ConfigMaps is read by nobody."""
    outputs: Outputs | None = None
    """Reads what agents leave for conditions; None: all of it counts as lost."""

    def now(self) -> datetime:
        """The time of day, as decisions and statuses have it."""
        return self.clock.now()


@dataclass(frozen=True)
class Watch:
    """Which keys an event of this informer adds to a controller's queue."""

    informer: Informer
    keys: Mapper
    when: Predicate | None = None
    """Only events for which it is true; None: every event."""
    priority: PriorityFunction = deletion_first
    pause: Pause = at_once


def own(informer: Informer, keys: Mapper, when: Predicate) -> Watch:
    """A Watch of what has one owner: each event is that of one controller, and the others need not
    ask what has changed."""

    def concerns(old: Object | None, new: Object | None) -> bool:
        objects = [obj for obj in (new, old) if obj is not None]
        return any(map(keys, objects)) and when(old, new)

    return Watch(informer, keys, concerns)


class KindController(ABC):
    """Reconciles one kind. Made when its replica begins to lead."""

    NAME: ClassVar[str]
    """In metrics and logs."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._caches = context.caches
        self._writer = context.writer
        self._metrics = context.metrics

    async def _verdicts_for(
        self, project: Project | None, *judged: Verification | None
    ) -> GateCache | None:
        """What gates have said before, where something is to be judged."""
        caches = self._context.gate_caches
        is_open = any(each is not None and each.passed is None for each in judged)
        return await caches.of(project) if caches is not None and is_open else None

    @property
    @abstractmethod
    def primary(self) -> Informer:
        """The informer of the kind itself: its events and resyncs queue the object's own key."""

    def begin(self) -> None:
        """Called once: the caches hold all that was written before this replica led, and nothing is
        reconciled yet."""
        return

    def first_look(self) -> Due:
        """When each object that is settled is looked at by a replica that begins to lead. Called
        once, after `begin`."""
        return due_at_once

    def rests_on(self, key: Key) -> Iterable[tuple[Resource, Key]]:
        """The objects by whose status it is decided what is done for a key, and whose status says
        which process leads (`status.leader`)."""
        del key
        return ()

    def matters(self, old: Object | None, new: Object | None) -> bool:
        """Whether an event of the kind itself queues the object's key."""
        del old, new
        return True

    def pause(self, old: Object | None, new: Object | None) -> float:
        """In how many seconds an event of an object of the kind itself is looked at."""
        return at_once(old, new)

    @abstractmethod
    def watches(self) -> Iterable[Watch]:
        """Which events of other informers queue a key."""

    @abstractmethod
    async def reconcile(self, key: Key) -> Result:
        """Brings the object closer to what it asks for. What it raises is tried again."""
