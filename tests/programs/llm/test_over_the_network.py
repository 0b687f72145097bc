"""The client over real connections, to whoever may answer there."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from bernstein.api.pod import Usage
from bernstein.llm.client import Limits
from bernstein.llm.errors import ModelError
from bernstein.llm.providers import BY_NAME
from tests.programs.llm.asking import Asking
from tests.programs.llm.servers import KEY, Behaviour, Scripted, rude
from tests.programs.pods.git_server import certificate

pytestmark = pytest.mark.verification

BASES = {
    "anthropic": "/run-1",
    "openai": "/run-1/v1",
    "openai-chat": "/run-1/v1",
    "openrouter": "/run-1/v1",
    "gemini": "/run-1",
}
SHORT = Limits(seconds=1.0)


def test_every_provider_is_tried() -> None:
    assert BASES.keys() == BY_NAME.keys()


@pytest.mark.parametrize("provider", BASES)
async def test_every_provider_is_asked_in_its_own_format(
    scripted: Scripted, caller: Asking, provider: str
) -> None:
    base = f"http://127.0.0.1:{scripted.port}{BASES[provider]}"

    answer = await caller.ask(base, provider=provider)

    assert answer.text == "yes"
    assert answer.usage == Usage(input=30, output=9, cache_read=20)
    assert answer.exact
    (row,) = scripted.rows
    assert (row["prefix"], row["status"], row["key"]) == ("run-1", 200, KEY[-4:])


async def test_it_waits_as_asked_and_tries_a_broken_connection_again(
    scripted: Scripted, caller: Asking
) -> None:
    begun = time.monotonic()

    answer = await caller.ask(f"http://127.0.0.1:{scripted.port}", "[busy]")

    assert answer.text == "yes"
    assert time.monotonic() - begun >= 1.0
    assert [row["status"] for row in scripted.rows] == [429, 0, 200]
    assert not caller.allowance.exact  # nobody knows what the broken one has used


async def test_a_wait_beyond_its_time_is_left_to_who_asked(
    scripted: Scripted, caller: Asking
) -> None:
    with pytest.raises(ModelError) as failed:
        await caller.ask(f"http://127.0.0.1:{scripted.port}", "[limited]", limits=SHORT)

    assert (failed.value.reason, failed.value.retry_after) == ("RateLimited", 60.0)
    assert len(scripted.rows) == 1


async def test_another_key_is_refused(scripted: Scripted, caller: Asking, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-wrong-0123456789")

    with pytest.raises(ModelError) as failed:
        await caller.ask(f"http://127.0.0.1:{scripted.port}")

    assert (failed.value.reason, len(scripted.rows)) == ("ModelAuthFailed", 1)


@pytest.mark.parametrize("prompt", ["[drip]", "[silent]"])
async def test_an_answer_that_comes_too_slowly_is_not_waited_for(
    scripted: Scripted, caller: Asking, prompt: str
) -> None:
    begun = time.monotonic()

    with pytest.raises(ModelError) as failed:
        await caller.ask(f"http://127.0.0.1:{scripted.port}", prompt, limits=SHORT)

    assert failed.value.reason == "ModelTimeout"
    assert time.monotonic() - begun < 10
    # It may be billed, so it counts with the most that it can be.
    (used,) = caller.allowance.used.values()
    assert used.output == 1024


async def test_an_answer_without_end_is_left_after_its_bytes(
    scripted: Scripted, caller: Asking
) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ModelError) as failed:
            await caller.ask(f"http://127.0.0.1:{scripted.port}", "[endless]")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert failed.value.reason == "AnswerTooLarge"
    assert peak < 16 << 20


def drip_headers(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
    while not over.wait(0.05):
        connection.sendall(b"a")


def endless_headers(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not over.is_set():
        connection.sendall(b"x-more: " + b"a" * 4096 + b"\r\n")


def endless_interim(connection: socket.socket, over: threading.Event) -> None:
    while not over.is_set():
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")


def nonsense(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


@pytest.mark.parametrize(
    ("behave", "reason", "seconds"),
    [
        (drip_headers, "ModelTimeout", 1.0),
        (endless_headers, "ProviderUnreachable", 60.0),
        (endless_interim, "ModelTimeout", 1.0),
        (nonsense, "ProviderUnreachable", 60.0),
    ],
)
async def test_who_speaks_no_http_keeps_nobody(
    caller: Asking, behave: Behaviour, reason: str, seconds: float
) -> None:
    begun = time.monotonic()

    with rude(behave) as port, pytest.raises(ModelError) as failed:
        await caller.ask(f"http://127.0.0.1:{port}", limits=Limits(seconds, attempts=1))

    assert failed.value.reason == reason
    assert time.monotonic() - begun < seconds + 5


async def test_a_redirect_is_not_followed(scripted: Scripted, caller: Asking) -> None:
    elsewhere = f"http://127.0.0.1:{scripted.port}/v1/messages".encode()

    def redirect(connection: socket.socket, _over: threading.Event) -> None:
        head = b"HTTP/1.1 307 Temporary Redirect\r\ncontent-length: 0\r\nlocation: "
        connection.sendall(head + elsewhere + b"\r\n\r\n")

    with rude(redirect) as port, pytest.raises(ModelError) as failed:
        await caller.ask(f"http://127.0.0.1:{port}")

    assert failed.value.reason == "ModelAddressInvalid"
    assert scripted.rows == []


async def test_nobody_there_is_said(caller: Asking) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # and held, so that nobody else listens there
        port = silent.getsockname()[1]
        with pytest.raises(ModelError) as failed:
            await caller.ask(f"http://127.0.0.1:{port}", limits=Limits(attempts=1))

    assert failed.value.reason == "ProviderUnreachable"
    assert failed.value.message == "127.0.0.1 cannot be reached: ConnectError"
    assert caller.allowance.used == {}


@pytest.mark.parametrize("host", ["a..b", f"{'a' * 64}.example", "no-such-host.invalid"])
async def test_a_host_that_is_none_is_said(caller: Asking, host: str) -> None:
    with pytest.raises(ModelError) as failed:
        await caller.ask(f"https://{host}", limits=Limits(attempts=1))

    assert failed.value.reason == "ProviderUnreachable"
    assert caller.allowance.used == {}


async def test_the_environment_sends_nothing_elsewhere(
    scripted: Scripted, caller: Asking, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))

    assert (await caller.ask(f"http://127.0.0.1:{scripted.port}")).text == "yes"


async def test_off_the_machine_it_is_tls(caller: Asking) -> None:
    """This address is no loopback address, though it leads to this machine."""
    with Scripted.running("0.0.0.0") as server:  # noqa: S104
        base = f"http://0.0.0.0:{server.port}"
        with pytest.raises(ModelError) as failed:
            await caller.ask(base)
        assert failed.value.reason == "ModelAddressInvalid"
        assert server.rows == []

        assert (await caller.ask(base, plain_http=True)).text == "yes"


async def test_only_who_is_trusted_gets_the_key(caller: Asking, tmp_path: Path) -> None:
    pem = certificate(tmp_path)
    with Scripted.running(tls=pem) as server:
        base = f"https://localhost:{server.port}"
        with pytest.raises(ModelError) as failed:
            await caller.ask(base)
        assert failed.value.reason == "ProviderUntrusted"
        assert server.rows == []
        assert caller.allowance.used == {}

        answer = await caller.ask(base, ca_file=str(tmp_path / "ca.pem"))
        assert answer.text == "yes"


async def test_a_certificate_of_another_host_is_refused(caller: Asking, tmp_path: Path) -> None:
    pem = certificate(tmp_path)
    with Scripted.running("127.0.0.2", tls=pem) as server, pytest.raises(ModelError) as failed:
        await caller.ask(f"https://127.0.0.2:{server.port}", ca_file=str(tmp_path / "ca.pem"))

    assert failed.value.reason == "ProviderUntrusted"
    assert server.rows == []


def test_the_client_loads_little() -> None:
    code = "import sys; import bernstein.llm.client; print(*sys.modules)"
    listed = subprocess.check_output([sys.executable, "-c", code], text=True).split()

    heavy = {"aiohttp", "fastapi", "kopf", "kubernetes", "pydantic", "structlog", "yaml"}
    assert not heavy & {name.split(".")[0] for name in listed}
