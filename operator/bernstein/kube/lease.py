"""Leader election on a Lease, and the fence that keeps a former leader from writing."""

import asyncio
import math
import os
import uuid
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog

from bernstein.kube.client import Client
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.errors import AlreadyExists, Conflict, KubeError, LostLeadership, NotFound
from bernstein.kube.observer import NullObserver, Observer
from bernstein.kube.resource import LEASES, Object

log = structlog.get_logger(__name__)


class Fence(Protocol):
    """Is asked before every write whether this process still leads."""

    def check(self) -> float:
        """Seconds during which no other process can lead. Raises LostLeadership when this one does
        not lead."""


class Elector:
    """Holds a Lease while a coroutine works.

    Only local monotonic time counts: another's Lease has expired when this process has not seen it
    change for its duration. A holder that could not renew for ``renew_deadline`` seconds stops;
    nobody else can take over before ``duration``, so it has the time in between to stop.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        identity: str | None = None,
        duration: float = 15.0,
        renew_deadline: float = 10.0,
        retry_period: float = 2.0,
        clock: Clock = REAL,
        observer: Observer | None = None,
    ) -> None:
        if not retry_period < renew_deadline < duration:
            raise ValueError("retry_period < renew_deadline < duration must hold")
        self.identity = identity or f"{os.uname().nodename}_{uuid.uuid4()}"
        self._client = client
        self._namespace = namespace
        self._name = name
        self._duration = duration
        self._renew_deadline = renew_deadline
        self._retry_period = retry_period
        self._clock = clock
        self._observer: Observer = observer or NullObserver()
        self._renewed_at = float("-inf")
        self.asked = asyncio.Event()
        """It was tried at least once to get the Lease, well or not."""
        self.acquired_at = math.inf
        """When this process came to lead, in seconds of the clock."""
        self._seen_version = ""
        self._seen_at = 0.0

    @property
    def leading(self) -> bool:
        return self._clock.monotonic() < self._renewed_at + self._renew_deadline

    def check(self) -> float:
        """See Fence: the Elector is the fence of the work that it runs."""
        if not self.leading:
            raise LostLeadership(f"{self.identity} does not hold the Lease {self._name}")
        return self._renewed_at + self._duration - self._clock.monotonic()

    async def run(
        self, lead: Callable[[Fence], Awaitable[None]], *, stop: asyncio.Event | None = None
    ) -> None:
        """Acquires the Lease and runs ``lead(fence)`` while renewing it.

        When ``stop`` is set or ``lead`` returns, the work ends first, then the Lease is given back.
        When the Lease is lost, the fence closes, the work is cancelled, and LostLeadership is
        raised: call again with fresh state, or exit. What ``lead`` raises is raised.
        """
        stop = stop or asyncio.Event()
        self._observer.leading(self._name, False)
        if not await self._acquire(stop):
            return
        log.info("leading", lease=self._name, identity=self.identity)
        self._observer.leading(self._name, True)
        working = asyncio.ensure_future(lead(self))
        renewing = asyncio.create_task(self._renew())
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({working, renewing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            working.cancel()
            stopping.cancel()
            await self._end(working, renewing)
        if not working.cancelled():
            working.result()

    async def _end(self, working: asyncio.Future[None], renewing: asyncio.Task[None]) -> None:
        """Waits for the cancelled work while the Lease is kept, then gives it back."""
        await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
        held = not renewing.done()
        if not held:
            await asyncio.wait({working}, timeout=self._duration - self._renew_deadline)
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        self._renewed_at = float("-inf")
        self._observer.leading(self._name, False)
        if not held:
            raise LostLeadership(f"the Lease {self._name} could not be renewed in time")
        await self._release()

    async def _acquire(self, stop: asyncio.Event) -> bool:
        """Tries until the Lease is held (True) or ``stop`` is set (False)."""
        while not stop.is_set():
            try:
                if await self._claim(self._renew_deadline / 2):
                    self.acquired_at = self._clock.monotonic()
                    return True
            except KubeError as error:
                log.warning("cannot acquire the lease", reason=error.reason, message=str(error))
            finally:
                self.asked.set()
            try:
                await asyncio.wait_for(stop.wait(), self._retry_period)
            except TimeoutError:
                continue
        return False

    async def _renew(self) -> None:
        """Renews until that has failed for ``renew_deadline``, or another holds the Lease."""
        while True:
            left = self._renewed_at + self._renew_deadline - self._clock.monotonic()
            if left <= 0:
                return
            await self._clock.sleep(min(self._retry_period, left))
            left = self._renewed_at + self._renew_deadline - self._clock.monotonic()
            if left <= 0:
                return
            try:
                if not await self._claim(min(left, self._renew_deadline / 2)):
                    self._renewed_at = float("-inf")
            except KubeError as error:
                log.warning("cannot renew the lease", reason=error.reason, message=str(error))

    async def _claim(self, timeout: float) -> bool:  # noqa: ASYNC109 - per request
        """One attempt to hold the Lease; False when another holds it."""
        client = self._client.with_timeout(timeout)
        try:
            lease = await client.get(LEASES, self._name, self._namespace)
        except NotFound:
            return await self._create(client)
        spec = lease.get("spec") or {}
        holder = spec.get("holderIdentity") or ""
        mine = holder == self.identity
        if holder and not mine and not self._expired(lease):
            return False
        now = self._clock.timestamp()
        changes = {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": math.ceil(self._duration),
            "renewTime": now,
        }
        if not mine:
            changes["acquireTime"] = now
            changes["leaseTransitions"] = spec.get("leaseTransitions", 0) + 1
        # The time before the request: the Lease is renewed at this moment or later.
        sent = self._clock.monotonic()
        try:
            await self._patch(client, lease, changes)
        except Conflict:
            # Another claimed it, or an unanswered renewal of ours came through: look again.
            if mine:
                raise
            return False
        self._renewed_at = sent
        return True

    async def _create(self, client: Client) -> bool:
        now = self._clock.timestamp()
        lease = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": {
                "holderIdentity": self.identity,
                "leaseDurationSeconds": math.ceil(self._duration),
                "acquireTime": now,
                "renewTime": now,
                "leaseTransitions": 0,
            },
        }
        sent = self._clock.monotonic()
        try:
            await client.create(LEASES, lease)
        except AlreadyExists:
            return False
        self._renewed_at = sent
        return True

    def _expired(self, lease: Object) -> bool:
        version = lease["metadata"]["resourceVersion"]
        if version != self._seen_version:
            self._seen_version = version
            self._seen_at = self._clock.monotonic()
        duration = lease["spec"].get("leaseDurationSeconds") or self._duration
        return self._clock.monotonic() >= self._seen_at + duration

    async def _release(self) -> None:
        """Best effort: without it the next leader waits for ``duration``."""
        client = self._client.with_timeout(self._renew_deadline / 2)
        try:
            lease = await client.get(LEASES, self._name, self._namespace)
            if lease["spec"].get("holderIdentity") == self.identity:
                await self._patch(
                    client, lease, {"holderIdentity": None, "renewTime": self._clock.timestamp()}
                )
        except KubeError as error:
            log.warning("cannot release the lease", reason=error.reason, message=str(error))

    async def _patch(self, client: Client, lease: Object, spec: dict[str, object]) -> None:
        version = lease["metadata"]["resourceVersion"]
        body = {"metadata": {"resourceVersion": version}, "spec": spec}
        await client.patch(LEASES, self._name, self._namespace, body)
