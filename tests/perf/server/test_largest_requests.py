"""What the largest requests that the server takes cost its loop at once.

Anybody whom the network lets through may send them, and whatever is between two awaits holds up the
heartbeats of all sessions. The whole server listens as it does in its pod, but for TLS; each step
of its loop is measured alone, as CPU time of its thread. Who calls, and the API server, are in
other threads, and garbage of what the tests have made before is left out. The figures are printed
(``pytest -s``) for the reference.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
from asyncio.events import Handle
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from time import thread_time
from typing import Any

import orjson
import pytest

from bernstein.observe.metrics import ServerMetrics
from bernstein.resources import SESSIONS
from bernstein.server import report, serve, service
from bernstein.server.app import create_app
from bernstein.server.http import body
from bernstein.server.http.body import MAX_BYTES
from bernstein.server.http.connections import guarded_protocol, listen
from bernstein.server.identity import MAX_TOKEN
from bernstein.server.routes import ROUTES, callbacks
from bernstein.server.serve import MAX_HEADER_BYTES, uvicorn_config
from bernstein.server.service import Service
from bernstein.server.settings import ServerSettings
from tests.perf import test_largest_session as largest
from tests.perf.pace import quickest
from tests.unit.server.conftest import Clock, beat, result
from tests.unit.server.http.test_connections import Quiet
from tests.unit.server.session_api import SessionApi, proof, token

MOST_SECONDS = 0.2
"""Of one step."""
PATIENCE = 600.0
BEAT, RESULT = "/v1/sessions/team/fix-s1/heartbeat", "/v1/sessions/team/fix-s1/result"
TOKEN = token("good" * (MAX_TOKEN * 3 // 16 - 64))
assert MAX_TOKEN - 1024 < len(TOKEN) <= MAX_TOKEN
SETTINGS = ServerSettings("127.0.0.1", 0, None, None, (), None, "info")
TEXTS = [largest.WIDE, "\u200b", "\u202e@a ", "\x1b[0", "\x1b]0;", "https://a:b@c/", " \n", "a"]
"""What is dear to look at, or to take out."""


def request(method: str, path: str, body: bytes = b"", *, chunked: bool = False) -> bytes:
    """`chunked`: each byte of the body comes alone, which takes six."""
    size = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(body)
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
    if chunked:
        body = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    return b"%b%b\r\nConnection: close\r\n\r\n%b" % (head, size, body)


def filled(body: dict[str, Any], field: str, text: str) -> bytes:
    """As large as a body may be, by what this field says."""
    room = MAX_BYTES - len(orjson.dumps(body | {field: ""}))
    made = orjson.dumps(body | {field: text * (room // (len(orjson.dumps(text)) - 2))})
    assert MAX_BYTES - 64 < len(made) <= MAX_BYTES
    return made


def said(text: str) -> bytes:
    """The same of a result, by what its agent is not sure of."""
    made = result()
    final = made.pop("final") | {"low_confidence": ""}
    room = MAX_BYTES - len(orjson.dumps(made | {"final": final}))
    final["low_confidence"] = text * (room // (len(orjson.dumps(text)) - 2))
    return orjson.dumps(made | {"final": final})


def lists(depth: int) -> bytes:
    """As many lists as fit, each so deep."""
    one = b"[" * depth + b"]" * depth
    return b'{"usage":[%b]}' % b",".join([one] * (MAX_BYTES // (2 * depth + 1) - 8))


def requests() -> dict[str, tuple[int, bytes]]:
    """Each with the status of its answer; all of one server."""
    keys = orjson.dumps(beat(seq=9) | {f"{n}": 0 for n in range(MAX_BYTES // 10)})
    long = "a" * (MAX_HEADER_BYTES - len(TOKEN) - 1024)
    texts = {
        f"heartbeat that says {text!a}": (
            200,
            request("POST", BEAT, filled(beat(seq=n + 1), f, text)),
        )
        for n, text in enumerate(TEXTS)
        for f in (("progress", "model")[n % 2],)
    }
    return {
        "description": (200, request("GET", "/openapi.json")),
        **texts,
        "heartbeat with unknown keys": (200, request("POST", BEAT, keys)),
        "heartbeat byte by byte": (
            200,
            request("POST", BEAT, filled(beat(seq=99), "progress", "a"), chunked=True),
        ),
        "lists in lists": (422, request("POST", BEAT, lists(14))),
        "lists side by side": (422, request("POST", BEAT, lists(1))),
        "lists without end": (422, request("POST", BEAT, b"[" * MAX_BYTES)),
        "result": (200, request("POST", RESULT, said(largest.WIDE))),
        "no such route": (404, request("GET", f"/{long}")),
        "no such name": (
            422,
            request("POST", RESULT.replace("fix-s1", long)),
        ),
        "alive": (200, request("GET", "/healthz")),
        "ready": (200, request("GET", "/readyz")),
        "metrics": (200, request("GET", "/metrics")),
    }


def put_session(api: SessionApi) -> None:
    """As large as the API takes one, and of the pod that calls."""
    status = largest.status() | {"state": "Working", "report": {**largest.report(), "seq": 0}}
    status["pod"] |= {"name": "pod-1", "uid": "uid-1"}
    for field in ("outcome", "checkpoint", "lowConfidence"):
        status["report"].pop(field)
    api.put(SESSIONS, "fix-s1", "team", spec=largest.spec(), status=status)
    api.proofs[TOKEN] = proof("team", "pod-1", "uid-1")


@asynccontextmanager
async def cluster() -> AsyncIterator[SessionApi]:
    """The API server, with a loop and a thread of its own."""
    there: asyncio.Future[SessionApi] = asyncio.get_running_loop().create_future()
    loop, over = asyncio.get_running_loop(), threading.Event()

    async def serve_it() -> None:
        async with SessionApi.running() as api:
            put_session(api)
            loop.call_soon_threadsafe(there.set_result, api)
            await asyncio.to_thread(over.wait)

    serving = threading.Thread(target=asyncio.run, args=(serve_it(),))
    serving.start()
    try:
        yield await there
    finally:
        over.set()
        await asyncio.to_thread(serving.join)


def answer(port: int, sent: bytes) -> int:
    """The status of the answer to these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(sent)
        got = connection.makefile("rb").read()
    return int(got.split(b" ", 2)[1])


