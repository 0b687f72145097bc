"""The program that renews tokens of a GitHub App, between a scripted forge and API server."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bernstein.api import encoding, pod
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.api.programs.mint import REMEDIES, MintReason, MintResult
from tests.programs.pods.git_server import certificate

ACCOUNT = "token-of-the-pods-own-account"
EXPIRES = "2030-07-11T22:14:10+00:00"
ASKS = "/api/v3/app/installations/4711/access_tokens"


@dataclass
class Servers:
    """Forge and API server behind one port."""

    folder: Path
    port: int = 0
    forge: dict[str, tuple[int, Any]] = field(default_factory=dict)
    """What is answered instead of a token, by the permission to contents that is asked for."""
    secrets: set[str] = field(default_factory=lambda: {"git-read", "git-work", "forge-token"})
    """Those that the account may write."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    written: dict[str, dict[str, Any]] = field(default_factory=dict)
    headers: list[tuple[str, str]] = field(default_factory=list)
    """(path, authorization) of each request."""

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if path == ASKS and method == "POST":
            return self._token(body)
        name = path.removeprefix("/api/v1/namespaces/team-a/secrets/")
        if method != "PATCH" or name not in self.secrets:
            return 403, {"message": f"secrets {name} is forbidden", "data": "of the server"}
        self.written[name] = body
        return 200, {"kind": "Secret", **body}

    def _token(self, body: Any) -> tuple[int, Any]:
        self.asked.append(body)
        level = body["permissions"]["contents"]
        if level in self.forge:
            return self.forge[level]
        told = {
            "token": f"ghs_token-{len(self.asked)}-{level}",
            "expires_at": "2030-07-11T22:14:10Z",
            "permissions": body["permissions"] | {"metadata": "read"},
            "repository_selection": "selected",
            "repositories": [{"full_name": f"acme/{name}"} for name in body["repositories"]],
        }
        return 201, told


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    key = generate_private_key(65537, 2048)
    data = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    certificate(tmp_path)
    (tmp_path / "key.pem").write_bytes(data)
    (tmp_path / "account").mkdir()
    (tmp_path / "account/token").write_text(ACCOUNT)
    (tmp_path / "account/namespace").write_text("team-a")
    (tmp_path / "account/ca.crt").write_text((tmp_path / "ca.pem").read_text())
    there = Servers(tmp_path)

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", "0")))
            there.headers.append((self.path, self.headers.get("authorization", "")))
            status, body = there.answer(self.command, self.path, json.loads(data))
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_PATCH = _do  # noqa: N815 - so it calls them

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    there.port = server.server_port
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield there
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass(frozen=True)
class Ended:
    code: int
    log: str
    last: bytes

    @property
    def failure(self) -> pod.Failure:
        return encoding.load(pod.Failure, self.last)


