"""Tokens of a GitHub App are asked for as GitHub publishes it, and none that may do more is taken.

`app_recordings.json` was written by hand from GitHub's OpenAPI description of its REST API
2022-11-28.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)

from bernstein.forges import github_app
from bernstein.forges.errors import ForgeError
from bernstein.forges.github_app import AppClient, AppError, AppKey
from tests.unit.forges.asked import NOW

CASES = json.loads(Path(__file__).with_name("app_recordings.json").read_text())
KEY = generate_private_key(65537, 2048)


def pem(key: Any, how: KeySerializationEncryption | None = None) -> bytes:
    form = PrivateFormat.PKCS8 if how else PrivateFormat.TraditionalOpenSSL
    if not isinstance(key, RSAPrivateKey):
        form = PrivateFormat.PKCS8
    data: bytes = key.private_bytes(Encoding.PEM, form, how or NoEncryption())
    return data


@pytest.fixture
def key(tmp_path: Path) -> AppKey:
    (tmp_path / "key.pem").write_bytes(pem(KEY))
    return AppKey.read("Iv23liABC", str(tmp_path / "key.pem"))


def part(text: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def checked(signed: str) -> Any:
    """Its claims, once the signature is seen to be the key's."""
    said, _, signature = signed.rpartition(".")
    raw = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    KEY.public_key().verify(raw, said.encode(), PKCS1v15(), SHA256())
    head, claims = said.split(".")
    assert part(head) == {"alg": "RS256", "typ": "JWT"}
    return part(claims)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
async def test_a_token_is_asked_for_one_repository_and_one_account(
    key: AppKey, case: dict[str, Any]
) -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        stream = httpx.ByteStream(json.dumps(case["body"]).encode())
        return httpx.Response(case["status"], stream=stream)

    url, transport = "https://github.com/acme/shop.git", httpx.MockTransport(answer)
    async with AppClient(key, url, transport=transport, now=lambda: NOW) as client:
        least = github_app.permissions(case["account"], workflows=False)
        asked = client.run(github_app.token(client.repository, 4711, least))
        if "reason" in case:
            with pytest.raises((ForgeError, AppError)) as failed:
                await asked
            assert getattr(failed.value, "reason", None) == case["reason"]
            assert "ghs_" not in repr(failed.value)
        else:
            token = await asked
            assert (token.secret.reveal(), token.expires) == (
                case["body"]["token"],
                case["expires"],
            )
            assert "ghs_" not in repr(token)

    (request,) = requests
    assert request.method == "POST"
    assert str(request.url) == "https://api.github.com/app/installations/4711/access_tokens"
    assert json.loads(request.content) == case["asks"]
    assert request.headers["x-github-api-version"] == "2022-11-28"
    assert checked(request.headers["authorization"].removeprefix("Bearer ")) == {
        "iss": "Iv23liABC",
        "iat": NOW - 60,
        "exp": NOW + 480,
    }


async def test_a_server_of_ones_own_is_asked_at_its_own_address(key: AppKey) -> None:
    async def asked_at(api: str | None) -> str:
        seen: list[str] = []

        def answer(request: httpx.Request) -> httpx.Response:
            seen.append(str(request.url))
            return httpx.Response(404, stream=httpx.ByteStream(b"{}"))

        transport = httpx.MockTransport(answer)
        url = "https://git.example/acme/shop"
        async with AppClient(key, url, api=api, transport=transport) as client:
            with pytest.raises(ForgeError):
                await client.run(github_app.token(client.repository, 1, {}))
        return seen[0]

    path = "/app/installations/1/access_tokens"
    assert await asked_at(None) == f"https://git.example/api/v3{path}"
    assert await asked_at("https://api.example/v3/") == f"https://api.example/v3{path}"


def test_workflows_may_be_pushed_by_who_pushes_and_where_it_is_wanted() -> None:
    given = {
        account: github_app.permissions(account, workflows=True).get("workflows")
        for account in github_app.PERMISSIONS
    }
    assert given == {"read": None, "work": "write", "deliver": "write", "forge": None}
    for account in github_app.PERMISSIONS:
        assert "workflows" not in github_app.permissions(account, workflows=False)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no key",
        KEY.public_key().public_numbers().n.to_bytes(256, "big"),
        pem(KEY, BestAvailableEncryption(b"password")),
        pem(Ed25519PrivateKey.generate()),
    ],
    ids=["empty", "text", "bytes", "with a password", "of another kind"],
)
def test_what_is_no_key_is_refused_and_not_shown(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "key.pem").write_bytes(data)
    with pytest.raises(AppError) as failed:
        AppKey.read("1", str(tmp_path / "key.pem"))
    assert failed.value.reason == "AppKeyInvalid"
    assert failed.value.__cause__ is None


def test_a_key_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(AppError, match="No such file"):
        AppKey.read("1", str(tmp_path / "none"))
