"""A real git server for tests: git's own http-backend behind HTTPS and basic authentication."""

from __future__ import annotations

import base64
import contextlib
import gzip
import os
import ssl
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO

from bernstein.api.pod import Remote

USERS = {"read": "read-secret", "work": "work-secret", "deliver": "deliver-secret"}

PRE_RECEIVE = """#!/bin/sh
while read -r old new ref; do
  case "$REMOTE_USER:$ref" in
    work:refs/bernstein/*) ;;
    work:*) echo "work may push to refs/bernstein only" >&2; exit 1 ;;
    deliver:refs/heads/protected) echo "protected branch" >&2; exit 1 ;;
    deliver:*) ;;
    *) exit 1 ;;
  esac
done
"""


def certificate(folder: Path) -> Path:
    """A self-signed certificate with its key, in one file, for this machine's loopback names."""
    file = folder / "server.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"),
            *("-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "ca.pem")),
        ],
        check=True,
        capture_output=True,
    )
    file.write_text((folder / "key.pem").read_text() + (folder / "ca.pem").read_text())
    return file


@dataclass
class Request:
    method: str
    path: str
    user: str | None
    authorization: str | None
    headers: dict[str, str]


@dataclass
class GitServer:
    """`https://localhost:PORT/NAME.git` for every repository made with `create`."""

    folder: Path
    requests: list[Request] = field(default_factory=list)
    redirect_to: str | None = None
    """Answer every request with a redirect to this address."""
    redirected: str = ""
    """Only requests whose method and address have this in them; the others are answered."""
    dumb: bool = False
    """Serve the files of repositories alone, as a server without git does."""
    answers: dict[str, bytes] = field(default_factory=dict)
    """What is said to whoever is let in, by the address's path: LFS, or a forge's API."""
    sent: int = 0
    """Bytes of answers of git's."""
    hold: threading.Event = field(default_factory=threading.Event)
    """Cleared: requests are taken and not answered."""

    def __post_init__(self) -> None:
        self.hold.set()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate(self.folder))
        handler = type("Handler", (_Handler,), {"served": self})
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,))
        self.thread.start()
        for user, password in USERS.items():
            secret = self.folder / "secrets" / user
            secret.mkdir(parents=True)
            (secret / "username").write_text(user)
            (secret / "password").write_text(password + "\n")

    @property
    def port(self) -> int:
        return int(self.http.server_address[1])

    @property
    def ca_file(self) -> str:
        return str(self.folder / "ca.pem")

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def repository(self, name: str) -> Path:
        return self.folder / "repositories" / f"{name}.git"

    def create(self, name: str) -> Path:
        """Make a repository on the server; returns its folder."""
        path = self.repository(name)
        subprocess.run(
            ["git", "init", "-q", "--bare", "-b", "main", str(path)], check=True, env=plain_env()
        )
        hook = path / "hooks" / "pre-receive"
        hook.write_text(PRE_RECEIVE)
        hook.chmod(0o755)
        (path / "git-daemon-export-ok").touch()
        return path

    def remote(self, name: str, user: str | None = "read") -> Remote:
        """How a program reaches a repository as one of the users (None: anonymous)."""
        folder = str(self.folder / "secrets" / user) if user else None
        return Remote(f"https://localhost:{self.port}/{name}.git", folder, self.ca_file)


def plain_env() -> dict[str, str]:
    """Environment for a test's own git: no configuration of this machine, fixed people."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.com",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.com",
        "GIT_AUTHOR_DATE": "1700000000 +0000",
        "GIT_COMMITTER_DATE": "1700000000 +0000",
    }


def _feed(pipe: IO[bytes], body: bytes) -> None:
    """git may end before it has read all."""
    with contextlib.suppress(BrokenPipeError), pipe:
        pipe.write(body)


class _Handler(BaseHTTPRequestHandler):
    """Answers as the smart HTTP server of git does; for the server that `served` names."""

    served: GitServer
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # with the next line: no 40 ms of waiting for acknowledgements
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def _answer(self) -> None:
        body = self._body()
        user = self._user()
        path, _, query = self.path.partition("?")
        header = self.headers.get("Authorization")
        told = Request(self.command, self.path, user, header, dict(self.headers.items()))
        self.served.requests.append(told)
        self.served.hold.wait(60)
        asked = f"{self.command} {self.path}"
        if self.served.redirect_to and self.served.redirected in asked:
            return self._reply(302, {"Location": self.served.redirect_to + self.path}, b"")
        if user is None:
            challenge = {"WWW-Authenticate": 'Basic realm="git"'}
            return self._reply(401, challenge, b"who are you?\n")
        if user == "read" and "git-receive-pack" in self.path:
            return self._reply(403, {}, b"read only\n")
        if path in self.served.answers:
            return self._reply(200, {}, self.served.answers[path])
        if self.served.dumb:
            file = self.served.folder / "repositories" / path.lstrip("/")
            return self._reply(200, {}, file.read_bytes()) if file.is_file() else self._lacks()
        return self._backend(path, query, user, body)

    def _lacks(self) -> None:
        self._reply(404, {}, b"no such file\n")

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

    def _user(self) -> str | None:
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        if kind != "Basic":
            return None
        user, _, password = base64.b64decode(value).decode().partition(":")
        return user if USERS.get(user) == password else None

    def _backend(self, path: str, query: str, user: str, body: bytes) -> None:
        env = plain_env() | {
            "GIT_PROJECT_ROOT": str(self.served.folder / "repositories"),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": user,
            "REMOTE_ADDR": self.client_address[0],
        }
        with subprocess.Popen(
            ["git", "http-backend"],
            env=env,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as backend:
            assert backend.stdin is not None
            assert backend.stdout is not None
            writing = threading.Thread(target=_feed, args=(backend.stdin, body))
            writing.start()
            headers = {}
            while line := backend.stdout.readline().strip().decode():
                name, _, value = line.partition(": ")
                headers[name] = value
            self._stream(int(headers.pop("Status", "200").split()[0]), headers, backend.stdout)
            writing.join()

    def _stream(self, status: int, headers: dict[str, str], content: IO[bytes]) -> None:
        """The answer as it comes: a pack may be a large one."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while block := content.read(1 << 18):
            self.served.sent += len(block)
            self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block))
        self.wfile.write(b"0\r\n\r\n")

    def _reply(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
