"""Limits for callers who are slow on purpose, or who open too many connections."""

from __future__ import annotations

import asyncio
import socket
from asyncio import constants, sslproto
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

HANDSHAKE_SECONDS = 5.0
"""Seconds that a TLS handshake may take."""
HEAD_SECONDS = 10.0
"""Seconds in which the head of a request has to arrive."""
PER_ADDRESS = 200
"""Connections that one address may hold at once; the pods of a node may share an address."""
CONNECTIONS = 2000
"""Connections that all addresses together may hold at once; each takes some 100 KB."""
FEW = 8
"""Connections of one address for which a quarter of all is kept free: a recorder needs one or two.
Else the pods of one namespace could take all of them, and no session of another would be heard."""
TLS_BUFFER_BYTES = 16 * 1024
"""The size of the largest TLS record; without TLS no more is read at once either."""


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits of one listening socket; `held` counts its open connections by address."""

    per_address: int = PER_ADDRESS
    connections: int = CONNECTIONS
    held: Counter[str] = field(default_factory=Counter, init=False)

    def take(self, address: str) -> bool:
        """Count a connection of this address; False where it may not have another."""
        held = self.held[address]
        room = self.connections if held < FEW else self.connections * 3 // 4
        if held >= self.per_address or self.held.total() >= room:
            return False
        self.held[address] += 1
        return True

    def give_back(self, address: str) -> None:
        self.held[address] -= 1
        if self.held[address] <= 0:
            del self.held[address]


class Listener(socket.socket):
    """Counts connections when they are accepted, so that also those that send nothing count."""

    limits: ConnectionLimits

    def accept(self) -> tuple[socket.socket, Any]:
        """Raises ConnectionAbortedError, which asyncio expects, for one over the limits."""
        accepted, address = super().accept()
        if not self.limits.take(address[0]):
            accepted.close()
            raise ConnectionAbortedError(f"{address[0]} holds too many connections")
        connection = Connection(
            accepted.family, accepted.type, accepted.proto, fileno=accepted.detach()
        )
        connection.limits, connection.address = self.limits, address[0]
        return connection, address


class Connection(socket.socket):
    """An accepted connection, which counts until it is closed."""

    limits: ConnectionLimits | None = None
    address: str = ""

    def close(self) -> None:
        super().close()
        if self.limits is not None:
            self.limits.give_back(self.address)
            self.limits = None


def listen(host: str, port: int, limits: ConnectionLimits | None = None) -> Listener:
    """A bound socket, for uvicorn to listen on. Raises OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = Listener(family, kind, protocol)
    listener.limits = limits or ConnectionLimits()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError:
        listener.close()
        raise
    return listener


def bound_tls() -> None:
    """Make the TLS connections of this process small, and limit the time of their handshakes.

    asyncio has no parameter for the size, and uvicorn none for the time: by default each connection
    takes 256 KiB from its first moment on, and its handshake may take a minute. Both also hold for
    calls to the API server, which answers sooner.
    """
    sslproto.SSLProtocol.max_size = TLS_BUFFER_BYTES
    constants.SSL_HANDSHAKE_TIMEOUT = HANDSHAKE_SECONDS


class GuardedProtocol(H11Protocol):
    """Ends connections on which the head of a request does not arrive in time: uvicorn would wait
    for the first request, and for the rest of one, for ever."""

    head_seconds: ClassVar[float]
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        # asyncio would read 256 KiB, and a body may come in chunks of one byte: all are taken apart
        # in one step of the loop.
        transport.max_size = TLS_BUFFER_BYTES
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._head_arrived()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._head_arrived()
        elif not self.transport.is_closing():
            self._expect_head()

    def _expect_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self.transport.abort)

    def _head_arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def guarded_protocol(head_seconds: float = HEAD_SECONDS) -> type[GuardedProtocol]:
    """The protocol class for one server."""
    return type("LimitedProtocol", (GuardedProtocol,), {"head_seconds": head_seconds})
