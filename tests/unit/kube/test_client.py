import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import orjson
import pytest
from aiohttp import test_utils, web

from bernstein.kube import client as client_module
from bernstein.kube.answers import WatchEvent
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo, FileToken
from bernstein.kube.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    KubeError,
    NotFound,
    Overloaded,
    TooLarge,
    TooManyRequests,
    TransportError,
    Unauthorized,
    Unavailable,
    api_error,
)
from bernstein.kube.observer import NullObserver
from bernstein.kube.resource import JOBS, PODS
from tests.background import Background, eventually
from tests.unit.kube.apiserver import WIDGETS, ApiServer


class Counting(NullObserver):
    def __init__(self) -> None:
        self.requests: list[tuple[str, str, int]] = []

    def request(self, verb: str, resource: str, status: int, seconds: float) -> None:
        assert seconds >= 0
        self.requests.append((verb, resource, status))


def test_paths_name_collection_object_and_subresource() -> None:
    assert PODS.path("ns") == "/api/v1/namespaces/ns/pods"
    assert JOBS.path(None) == "/apis/batch/v1/jobs"
    assert JOBS.path("ns", "j", "status") == "/apis/batch/v1/namespaces/ns/jobs/j/status"


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_would_address_something_else_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no object name"):
        PODS.path("ns", name)


def test_a_namespaced_object_without_namespace_is_refused() -> None:
    with pytest.raises(ValueError, match="namespaced"):
        PODS.path(None, "p")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, Gone),
        (422, Invalid),
        (429, TooManyRequests),
        (500, ApiError),
        (503, Unavailable),
    ],
)
async def test_refusals_become_typed_errors(
    api: ApiServer, client: Client, status: int, error: type[ApiError]
) -> None:
    api.fault = lambda _: status
    with pytest.raises(error) as raised:
        await client.get(WIDGETS, "w", "default")
    assert raised.value.status == status
    assert raised.value.reason


@pytest.mark.parametrize("status", [429, 503])
async def test_a_server_that_sheds_load_says_how_long_to_wait(
    api: ApiServer, client: Client, status: int
) -> None:
    api.fault = lambda _: status
    with pytest.raises(Overloaded) as raised:
        await client.get(WIDGETS, "w", "default")
    assert raised.value.retry_after == 3.0


@pytest.mark.parametrize(
    ("status", "header", "details", "seconds"),
    [
        (429, None, {}, 1.0),
        (503, None, {}, 0.0),
        (503, None, {"retryAfterSeconds": 7}, 7.0),
        (503, "5", {"retryAfterSeconds": 7}, 5.0),
        (503, "Wed, 21 Oct 2025 07:28:00 GMT", {}, 0.0),
        (429, "86400", {}, 60.0),
    ],
)
def test_how_long_is_bounded_and_has_a_default(
    status: int, header: str | None, details: dict[str, int], seconds: float
) -> None:
    error = api_error(status, {"details": details}, retry_after=header)
    assert isinstance(error, Overloaded)
    assert error.retry_after == seconds


def test_an_owner_of_a_kind_that_is_just_installed_is_refused_for_a_while_only() -> None:
    error = api_error(
        403,
        {
            "reason": "Forbidden",
            "message": 'jobs.batch "work" is forbidden: cannot set blockOwnerDeletion in this case '
            "because cannot find RESTMapping for APIVersion bernstein.dev/v1alpha1 Kind Task: "
            'no matches for kind "Task" in version "bernstein.dev/v1alpha1"',
        },
    )
    assert not isinstance(error, Forbidden)
    assert isinstance(error, Overloaded)
    assert error.retry_after == 2.0


async def test_a_second_create_is_already_exists_and_no_conflict(client: Client) -> None:
    widget = {"metadata": {"name": "w", "namespace": "default"}}
    await client.create(WIDGETS, widget)
    with pytest.raises(AlreadyExists):
        await client.create(WIDGETS, widget)


async def test_list_reads_every_page_and_names_the_kind(api: ApiServer, client: Client) -> None:
    for number in range(7):
        api.put(WIDGETS, f"w{number}")
    listed = await client.list(WIDGETS, limit=3)
    assert [item["metadata"]["name"] for item in listed.items] == [f"w{n}" for n in range(7)]
    assert {item["kind"] for item in listed.items} == {"Widget"}
    assert api.count("GET", "widgets") == 3


async def test_list_starts_over_when_the_continue_token_expires(
    api: ApiServer, client: Client
) -> None:
    for number in range(5):
        api.put(WIDGETS, f"w{number}")

    def compact_on_second_page(call: object) -> None:
        if len(api.calls) == 2:
            api.compact()

    api.fault = compact_on_second_page
    listed = await client.list(WIDGETS, limit=2)
    assert len(listed.items) == 5


