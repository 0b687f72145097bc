"""What the minter writes is what the containers of each account get on with: a scripted app's
endpoint hands out tokens of a real Gitea."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bernstein.api.pod import Remote
from bernstein.api.programs.mint import MintConfig, Wanted
from bernstein.forges.client import Client
from bernstein.forges.gitea import GITEA
from bernstein.forges.operations import ensure
from bernstein.pods.git import client as git
from bernstein.pods.programs import mint
from tests.gitea import Gitea
from tests.programs.forges.repository import (
    BOT,
    BRANCHES,
    OWNER,
    SCOPES,
    WANTED,
    Repository,
)
from tests.programs.pods.git_server import certificate

TLS = True
ACCOUNTS = ("read", "work", "forge")
WORK = "refs/bernstein/01234567/task/s1"


@pytest.fixture
def ca_file(server: Gitea, tmp_path: Path) -> str:
    assert server.certificate is not None
    (tmp_path / "gitea.crt").write_text(server.certificate.ca)
    return str(tmp_path / "gitea.crt")


@pytest.fixture
def secrets(server: Gitea, repository: Repository, tmp_path: Path) -> Path:
    """A folder for each Secret, as the kubelet mounts it once the minter has run."""
    scopes = {"read": ("read:repository",), "work": ("write:repository",), "forge": SCOPES}
    tokens = {account: server.token(BOT, *scopes[account]) for account in ACCOUNTS}
    config = MintConfig(
        app="Iv23liABC",
        installation=4711,
        url=f"https://github.com/{OWNER}/{repository.name}.git",
        tokens=tuple(Wanted(account, account) for account in ACCOUNTS),
        key_file=str(tmp_path / "app.pem"),
        account_folder=str(tmp_path / "account"),
    )
    key = generate_private_key(65537, 2048)
    data = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    (tmp_path / "app.pem").write_bytes(data)
    certificate(tmp_path)
    (tmp_path / "account").mkdir()
    (tmp_path / "account/ca.crt").write_text((tmp_path / "ca.pem").read_text())
    (tmp_path / "account/namespace").write_text("team-a")
    (tmp_path / "account/token").write_text("of-the-pods-account")

    def app(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        may = asked["permissions"]
        level = {"read": "read", "write": "work"}[may["contents"]]
        account = "forge" if "pull_requests" in may else level
        told = {
            "token": tokens[account],
            "expires_at": "2030-07-11T22:14:10Z",
            "permissions": may,
            "repositories": [{"full_name": f"{OWNER}/{name}"} for name in asked["repositories"]],
        }
        return httpx.Response(201, stream=httpx.ByteStream(json.dumps(told).encode()))

    def cluster(request: httpx.Request) -> httpx.Response:
        folder = tmp_path / "secrets" / request.url.path.rpartition("/")[2]
        folder.mkdir(parents=True)
        for name, value in json.loads(request.content)["data"].items():
            (folder / name).write_bytes(base64.b64decode(value))
        return httpx.Response(200, stream=httpx.ByteStream(b"{}"))

    mint.run(config, httpx.MockTransport(app), httpx.MockTransport(cluster))
    return tmp_path / "secrets"


def as_(account: str, repository: Repository, secrets: Path, ca_file: str) -> git.Git:
    own = git.init_bare(secrets.parent / f"{account}.git").git_dir
    return git.Git(own, Remote(repository.url, str(secrets / account), ca_file))


def test_git_gets_on_with_the_name_and_the_token_that_were_written(
    repository: Repository, secrets: Path, ca_file: str
) -> None:
    read = as_("read", repository, secrets, ca_file)
    read.fetch([f"refs/heads/{BRANCHES.head}:refs/heads/work"])
    assert read.commit_id("refs/heads/work") == repository.sha
    with pytest.raises(git.GitError) as refused:
        read.push(WORK, repository.sha, None)
    assert refused.value.reason == "CredentialRefused"

    work = as_("work", repository, secrets, ca_file)
    work.fetch([f"refs/heads/{BRANCHES.head}:refs/heads/work"])
    work.push(WORK, repository.sha, None)
    assert read.read_ref(WORK) == repository.sha


def test_the_forge_s_client_gets_on_with_the_token_that_was_written(
    repository: Repository, secrets: Path, ca_file: str
) -> None:
    async def opened() -> str:
        token = str(secrets / "forge" / "token")
        async with Client(GITEA, repository.url, token, ca_file=ca_file) as client:
            pull = await client.run(ensure(GITEA, client.repository, BRANCHES, WANTED))
            return pull.sha

    assert asyncio.run(opened()) == repository.sha
