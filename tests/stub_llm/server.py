"""The HTTP side: routes, the log of requests, error counters, and answers that misbehave."""

from __future__ import annotations

import dataclasses
import json
import socket
import ssl
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from tests.stub_llm import responses, scenario, wire
from tests.stub_llm.responses import Request
from tests.stub_llm.scenario import FOREVER, Failure, Scenario, Script, Turn
from tests.stub_llm.wire import Wire

_SHOWN_KEY = 4
_SHOWN_TEXT = 4000
_BODY_LIMIT = 64 * 1024 * 1024


@dataclass
class State:
    """What the endpoint remembers; everything is guarded by `lock`."""

    script: Script
    lock: threading.Lock = field(default_factory=threading.Lock)
    rows: list[dict[str, Any]] = field(default_factory=list)
    served: Counter[tuple[str, ...]] = field(default_factory=Counter)
    released: threading.Event = field(default_factory=threading.Event)

    def reset(self) -> None:
        with self.lock:
            self.rows.clear()
            self.served.clear()
            self.released.set()
            self.released = threading.Event()

    def note(self, **row: Any) -> None:
        with self.lock:
            self.rows.append({"time": round(time.time(), 3), **row})

    def due_error(self, conversation: tuple[str, ...], turn: Turn) -> Failure | None:
        """The error that comes before this turn for this conversation, each as often as it says."""
        with self.lock:
            before = self.served[conversation]
            for failure in turn.errors:
                if failure.times == FOREVER or before < failure.times:
                    self.served[conversation] += 1
                    return failure
                before -= failure.times
        return None


class Endpoint(ThreadingHTTPServer):
    """Listens at once; `serve_forever` answers."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], script: Script) -> None:
        super().__init__(address, _Handler)
        self.state = State(script)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def speak_tls(self, certificate: Path, key: Path | None = None) -> None:
        """From now on; `key` None: it is in the same file."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        # Else a client that says nothing would keep all others waiting.
        self.socket = context.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours; anything else ends up on stderr."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Rows of `/__stub/requests` are the log."""

    def do_GET(self) -> None:
        state = self.server.state
        path = urlsplit(self.path).path
        if path == "/__stub/healthz":
            self._json(200, {"status": "ok"})
        elif path == "/__stub/requests":
            with state.lock:
                rows = list(state.rows)
            self._json(200, rows)
        else:
            # 426 to a WebSocket attempt sends the client to plain HTTP at once.
            status = 426 if self.headers.get("upgrade") else 404
            state.note(method="GET", path=path, status=status)
            self._json(status, {"error": {"message": f"stub: nothing at {path}"}})

    def do_POST(self) -> None:
        state = self.server.state
        path = urlsplit(self.path).path
        body = self.rfile.read(min(int(self.headers.get("content-length") or 0), _BODY_LIMIT))
        if path == "/__stub/reset":
            state.reset()
            self._json(200, {})
        elif path == "/__stub/scenarios":
            self._replace(body)
        elif found := wire.spoken(path):
            self._respond(*found, json.loads(body))
        else:
            state.note(method="POST", path=path, status=404)
            self._json(404, {"error": {"message": f"stub: nothing at {path}"}})

    def _replace(self, body: bytes) -> None:
        try:
            self.server.state.script = scenario.parse(body)
        except (ValueError, TypeError, KeyError, yaml.YAMLError) as error:
            self._json(400, {"error": {"message": str(error)}})
        else:
            self._json(200, {})

    def _respond(self, spoken: Wire, prefix: str, body: dict[str, Any]) -> None:
        script = self.server.state.script
        request = spoken.read(body)
        key = wire.key(self.headers)
        played, index = script.choose(request.user_messages, json.dumps(body))
        number = request.turns_after[index] if index < len(request.turns_after) else 0
        row = {
            "prefix": prefix,
            "path": self.path,
            "model": body.get("model"),
            "key": key[-_SHOWN_KEY:],
            "agent": self.headers.get("user-agent", ""),
            "max_tokens": body.get("max_tokens"),
            "temperature": body.get("temperature"),
            "effort": (body.get("reasoning") or {}).get("effort"),
            "scenario": played.name,
            "turn": number,
            "tools": sorted(request.tools),
            "messages": [message[-_SHOWN_TEXT:] for message in request.user_messages],
        }
        if script.require_key is not None and key != script.require_key:
            self._fail(spoken, Failure(401, message="Incorrect API key provided"), row)
            return
        session = self.headers.get("session-id") or self.headers.get("session_id") or ""
        conversation = (prefix, key, session, played.name, str(number))
        self._play(spoken, request, played, number, conversation, row)

    def _play(
        self,
        spoken: Wire,
        request: Request,
        played: Scenario,
        number: int,
        conversation: tuple[str, ...],
        row: dict[str, Any],
    ) -> None:
        turn = played.turn(number)
        failure = self.server.state.due_error(conversation, turn)
        if turn.delay:
            time.sleep(turn.delay)
        if failure is not None:
            self._fail(spoken, failure, row)
            return
        try:
            whole, events = spoken.answer(request, turn)
        except responses.UnknownToolError as error:
            self._fail(spoken, Failure(400, message=f"stub: {error}"), row)
            return
        self.server.state.note(**row, status=200, usage=dataclasses.asdict(turn.usage))
        if request.stream:
            self._stream(events, turn)
        elif turn.drip or turn.endless:
            self._slowly(json.dumps(whole).encode(), turn)
        else:
            self._json(200, whole)

    def _slowly(self, data: bytes, turn: Turn) -> None:
        """The answer a byte at a time, or an answer without an end."""
        released = self.server.state.released
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if turn.endless:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            piece = b" " * (64 << 10)
            while not released.is_set():
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        else:
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            for byte in data:
                self.wfile.write(bytes((byte,)))
                if released.wait(turn.drip):
                    break
        self.close_connection = True

    def _fail(self, spoken: Wire, failure: Failure, row: dict[str, Any]) -> None:
        self.server.state.note(**row, status=failure.status)
        if failure.status == 0:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        after = failure.retry_after
        headers = {} if after is None else {"Retry-After": str(after)}
        self._json(failure.status, spoken.error(failure), headers)

    def _stream(self, events: list[responses.Event], turn: Turn) -> None:
        released = self.server.state.released
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._event(*events[0])
        if turn.hang:
            released.wait()
        if turn.hang or turn.disconnect:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        for event in [responses.failed(turn.stream_error)] if turn.stream_error else events[1:]:
            self._event(*event)
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, kind: str, data: responses.Json) -> None:
        chunk = f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.flush()

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)
