"""Connections of callers who are slow on purpose, or who open too many."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""Within which the head of a request has to arrive."""
PER_ADDRESS = 200
"""Connections that one address may hold at once; pods of a node may share an address."""


@dataclass(frozen=True)
class Limits:
    """Of one listening server; `held` counts its open connections by address."""

    head_seconds: float = HEAD_SECONDS
    per_address: int = PER_ADDRESS
    held: Counter[str] = field(default_factory=Counter)


class GuardedProtocol(H11Protocol):
    """uvicorn itself waits for a first request for ever, and for the rest of one as long."""

    limits: ClassVar[Limits]
    _deadline: asyncio.TimerHandle | None = None
    _address = ""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self.limits.held[self._address] += 1
        if self.limits.held[self._address] > self.limits.per_address:
            transport.abort()
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._head_arrived()
        self.limits.held[self._address] -= 1
        if self.limits.held[self._address] <= 0:
            del self.limits.held[self._address]

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._head_arrived()
        elif not self.transport.is_closing():
            self._expect_head()

    def _expect_head(self) -> None:
        if self._deadline is None:
            seconds = self.limits.head_seconds
            self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def _head_arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def guarded_protocol(limits: Limits | None = None) -> type[GuardedProtocol]:
    """The protocol class for one server."""
    return type("LimitedProtocol", (GuardedProtocol,), {"limits": limits or Limits()})
