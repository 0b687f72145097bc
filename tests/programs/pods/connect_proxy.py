"""A forward proxy for tests: it opens tunnels by CONNECT, and writes down what it is told."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Proxy:
    refuses: bool = False
    """Let nobody through."""
    told: list[str] = field(default_factory=list)
    """The head of each request: all that is not in a tunnel."""
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def asked_for(self) -> set[str]:
        return {head.split("\r\n")[0] for head in self.told}

    def serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                if not (more := connection.recv(4096)):
                    return
                head += more
            self.told.append(head.decode("latin-1"))
            method, to, *_ = self.told[-1].split(" ")
            if self.refuses or method != "CONNECT":
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                return
            host, _, port = to.rpartition(":")
            with socket.create_connection((host, int(port)), 10) as server:
                connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_pour, args=(server, connection), daemon=True)
                back.start()
                _pour(connection, server)
                back.join(10)


def _pour(source: socket.socket, to: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def running() -> Iterator[Proxy]:
    proxy = Proxy()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy.port = listening.getsockname()[1]

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    threading.Thread(target=proxy.serve, args=(connection,), daemon=True).start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield proxy
        listening.shutdown(socket.SHUT_RDWR)
        accepting.join(10)