async def test_delete_is_in_the_foreground_and_only_of_that_uid(
    api: ApiServer, client: Client
) -> None:
    api.put(JOBS, "j")
    with pytest.raises(Conflict):
        await client.delete(JOBS, "j", "default", uid="another")
    assert api.names(JOBS) == ["j"]
    await client.delete(JOBS, "j", "default", uid=api.get(JOBS, "j")["metadata"]["uid"])
    assert api.names(JOBS) == []
    assert {call.body["propagationPolicy"] for call in api.writes()} == {"Foreground"}


async def test_a_list_is_sent_as_json_patch_and_a_mapping_as_merge_patch(
    api: ApiServer, client: Client
) -> None:
    api.put(WIDGETS, "w", spec={"a": 1, "b": 2})
    merged = await client.patch(WIDGETS, "w", "default", {"spec": {"a": None}})
    assert merged["spec"] == {"b": 2}
    patched = await client.patch(WIDGETS, "w", "default", [{"op": "remove", "path": "/spec/b"}])
    assert patched["spec"] == {}


async def test_no_answer_in_time_is_a_transport_error(api: ApiServer, client: Client) -> None:
    api.fault = lambda _: "hang"
    with pytest.raises(TransportError):
        await client.with_timeout(0.05).get(WIDGETS, "w", "default")


async def test_a_dropped_connection_is_a_transport_error(api: ApiServer, client: Client) -> None:
    api.fault = lambda _: "drop-before"
    with pytest.raises(TransportError):
        await client.create(WIDGETS, {"metadata": {"name": "w", "namespace": "default"}})


async def test_nobody_listening_is_a_transport_error() -> None:
    async with Client(ConnectionInfo(server="http://127.0.0.1:1")) as client:
        with pytest.raises(TransportError):
            await client.get(WIDGETS, "w", "default")


async def test_every_request_is_observed(api: ApiServer) -> None:
    observer = Counting()
    api.put(WIDGETS, "w")
    async with api.client(observer=observer) as client:
        await client.get(WIDGETS, "w", "default")
        with pytest.raises(NotFound):
            await client.get(WIDGETS, "none", "default")
        api.fault = lambda _: "drop-before"
        with pytest.raises(TransportError):
            await client.create(WIDGETS, {"metadata": {"name": "w", "namespace": "default"}})
    assert observer.requests == [
        ("GET", "widgets", 200),
        ("GET", "widgets", 404),
        ("POST", "widgets", 0),
    ]


