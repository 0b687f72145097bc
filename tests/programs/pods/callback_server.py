"""A server that takes the recorder's calls and answers as it is told."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Call:
    path: str
    token: str
    body: dict[str, Any]


class CallbackServer:
    """Collects calls; `answer` gives status and body for each."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.answer: Callable[[Call], tuple[int, bytes]] = lambda _: (200, b'{"stop":null}')
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def wrap(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)

    def of(self, kind: str) -> list[Call]:
        """Calls to `heartbeat` or `result`, oldest first."""
        return [call for call in list(self.calls) if call.path.endswith(f"/{kind}")]


def _handler(server: CallbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            call = Call(self.path, self.headers["Authorization"], body)
            server.calls.append(call)
            status, data = server.answer(call)
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    return Handler
