"""What the page about a git server in the cluster lets readers type, tried with openssl and git;
its server is the one that all else is tried with."""

from __future__ import annotations

import base64
import http.server
import os
import re
import ssl
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from bernstein.cli.commands.doctor import refs
from bernstein.cli.local.git import GitFailed
from tests.demo import manifests
from tests.demo.certificate import Certificate
from tests.demo.manifests import GitServer
from tests.unit.docs.pages import ROOT, Block, blocks

PAGE = ROOT / "docs/how-to/try-with-a-git-server.md"
HOST = "git-server.git.svc"
PORT = "8443"
REF = "refs/bernstein/0123456789abcdef/work/s1"


def commands(words: str) -> str:
    """The commands of the block with these words, as they are typed."""
    (block,) = [b for b in blocks("console") if b.page == PAGE and words in b.text]
    return _typed(block)


def _typed(block: Block) -> str:
    return re.sub(r"^\$ ", "", block.text, flags=re.MULTILINE)


class _Repositories(http.server.SimpleHTTPRequestHandler):
    """Files of bare repositories, for who has the password of `read`."""

    password: str

    def do_GET(self) -> None:
        pair = f"read:{self.password}".encode()
        if self.headers.get("Authorization") != f"Basic {base64.b64encode(pair).decode()}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the reader is, with a HOME of his own, and the files that the page makes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    _run(commands("openssl req"), tmp_path)
    return tmp_path


def _run(script: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-euc", script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def port(home: Path) -> Iterator[str]:
    """The port at which a server of the page's certificate has the repository."""
    made = f"""
        git init -q --bare served/git/app.git
        tree=$(git -C served/git/app.git mktree </dev/null)
        export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com
        export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
        commit=$(git -C served/git/app.git commit-tree -m first "$tree")
        git -C served/git/app.git update-ref {REF} "$commit"
        git -C served/git/app.git update-server-info
    """
    _run(made, home)
    handler = type("Repositories", (_Repositories,), {"password": _password(home)})
    served = partial(handler, directory=str(home / "served"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), served)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(home / "tls.crt", home / "tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield str(server.server_address[1])
    server.shutdown()
    thread.join()
    server.server_close()


def _password(home: Path) -> str:
    return (home / "read.password").read_text()


def test_the_certificate_is_for_the_servers_name(home: Path) -> None:
    checks = ("-CAfile", "git-ca.crt", "-verify_hostname", HOST)

    _run(" ".join(("openssl verify", *checks, "tls.crt")), home)

    passwords = {_read(home, account) for account in ("read", "work", "deliver")}
    assert len(passwords) == 3
    assert all(re.fullmatch("[0-9a-f]{36}", password) for password in passwords)


def _read(home: Path, account: str) -> str:
    return (home / f"{account}.password").read_text()


async def test_with_the_settings_doctor_reads_the_refs_through_the_tunnel(
    home: Path, port: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"https://{HOST}:{port}/git/app.git"
    # The cache of passwords is a process of its own, which would outlive the test.
    settings = (
        commands("curloptResolve").replace(PORT, port).replace('helper" cache', 'helper" store')
    )

    with pytest.raises(GitFailed):
        await refs._refs(url)
    _run(settings, home)

    assert await refs._refs(url) == [REF]
    monkeypatch.setenv("GIT_SSL_CAINFO", "/dev/null")
    with pytest.raises(GitFailed):
        await refs._refs(url)


def test_the_page_has_the_objects_of_the_demo() -> None:
    server = GitServer("git", Certificate("ca", "certificate", "key"), {"read": "secret"})
    ours = [o for o in manifests.git_server(server) if o["kind"] != "Secret"]

    (block,) = (b for b in blocks("yaml") if b.page == PAGE and "kind: Deployment" in b.text)
    page = list(yaml.safe_load_all(block.text))

    (container,) = page[0]["spec"]["template"]["spec"]["containers"]
    assert container["image"].startswith("registry.example.com/bernstein-git-server:")
    container["image"] = "bernstein-git-server:dev"
    assert page == ours


def test_the_page_makes_a_commit_that_can_be_pushed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@example.com")

    _run(commands("git init"), home)

    assert _run("git -C app log --format=%s main", home) == "First version\n"


def test_the_page_makes_the_secrets_that_the_objects_name() -> None:
    text = PAGE.read_text()
    server = GitServer(
        "git", Certificate("ca", "certificate", "key"), dict.fromkeys(manifests.ACCOUNTS, "x")
    )

    for secret in (o for o in manifests.git_server(server) if o["kind"] == "Secret"):
        assert f"create secret generic {secret['metadata']['name']}" in text
        for key in secret["data"]:
            assert f"--from-file={key}" in text