class Steps:
    """The CPU seconds of the longest step of this thread's loop, by what is asked meanwhile."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.asked = "start"
        self.longest: dict[str, float] = {}
        thread, original = threading.get_ident(), Handle._run

        def measured(handle: Handle) -> None:
            if threading.get_ident() != thread:
                original(handle)
                return
            began = thread_time()
            original(handle)
            taken = thread_time() - began
            self.longest[self.asked] = max(taken, self.longest.get(self.asked, 0.0))

        patch.setattr(Handle, "_run", measured)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, the server waits for whom it has to wait."""
    monkeypatch.setattr(body, "MAX_SECONDS", PATIENCE)
    monkeypatch.setattr(service, "REQUEST_SECONDS", PATIENCE)
    monkeypatch.setattr(serve, "guarded_protocol", lambda: guarded_protocol(PATIENCE))


async def ask(steps: Steps) -> None:
    """The server gets all of them, one after the other."""
    async with cluster() as api, api.client() as client:
        app = create_app(Service(client, ServerMetrics(), now=Clock(), clock=Clock()))
        server = Quiet(uvicorn_config(app, SETTINGS))
        listener = listen("127.0.0.1", 0)
        serving = asyncio.create_task(server.serve([listener]))
        await server.listening.wait()
        for what, (status, sent) in requests().items():
            steps.asked = what
            found = await asyncio.to_thread(answer, listener.getsockname()[1], sent)
            assert found == status, what
        steps.asked = "end"
        server.should_exit = server.force_exit = True
        await serving


@pytest.fixture
def few_objects() -> Iterator[None]:
    """Garbage is looked for as in the server, which has not loaded all that tests load."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("few_objects", "patient")
def test_no_step_of_the_servers_loop_takes_200_ms_however_large_what_it_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = []

    def measured() -> float:
        with monkeypatch.context() as patch:
            steps = Steps(patch)
            asyncio.run(ask(steps))
        longest = {what: steps.longest[what] for what in requests()}
        told.append(", ".join(f"{what} {s * 1000:.0f} ms" for what, s in longest.items()))
        print(f"\n{told[-1]}")
        return max(longest.values())

    longest, limit = quickest(measured, MOST_SECONDS)
    assert longest < limit, f"{limit * 1000:.0f} ms are allowed; {told}"


def test_every_route_is_sent_its_largest_request() -> None:
    sent = [bytes_.split(b" ", 2)[:2] for _, bytes_ in requests().values()]
    for route in ROUTES:
        path = route.path.format(namespace="team", name="fix-s1")
        assert [route.method.encode(), path.encode()] in sent


@pytest.mark.usefixtures("patient")
def test_a_handler_that_holds_the_servers_loop_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first test could not fail."""

    def slow(*given: Any) -> Any:
        began = thread_time()
        while thread_time() < began + MOST_SECONDS:
            pass
        return report.after_result(*given)

    monkeypatch.setattr(callbacks, "after_result", slow)
    steps = Steps(monkeypatch)
    asyncio.run(ask(steps))
    assert max(steps.longest, key=lambda what: steps.longest[what]) == "result"
    assert steps.longest["result"] > MOST_SECONDS
