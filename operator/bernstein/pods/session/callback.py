"""Client of the server's session callbacks: heartbeats with usage, and the result.

It uses the standard library's HTTP client, which is imported in a few milliseconds, follows no
redirects and reads no proxy variables.
"""

from __future__ import annotations

import dataclasses
import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from bernstein.api import encoding, pod
from bernstein.core import sanitise
from bernstein.pods import log
from bernstein.pods.errors import PodError

_TIMEOUT_SECONDS = 10.0
_ANSWER_BYTES = 64 << 10
_TOKEN_BYTES = 16 << 10
_REASON_LIMIT = 100
_LONGEST_PAUSE_SECONDS = 60.0
_SOON_SECONDS = 5.0
_MOST_SOON = 3
"""So many heartbeats in a row come sooner because the server asks for that: it hears of a pod a
moment after that has started."""


class CallbackError(Exception):
    """The server was not reached (`status` is None), answered with another HTTP status than 200, or
    with a body that is no JSON. `soon`: the server is there, and asks to be told again soon."""

    def __init__(self, message: str, status: int | None = None, *, soon: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.soon = soon


@dataclass(frozen=True, slots=True)
class Beat:
    """What a heartbeat tells."""

    usage: pod.Usage = dataclasses.field(default_factory=pod.Usage)
    model: str | None = None
    progress: str = ""
    last_activity: float = 0.0
    """Unix time in seconds."""
    checkpoint: str | None = None


class CallbackClient:
    """Calls for one session. Every call reads the token anew: the kubelet renews it."""

    def __init__(self, callback: pod.Callback, namespace: str, session: str) -> None:
        """Raises PodError(InvalidConfig) for an address that is not http or https."""
        self._url = urlsplit(callback.url)
        if self._url.scheme not in {"http", "https"} or not self._url.hostname:
            raise PodError("InvalidConfig", "callback.url must start with http:// or https://")
        self._token_file = Path(callback.token_file)
        self._ca_file = callback.ca_file
        # Starts at the time, so that it also grows over a restart of the container: heartbeats are
        # sent less than once a second.
        self._seq = int(time.time())
        self._seq_lock = threading.Lock()
        path = pod.SESSION_PATH.format(namespace=quote(namespace, ""), name=quote(session, ""))
        self._path = self._url.path.rstrip("/") + path

    def heartbeat(self, beat: Beat, timeout: float = _TIMEOUT_SECONDS) -> str | None:
        """Send a heartbeat; returns why the server wants the agent stopped, or None.

        Raises CallbackError.
        """
        with self._seq_lock:
            self._seq += 1
            seq = self._seq
        body = {
            "seq": seq,
            "usage": dataclasses.asdict(beat.usage),
            "model": beat.model,
            "progress": beat.progress,
            "lastActivity": beat.last_activity,
            "checkpoint": beat.checkpoint,
        }
        try:
            answer = self._post("heartbeat", json.dumps(body), timeout)
        except CallbackError as error:
            if error.status == http.HTTPStatus.CONFLICT:
                return pod.SESSION_OVER
            raise
        return _stop_reason(answer)

    def result(self, result: pod.RecorderResult, timeout: float = _TIMEOUT_SECONDS) -> None:
        """Send the result. Raises CallbackError."""
        self._post("result", encoding.dump(result), timeout)

    def _post(self, what: str, body: str, timeout: float) -> Any:
        connection = self._connection(timeout)
        try:
            with self._token_file.open(encoding="ascii") as file:
                token = file.read(_TOKEN_BYTES).strip()
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request("POST", f"{self._path}/{what}", body.encode(), headers)
            answer = connection.getresponse()
            data = answer.read(_ANSWER_BYTES)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise CallbackError(f"{type(error).__name__}: {error}") from error
        finally:
            connection.close()
        if answer.status != http.HTTPStatus.OK:
            soon = answer.getheader("Retry-After") is not None
            raise CallbackError(f"the server answered {answer.status}", answer.status, soon=soon)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise CallbackError("the server's answer is no JSON", answer.status) from error

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        host = self._url.hostname or ""
        if self._url.scheme == "http":
            return http.client.HTTPConnection(host, self._url.port, timeout=timeout)
        try:
            context = ssl.create_default_context(cafile=self._ca_file)
        except OSError as error:
            raise CallbackError(f"CA file {self._ca_file}: {error}") from error
        return http.client.HTTPSConnection(host, self._url.port, timeout=timeout, context=context)


def _stop_reason(answer: Any) -> str | None:
    stop = answer.get("stop") if isinstance(answer, dict) else None
    if not isinstance(stop, dict):
        return None
    return sanitise.line(str(stop.get("reason") or ""), _REASON_LIMIT) or "Stopped"


class Heart(threading.Thread):
    """Sends heartbeats in a thread of its own, so that they and the recorder's work never wait for
    each other.

    A server that is down or refuses only makes the pauses between heartbeats longer, but for the
    first that it asks to be told again soon.
    """

    def __init__(
        self,
        client: CallbackClient,
        seconds: float,
        beat: Callable[[], Beat],
        stop: Callable[[str], None],
    ) -> None:
        """Every heartbeat tells what `beat` returns; `stop` is called with the server's reason."""
        super().__init__(name="heartbeat", daemon=True)
        self._client = client
        self._seconds = seconds
        self._beat = beat
        self._stop = stop
        self._ended = threading.Event()
        self._failures = 0
        self._soon = False
        self._told = False

    def end(self) -> None:
        """Send no more heartbeats; does not wait for one that is under way."""
        self._ended.set()

    def run(self) -> None:
        self._once()
        while not self._ended.wait(self._pause()):
            self._once()

    def _pause(self) -> float:
        if self._is_early():
            return min(self._seconds, _SOON_SECONDS)
        backed_off: float = self._seconds * 2**self._failures
        return max(self._seconds, min(backed_off, _LONGEST_PAUSE_SECONDS))

    def _is_early(self) -> bool:
        """Whether the server has only not heard yet of this pod."""
        return self._soon and self._failures <= _MOST_SOON

    def _once(self) -> None:
        try:
            reason = self._client.heartbeat(self._beat())
        except CallbackError as error:
            self._failures, self._soon = min(self._failures + 1, 10), error.soon
            if not self._told and not self._is_early():
                self._told = True
                log.event("heartbeat-failed", status=error.status, message=str(error))
            return
        self._failures, self._soon, self._told = 0, False, False
        if reason is not None:
            self._stop(reason)
