"""Posts Kubernetes Events, best effort: they never block, delay or fail what they tell about."""

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from bernstein.kube.client import Client
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.errors import KubeError, NotFound
from bernstein.kube.resource import EVENTS, Object

log = structlog.get_logger(__name__)

NOTE_BYTES = 1024


@dataclass(slots=True)
class _Series:
    """One Event and how often it was recorded; times are monotonic.

    It is one of the core API: what reads Events looks for its `lastTimestamp` and `count`, and the
    newer API refuses to take these.
    """

    namespace: str
    name: str
    body: Object
    last: float
    sent: float
    count: int = 1
    created: bool = False


class EventRecorder:
    """Posts Events from a bounded queue.

    An event with the same object, reason, action and message as one in the last ``window`` seconds
    counts up the series of that Event, which is written at most every ``refresh`` seconds.
    ``sanitise`` makes texts of agents and repositories safe to show.
    """

    def __init__(
        self,
        client: Client,
        *,
        component: str,
        instance: str,
        sanitise: Callable[[str], str],
        window: float = 360.0,
        refresh: float = 60.0,
        capacity: int = 1000,
        clock: Clock = REAL,
    ) -> None:
        self._client = client
        self._component = component
        self._instance = instance
        self._sanitise = sanitise
        self._window = window
        self._refresh = refresh
        self._capacity = capacity
        self._clock = clock
        self._series: OrderedDict[tuple[str, ...], _Series] = OrderedDict()
        self._pending: asyncio.Queue[_Series] = asyncio.Queue(capacity)

    def record(
        self,
        regarding: Object,
        *,
        reason: str,
        message: str,
        action: str,
        warning: bool = False,
    ) -> None:
        """``reason`` and ``action`` are CamelCase; the message is cut to 1 KiB."""
        try:
            note = _cut(self._sanitise(message))
            metadata = regarding["metadata"]
            identity = (metadata.get("uid", ""), metadata["name"], reason, action, note)
            now = self._clock.monotonic()
            series = self._series.get(identity)
            if series is not None and now - series.last < self._window:
                series.count += 1
                series.last = now
                if now - series.sent < self._refresh:
                    return
            else:
                body = self._body(regarding, reason, note, action, warning)
                place = body["metadata"]
                series = _Series(place["namespace"], place["name"], body, now, now)
                self._series[identity] = series
            series.sent = now
            self._series.move_to_end(identity)
            while len(self._series) > self._capacity:
                self._series.popitem(last=False)
            self._pending.put_nowait(series)
        except asyncio.QueueFull:
            log.warning("event dropped: too many are waiting", reason=reason)
        except Exception:
            log.exception("event dropped", reason=reason)

    async def run(self) -> None:
        """Posts until cancelled."""
        while True:
            series = await self._pending.get()
            try:
                await self._post(series)
            except KubeError as error:
                log.warning("event not posted", reason=error.reason, message=error.gist)
            except Exception:
                log.exception("event not posted")

    async def _post(self, series: _Series) -> None:
        if series.created:
            body = {"count": series.count, "lastTimestamp": _seconds(self._clock.timestamp())}
            try:
                await self._client.patch(EVENTS, series.name, series.namespace, body)
            except NotFound:
                # Events expire after an hour by default; the next one starts a new series.
                series.last = float("-inf")
            return
        await self._client.create(EVENTS, series.body)
        series.created = True

    def _body(
        self,
        regarding: Object,
        reason: str,
        note: str,
        action: str,
        warning: bool,
    ) -> Object:
        metadata, now = regarding["metadata"], self._clock.timestamp()
        return {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {
                "name": f"{metadata['name'][:200]}.{uuid.uuid4().hex[:16]}",
                "namespace": metadata.get("namespace") or "default",
            },
            "eventTime": now,
            "firstTimestamp": _seconds(now),
            "lastTimestamp": _seconds(now),
            "count": 1,
            "type": "Warning" if warning else "Normal",
            "reason": reason,
            "action": action,
            "message": note,
            "involvedObject": _reference(regarding),
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "reportingInstance": self._instance[:128],
        }


def _seconds(timestamp: str) -> str:
    """A MicroTime as a Time, which has whole seconds."""
    return f"{timestamp.partition('.')[0]}Z"


def _reference(obj: Object) -> Object:
    metadata = obj["metadata"]
    reference = {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": metadata["name"],
        "namespace": metadata.get("namespace"),
        "uid": metadata.get("uid"),
        "resourceVersion": metadata.get("resourceVersion"),
    }
    return {name: value for name, value in reference.items() if value}


def _cut(text: str) -> str:
    encoded = text.encode()
    if len(encoded) <= NOTE_BYTES:
        return text
    return encoded[: NOTE_BYTES - 3].decode(errors="ignore") + "…"