async def test_a_refused_token_file_is_read_again_once(api: ApiServer, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old\n")
    connection = ConnectionInfo(server=api.url, token=FileToken(file))
    api.put(WIDGETS, "w")
    async with Client(connection) as client:
        await client.get(WIDGETS, "w", "default")
        file.write_text("new\n")
        api.fault = lambda call: 401 if call.authorization == "Bearer old" else None
        await client.get(WIDGETS, "w", "default")
        assert [call.authorization for call in api.calls] == [
            "Bearer old",
            "Bearer old",
            "Bearer new",
        ]
        api.fault = lambda _: 401
        with pytest.raises(Unauthorized):
            await client.get(WIDGETS, "w", "default")
        assert len(api.calls) == 5


async def test_watch_gives_events_and_bookmarks(api: ApiServer, client: Client) -> None:
    start = (await client.list(WIDGETS)).resource_version
    api.put(WIDGETS, "w", spec={"text": "x" * 2_000_000})
    api.put(WIDGETS, "w", spec={"text": "short"})
    api.remove(WIDGETS, "w")
    events: list[WatchEvent] = []
    async with aclosing(client.watch(WIDGETS, resource_version=start)) as stream:
        async for event in stream:
            events.append(event)
            if event.type == "BOOKMARK":
                break
    assert [event.type for event in events] == ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    assert len(events[0].object["spec"]["text"]) == 2_000_000


async def drained(stream: AsyncIterator[WatchEvent]) -> None:
    async for _ in stream:
        pass


async def watch_error(client: Client, *, inactivity: float = 70.0) -> KubeError:
    stream = client.watch(WIDGETS, resource_version="100", inactivity=inactivity)
    with pytest.raises(KubeError) as raised:
        await drained(stream)
    return raised.value


async def test_watch_from_a_forgotten_revision_is_gone(api: ApiServer, client: Client) -> None:
    api.put(WIDGETS, "w")
    api.compact()
    assert isinstance(await watch_error(client), Gone)
    api.fault = lambda _: 410
    assert isinstance(await watch_error(client), Gone)


async def test_a_broken_watch_is_a_transport_error(
    api: ApiServer, client: Client, background: Background
) -> None:
    async def break_it() -> None:
        while True:  # it may not have begun yet
            api.break_watches()
            await asyncio.sleep(0.01)

    background.start(break_it())
    assert isinstance(await watch_error(client), TransportError)


async def test_a_silent_watch_is_a_transport_error(api: ApiServer, client: Client) -> None:
    api.silent_watches = True
    assert isinstance(await watch_error(client, inactivity=0.1), TransportError)


async def watching(client: Client) -> None:
    async with aclosing(client.watch(WIDGETS, resource_version="100")) as stream:
        await drained(stream)


async def test_requests_go_through_while_more_watches_are_open_than_connections_for_requests(
    api: ApiServer, client: Client, background: Background
) -> None:
    """As in an operator of 30 namespaces, which watches 7 kinds in each."""
    api.put(WIDGETS, "w")
    for _ in range(30 * 7):
        background.start(watching(client))
    await eventually(lambda: api.watches("widgets") == 30 * 7)
    assert await client.get(WIDGETS, "w", "default")


async def test_of_requests_only_so_many_are_sent_at_once(
    api: ApiServer, client: Client, background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def get() -> None:
        await client.get(WIDGETS, "w", "default")

    api.fault = lambda _: "hang"
    for _ in range(client_module.REQUESTS + 50):
        background.start(get())
    await eventually(lambda: len(api.calls) >= client_module.REQUESTS)
    await asyncio.sleep(0.1)
    assert len(api.calls) == client_module.REQUESTS


async def test_closing_closes_the_connections_of_requests_and_of_watches(
    api: ApiServer, background: Background
) -> None:
    async with api.client() as client:
        api.put(WIDGETS, "w")
        background.start(watching(client))
        await eventually(lambda: api.watches("widgets") == 1)
        await client.get(WIDGETS, "w", "default")
        assert api.connections() == 2
    await eventually(lambda: api.connections() == 0)


async def test_a_closed_client_says_how_to_open_it() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await Client(ConnectionInfo(server="http://host")).get(WIDGETS, "w", "default")


class Kubelet:
    """Answers every request with a log that is as long as it likes."""

    def __init__(self, *chunks: bytes, status: int = 200) -> None:
        self._chunks = chunks
        self._status = status
        self.encodings: list[str] = []

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(status=self._status)
        self.encodings.append(request.headers.get("Accept-Encoding", ""))
        await response.prepare(request)
        for chunk in self._chunks:
            await response.write(chunk)
        await response.write_eof()
        return response

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        server = test_utils.RawTestServer(self._handle)
        async with server, Client(ConnectionInfo(server=str(server.make_url("")))) as client:
            yield client


@pytest.mark.parametrize("last", [1, 7, 100_000, 10**9])
async def test_of_a_log_only_its_last_bytes_are_held(last: int) -> None:
    chunks = [b"%06d" % number * 5000 for number in range(40)]

    async with Kubelet(*chunks).client() as client:
        found = await client.logs("team", "pod", container="check", last_bytes=last)

    assert found == b"".join(chunks)[-last:]


async def test_a_log_that_is_refused_says_why() -> None:
    refusal = {"reason": "BadRequest", "message": "container check is waiting to start"}
    kubelet = Kubelet(orjson.dumps(refusal), status=400)

    async with kubelet.client() as client:
        with pytest.raises(ApiError, match="waiting to start") as error:
            await client.logs("team", "pod", last_bytes=5)

    assert error.value.status == 400


async def test_of_a_page_that_others_write_no_more_is_read_than_was_asked_for() -> None:
    page = orjson.dumps({"metadata": {"resourceVersion": "1"}, "items": [{"note": "x" * 1000}]})
    server = Kubelet(page[:300], page[300:])

    async with server.client() as client:
        found = await client.first_page(WIDGETS, "team", {}, limit=5, most_bytes=len(page))
        with pytest.raises(TooLarge):
            await client.first_page(WIDGETS, "team", {}, limit=5, most_bytes=len(page) - 1)

    assert found == [{"note": "x" * 1000}]
    assert set(server.encodings) == {"identity"}, "what is packed may be a thousand times as long"


async def test_of_an_answer_without_end_only_so_much_is_read() -> None:
    sent = 0

    async def endless(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" " * 100_000)
            sent += 100_000

    async with test_utils.RawTestServer(endless) as server:
        connection = ConnectionInfo(server=str(server.make_url("")))
        async with Client(connection, timeout=20.0) as client:
            with pytest.raises(TooLarge):
                await client.first_page(WIDGETS, "team", {}, limit=5, most_bytes=2**20)

    assert sent < 20 * 2**20


async def test_a_page_that_is_refused_says_why() -> None:
    kubelet = Kubelet(orjson.dumps({"reason": "Forbidden", "message": "no " * 9}), status=403)

    async with kubelet.client() as client:
        with pytest.raises(Forbidden):
            await client.first_page(WIDGETS, "team", {}, limit=5, most_bytes=5)


async def test_of_a_list_only_the_first_page_is_read(api: ApiServer, client: Client) -> None:
    for number in range(3):
        api.put(WIDGETS, f"w{number}")

    found = await client.first_page(WIDGETS, "default", {}, limit=2, most_bytes=2**20)

    assert [obj["metadata"]["name"] for obj in found] == ["w0", "w1"]
    assert api.count("GET", "widgets") == 1
