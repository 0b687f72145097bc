"""Reads what containers printed from their nodes, beside the reconciles.

A node that does not answer delays whoever asks for it, and nobody else: what is not there soon is
asked for again with a later reconcile, and given up after a while.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from bernstein.core.logs.packed import LOG_BYTES, LOG_LINES
from bernstein.core.pods import Object
from bernstein.kube.client import Client
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.errors import KubeError, Requeue
from bernstein.observe import logging

log = logging.logger(__name__)

SECONDS = 5.0
"""For reading one log, from when it was asked for: then it is given up."""
PATIENCE = 0.2
"""Seconds that a reconcile waits for the logs that it asks for: those of nodes at hand are read by
then."""
AGAIN_SECONDS = 1.0
READERS = 16
"""Logs that are read at the same time, each of them at most LOG_BYTES."""
HELD_BYTES = 64 * LOG_BYTES
"""Of logs that were read, until whoever asked comes back for them; one that would be more is not
kept: agents choose how long they are, and how many end at once."""


@dataclass
class _Reading:
    pod: Object
    container: str
    timestamps: bool
    until: float
    text: bytes | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)


class _TooManyLogs(Exception):  # noqa: N818 - nothing is wrong with it
    """Those that were read before it are still held."""


def _uid(pod: Object) -> str:
    return str(pod["metadata"]["uid"])


class LogReader:
    """Only while `run` runs anything is read."""

    def __init__(self, client: Client, clock: Clock = REAL) -> None:
        self._client = client
        self._clock = clock
        self._readings: dict[tuple[str, str], _Reading] = {}
        """By the pod's uid and the container."""
        self._asked: asyncio.Queue[_Reading] = asyncio.Queue()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(READERS):
                group.create_task(self._work())

    async def read(
        self, pods: Iterable[Object], container: str, *, timestamps: bool = False
    ) -> dict[str, bytes]:
        """The ends of the logs of this container that could be read, by the pod's uid. With
        `timestamps` each line begins with the time that its node has noted.

        Raises Requeue while one of them is still being read.
        """
        self._forget()
        pods = tuple(pods)
        asked = [pod for pod in pods if (_uid(pod), container) not in self._readings]
        new = [self._ask(pod, container, timestamps=timestamps) for pod in asked]
        if new:
            waiting = asyncio.gather(*(reading.done.wait() for reading in new))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(waiting, PATIENCE)
        readings = {_uid(pod): self._readings[_uid(pod), container] for pod in pods}
        if not all(self._is_over(reading) for reading in readings.values()):
            raise Requeue(AGAIN_SECONDS, "logs are being read")
        for uid in readings:
            del self._readings[uid, container]
        return {uid: r.text for uid, r in readings.items() if r.text is not None}

    def _ask(self, pod: Object, container: str, *, timestamps: bool) -> _Reading:
        reading = _Reading(pod, container, timestamps, self._clock.monotonic() + SECONDS)
        self._readings[_uid(pod), container] = reading
        self._asked.put_nowait(reading)
        return reading

    def _is_over(self, reading: _Reading) -> bool:
        return reading.done.is_set() or self._clock.monotonic() >= reading.until

    def _forget(self) -> None:
        """Drops what nobody has come back for."""
        oldest = self._clock.monotonic() - 12 * SECONDS
        self._readings = {of: r for of, r in self._readings.items() if r.until > oldest}

    async def _work(self) -> None:
        while True:
            reading = await self._asked.get()
            try:
                async with asyncio.timeout(reading.until - self._clock.monotonic()):
                    reading.text = await self._text(reading)
            except Exception as error:  # noqa: BLE001 - whatever it is, others are to be read
                # Without the error's own words: a node's answer may hold anything.
                reason = error.reason if isinstance(error, KubeError) else type(error).__name__
                pod = reading.pod["metadata"]["name"]
                log.warning("log not read", pod=pod, uid=_uid(reading.pod), reason=reason)
            finally:
                reading.done.set()

    async def _text(self, reading: _Reading) -> bytes:
        """The end of the log. Raises KubeError, and _TooManyLogs where there is no room for it."""
        meta = reading.pod["metadata"]
        text = await self._client.logs(
            meta["namespace"],
            meta["name"],
            container=reading.container,
            tail_lines=LOG_LINES,
            last_bytes=LOG_BYTES,
            timestamps=reading.timestamps,
        )
        held = sum(len(each.text or b"") for each in self._readings.values())
        if held + len(text) > HELD_BYTES:
            raise _TooManyLogs
        return text