def minted(servers: Servers, *accounts: tuple[str, str], **more: Any) -> Ended:
    """The program as the kubelet starts it."""
    address = f"http://127.0.0.1:{servers.port}"
    config = {
        "app": "Iv23liABC",
        "installation": 4711,
        "url": "https://git.example/acme/shop.git",
        "api": f"{address}/api/v3",
        "tokens": [{"account": account, "secret": secret} for account, secret in accounts],
        "key_file": str(servers.folder / "key.pem"),
        "cluster": address,
        "account_folder": str(servers.folder / "account"),
        **more,
    }
    last = servers.folder / "last"
    done = subprocess.run(
        [sys.executable, "-m", "bernstein.pods", "mint", json.dumps(config)],
        env=os.environ | {"BERNSTEIN_TERMINATION_LOG": str(last)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    ended = Ended(done.returncode, done.stdout + done.stderr, last.read_bytes())
    for secret in ("ghs_", ACCOUNT, "eyJ", "PRIVATE KEY"):
        assert secret not in ended.log + ended.last.decode()
    return ended


def written(servers: Servers, name: str) -> dict[str, str]:
    data = servers.written[name]["data"]
    return {key: base64.b64decode(value).decode() for key, value in data.items()}


def test_each_account_gets_a_token_of_its_own_as_its_containers_find_it(servers: Servers) -> None:
    ended = minted(servers, ("read", "git-read"), ("work", "git-work"), ("forge", "forge-token"))

    assert ended.code == 0
    found = encoding.load(MintResult, ended.last)
    assert [(each.secret, each.expires) for each in found.minted] == [
        ("git-read", EXPIRES),
        ("git-work", EXPIRES),
        ("forge-token", EXPIRES),
    ]
    assert written(servers, "git-read") == {
        "username": "x-access-token",
        "password": "ghs_token-1-read",
    }
    assert written(servers, "git-work")["password"] == "ghs_token-2-write"
    assert written(servers, "forge-token") == {"token": "ghs_token-3-read"}
    assert servers.written["git-read"]["metadata"] == {
        "annotations": {"bernstein.dev/expires": EXPIRES}
    }
    assert [each["repositories"] for each in servers.asked] == [["shop"]] * 3


def test_the_forge_sees_no_account_of_the_cluster_and_the_cluster_no_app(servers: Servers) -> None:
    minted(servers, ("read", "git-read"))

    (forge, by_app), (cluster, by_account) = servers.headers
    assert (forge, by_app.startswith("Bearer eyJ"), ACCOUNT in by_app) == (ASKS, True, False)
    assert cluster.startswith("/api/v1/")
    assert by_account == f"Bearer {ACCOUNT}"


def test_who_lacks_rights_keeps_no_other_account_from_its_token(servers: Servers) -> None:
    words = "The permissions requested are not granted to this installation."
    servers.forge["write"] = (422, {"message": words})

    ended = minted(servers, ("work", "git-work"), ("read", "git-read"))

    assert ended.code == 1
    assert ended.failure.reason == "AppLacksRights"
    assert ended.failure.message.startswith("work: the installation does not give this token.")
    assert REMEDIES[MintReason.LACKS_RIGHTS] in ended.failure.message
    assert f"\n> {words}" in ended.failure.message
    assert set(servers.written) == {"git-read"}


def test_a_secret_that_the_account_may_not_write_is_named_and_nothing_of_it_shown(
    servers: Servers,
) -> None:
    ended = minted(servers, ("read", "another"), ("work", "git-work"))

    assert ended.failure.reason == "SecretWriteRefused"
    assert "'another' was not written: the pod's account may not write it" in ended.failure.message
    assert "of the server" not in ended.failure.message
    assert set(servers.written) == {"git-work"}


@pytest.mark.parametrize(
    ("status", "words", "reason"),
    [
        (401, "A JSON web token could not be decoded", MintReason.KEY_REFUSED),
        (404, "Not Found", MintReason.NOT_INSTALLED),
        (403, "This installation has been suspended", MintReason.NOT_INSTALLED),
        (500, "", ForgeReason.UNAVAILABLE),
        (302, "", ForgeReason.ANSWER_INVALID),
    ],
)
def test_what_the_app_itself_meets_is_asked_once(
    servers: Servers, status: int, words: str, reason: str
) -> None:
    servers.forge |= dict.fromkeys(("read", "write"), (status, {"message": words}))

    ended = minted(servers, ("read", "git-read"), ("work", "git-work"))

    assert (ended.code, ended.failure.reason) == (1, reason)
    assert len(servers.asked) == 1
    assert servers.written == {}


def test_a_key_that_is_none_is_told_before_anybody_is_asked(servers: Servers) -> None:
    (servers.folder / "key.pem").write_text("-----BEGIN no key")

    ended = minted(servers, ("read", "git-read"))

    assert ended.failure.reason == "AppKeyInvalid"
    assert servers.headers == []


def test_an_api_server_that_cannot_be_reached_or_trusted_gets_nothing(servers: Servers) -> None:
    away = minted(servers, ("read", "git-read"), cluster="http://127.0.0.1:9")
    clear = minted(servers, ("read", "git-read"), cluster="http://api.example")
    (servers.folder / "account/ca.crt").unlink()
    alone = minted(servers, ("read", "git-read"))

    assert {each.failure.reason for each in (away, clear, alone)} == {"ClusterUnreachable"}
    assert servers.written == {}


def test_an_account_that_is_none_is_refused(servers: Servers) -> None:
    ended = minted(servers, ("admin", "git-read"))

    assert ended.failure.reason == "InvalidConfig"
    assert "read, work, deliver, forge" in ended.failure.message
    assert servers.headers == []
