"""The controller loop: events become keys, keys are reconciled by workers, errors back off."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, TypeVarTuple

import structlog

from bernstein.kube.clock import REAL, Clock
from bernstein.kube.errors import Conflict, KubeError, Overloaded, Requeue, seconds_asked
from bernstein.kube.guard import Guard
from bernstein.kube.informer import Informer
from bernstein.kube.observer import NullObserver, Observer, ReconcileResult
from bernstein.kube.queue import Priority, QueueClosed, WorkQueue
from bernstein.kube.resource import Key, Object, Resource, is_deleting, key_of
from bernstein.kube.share import Share

log = structlog.get_logger(__name__)

Mapper: TypeAlias = Callable[[Object], Collection[Key]]
PriorityFunction: TypeAlias = Callable[[Object | None, Object | None], Priority]
Predicate: TypeAlias = Callable[[Object | None, Object | None], bool]
Pause: TypeAlias = Callable[[Object | None, Object | None], float]
"""In how many seconds an event is looked at, together with what else has happened by then."""
Due: TypeAlias = Callable[[Key], float]
"""In how many seconds a key is to be looked at; infinite: not before something changes."""

R = TypeVar("R")
Args = TypeVarTuple("Args")

ADDED_AT_ONCE = 200
"""Keys that are queued in one step of the loop, where all are."""
TELL_SECONDS = 1.0
"""A key whose back-off is as long as this keeps failing: from then on ``tell`` hears of it."""
SHARE_SECONDS = 2.0
"""After which a key is looked at again whose namespace has its share of the workers."""


@dataclass(frozen=True, slots=True)
class Result:
    """A reconcile that went well; ``requeue_after`` seconds later the key comes again."""

    requeue_after: float | None = None


def own_key(obj: Object) -> Collection[Key]:
    return (key_of(obj),)


def controller_key(resource: Resource) -> Mapper:
    """Maps a dependant to its owner of that kind that has ``controller: true``."""

    def mapper(obj: Object) -> Collection[Key]:
        metadata = obj["metadata"]
        return [
            Key(metadata.get("namespace", ""), owner["name"])
            for owner in metadata.get("ownerReferences", ())
            if owner.get("controller")
            and owner["kind"] == resource.kind
            and owner["apiVersion"].rpartition("/")[0] == resource.group
        ]

    return mapper


def label_key(label: str) -> Mapper:
    """Maps an object to the key whose name a label holds, in the same namespace."""

    def mapper(obj: Object) -> Collection[Key]:
        metadata = obj["metadata"]
        name = metadata.get("labels", {}).get(label)
        return (Key(metadata.get("namespace", ""), name),) if name else ()

    return mapper


def deletion_first(old: Object | None, new: Object | None) -> Priority:
    """The default priority: what is gone or being deleted comes first."""
    del old
    return Priority.HIGH if new is None or is_deleting(new) else Priority.NORMAL


def at_once(_old: Object | None, _new: Object | None) -> float:
    """The default pause: none."""
    return 0.0


def due_at_once(_key: Key) -> float:
    """The default: every key is due."""
    return 0.0


def _or(fallback: R, function: Callable[[*Args], R], *args: *Args) -> R:
    """What the function returns, or the fallback where it fails."""
    try:
        return function(*args)
    except Exception:
        log.exception("an event cannot be judged", function=getattr(function, "__name__", ""))
        return fallback


class Controller:
    """Reconciles the keys of one resource, ``workers`` at a time, but never one key twice at once,
    and for one of several namespaces that takes them long only half as many.

    ``reconcile`` reads caches, writes, and returns a Result. When it raises, the key is tried again
    with back-off; a Requeue says itself when. What is settled at the start, and about every
    ``resync`` seconds all keys of ``primary``, are added at the lowest priority. ``matters`` says
    which events of the ``primary`` add their key; None: all. ``begin`` is called before the first
    reconcile, once the caches are filled, and then ``first_look``: what that returns says when each
    that is settled is due. ``tell`` is called with each error of a key that keeps failing. A
    Controller runs only once.
    """

    def __init__(
        self,
        name: str,
        reconcile: Callable[[Key], Awaitable[Result]],
        *,
        primary: Informer,
        matters: Predicate | None = None,
        guard: Guard | None = None,
        workers: int = 2,
        resync: float = 600.0,
        drain: float = 5.0,
        observer: Observer | None = None,
        begin: Callable[[], None] | None = None,
        first_look: Callable[[], Due] | None = None,
        tell: Callable[[Key, Exception], None] | None = None,
        clock: Clock = REAL,
        pause: Pause = at_once,
    ) -> None:
        """`pause` is that of events of the keys' own objects."""
        self.name = name
        self._reconcile = reconcile
        self._primary = primary
        self._guard = guard
        self._workers = workers
        self._share = Share(workers, clock)
        self._resync = resync
        self._drain = drain
        self._observer: Observer = observer or NullObserver()
        self._begin = begin
        self._first_look = first_look
        self._tell = tell
        self._clock = clock
        self._informers: list[Informer] = []
        self.queue: WorkQueue[Key] = WorkQueue(name, clock=clock, observer=self._observer)
        self.watch(primary, own_key, when=matters, pause=pause)

    def watch(
        self,
        informer: Informer,
        mapper: Mapper,
        *,
        priority: PriorityFunction = deletion_first,
        when: Predicate | None = None,
        pause: Pause = at_once,
    ) -> None:
        """Adds, for every event of the informer, the keys that ``mapper`` makes of the old and of
        the new object; with ``when`` only for events for which that is true; after its
        ``pause``, once for all events of that time."""

        def handler(old: Object | None, new: Object | None) -> None:
            # An event that cannot be judged counts, and counts as usual: else it would be lost.
            if when is not None and not _or(True, when, old, new):
                return
            objects = [obj for obj in (new, old) if obj is not None]
            nobody: Collection[Key] = ()
            keys = dict.fromkeys(k for obj in objects for k in _or(nobody, mapper, obj))
            # Most events concern nobody here: how urgent they are is not asked.
            if not keys:
                return
            rank = _or(Priority.NORMAL, priority, old, new)
            seconds = _or(0.0, pause, old, new)
            for key in keys:
                self.queue.add_after(key, seconds, rank)

        self._informers.append(informer)
        informer.add_handler(handler)

    async def run(self) -> None:
        """Waits for the caches, then works until cancelled. Reconciles that run at that moment get
        ``drain`` seconds to end by themselves."""
        for informer in self._informers:
            await informer.synced()
        if self._begin is not None:
            self._begin()
        workers = [asyncio.create_task(self._work()) for _ in range(self._workers)]
        resync = asyncio.create_task(self._resync_forever())
        try:
            # These tasks end only by a defect of the loop itself, which must be raised.
            ended, _ = await asyncio.wait([*workers, resync], return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
        finally:
            self.queue.close()
            resync.cancel()
            _, late = await asyncio.wait(workers, timeout=self._drain)
            for task in late:
                task.cancel()
            await asyncio.gather(*workers, resync, return_exceptions=True)

    async def _work(self) -> None:
        while True:
            try:
                key = await self.queue.get()
            except QueueClosed:
                return
            # Every worker is a task with a context of its own, so nothing has to be unbound.
            structlog.contextvars.bind_contextvars(
                controller=self.name, namespace=key.namespace, name=key.name
            )
            try:
                await self._in_turn(key)
            finally:
                self.queue.done(key)
            # One that writes nothing never waits: thousands of such would be one step of the loop,
            # with the Lease behind them.
            await self._clock.sleep(0)

    async def _in_turn(self, key: Key) -> None:
        if not self._share.take(key.namespace):
            self.queue.add_after(key, SHARE_SECONDS, self._rank(key))
            return
        started = self._clock.monotonic()
        try:
            await self._process(key)
        finally:
            self._share.give_back(key.namespace, self._clock.monotonic() - started)

    async def _process(self, key: Key) -> None:
        started = self._clock.monotonic()
        try:
            if self._guard is not None and (wait := await self._guard.settle(key)):
                self.queue.add_after(key, wait, self._rank(key))
                return
            outcome = await self._reconcile(key)
        except Exception as error:  # noqa: BLE001 - whatever it is, the key is tried again
            result = self._failed(key, error)
        except asyncio.CancelledError:
            worker = asyncio.current_task()
            if worker is not None and worker.cancelling():
                raise
            # It waited for something that was cancelled; the worker itself was not.
            result = self._failed(key, RuntimeError("something that it waited for was cancelled"))
        else:
            self.queue.forget(key)
            result = "success"
            if outcome.requeue_after is not None:
                result = "requeue_after"
                self.queue.add_after(key, outcome.requeue_after)
        self._observer.reconciled(self.name, result, self._clock.monotonic() - started)

    def _rank(self, key: Key) -> Priority:
        """With which a key that has to wait comes again: no later than usual."""
        return min(Priority.NORMAL, self.queue.priority_of(key))

    def _failed(self, key: Key, error: Exception) -> ReconcileResult:
        if isinstance(error, Requeue):
            self.queue.add_after(key, error.after, self._rank(key))
            return "requeue"
        delay = self.queue.retry(key, seconds_asked(error), self._rank(key))
        if isinstance(error, Conflict):
            # Somebody else wrote first, as happens often; the newer state is on its way.
            log.debug("reconcile conflict", message=str(error), retry_seconds=delay)
            return "requeue"
        lasts = delay >= TELL_SECONDS and not isinstance(error, Overloaded)
        if lasts and self._tell is not None:
            self._tell(key, error)
        if isinstance(error, KubeError):
            log.warning(
                "reconcile failed", reason=error.reason, message=error.gist, retry_seconds=delay
            )
        else:
            log.error("reconcile failed", exc_info=error, retry_seconds=delay)
        return "error"

    async def _resync_forever(self) -> None:
        # Of what is settled no handler has heard: it is looked at after all that goes on.
        due = self._first_look() if self._first_look is not None else due_at_once
        await self._add(self._primary.settled_keys(), due)
        while True:
            # Jitter keeps the controllers of one process from resyncing at the same moment.
            await self._clock.sleep(self._resync * (0.9 + 0.2 * self._clock.jitter()))
            await self._add(self._primary.keys(), due_at_once)

    async def _add(self, keys: Iterable[Key], due: Due) -> None:
        # What belongs together has names that begin alike, and reads the same of what is settled.
        for number, key in enumerate(sorted(keys), 1):
            # One that cannot be judged is looked at: else it would be lost.
            seconds = _or(0.0, due, key)
            if seconds <= 0:
                self.queue.add(key, Priority.LOW)
            else:
                self._observer.passed_over(self.name)
            if 0 < seconds < math.inf:
                self.queue.add_after(key, seconds)
            if not number % ADDED_AT_ONCE:
                await self._clock.sleep(0)
