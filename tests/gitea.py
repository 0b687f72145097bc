"""A real Gitea as a process of this machine: a forge with users, repositories and pull requests."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.background import wait_for
from tests.cluster.binaries.programs import GITEA
from tests.demo.certificate import Certificate, issue

START_SECONDS = 60.0
ADMIN = "admin1"
_SETTINGS = """
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = {folder}
[database]
DB_TYPE = sqlite3
PATH = {folder}/gitea.db
[repository]
ROOT = {folder}/repositories
DEFAULT_BRANCH = main
[server]
PROTOCOL = {protocol}
HTTP_ADDR = {host}
HTTP_PORT = {port}
ROOT_URL = {protocol}://{host}:{port}/
CERT_FILE = {folder}/tls.crt
KEY_FILE = {folder}/tls.key
STATIC_ROOT_PATH = {static}
OFFLINE_MODE = true
DISABLE_SSH = {no_ssh}
START_SSH_SERVER = true
BUILTIN_SSH_SERVER_USER = git
SSH_DOMAIN = {host}
SSH_LISTEN_HOST = {host}
SSH_LISTEN_PORT = {ssh_port}
SSH_PORT = {ssh_port}
SSH_SERVER_HOST_KEYS = {folder}/ssh-host-key
LFS_START_SERVER = true
LFS_JWT_SECRET = {lfs_secret}
[lfs]
PATH = {folder}/lfs
[security]
INSTALL_LOCK = true
SECRET_KEY = {secret}
PASSWORD_HASH_ALGO = pbkdf2_v1
[service]
DISABLE_REGISTRATION = true
[session]
PROVIDER = memory
[indexer]
ISSUE_INDEXER_TYPE = db
[actions]
ENABLED = true
[api]
MAX_RESPONSE_ITEMS = {page}
[cron]
ENABLED = false
[log]
LEVEL = warn
MODE = console
"""


@dataclass
class Gitea:
    """A server that runs."""

    folder: Path
    port: int
    host: str = "127.0.0.1"
    certificate: Certificate | None = None
    ssh_port: int | None = None
    password: str = field(default_factory=lambda: secrets.token_hex(12))
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"{self.protocol}://{self.host}:{self.port}"

    @property
    def protocol(self) -> str:
        return "http" if self.certificate is None else "https"

    def start(self) -> None:
        """Returns when it answers."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._program("web"), stdout=log, stderr=log, env=self._environment()
            )
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/api/healthz", verify=self.trusts()).is_success:
                    return
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text()[-2000:])
            time.sleep(0.05)

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.wait(30)

    def command(self, *arguments: str) -> str:
        """What Gitea's own command line says."""
        done = subprocess.run(
            self._program(*arguments),
            capture_output=True,
            text=True,
            check=False,
            env=self._environment(),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def trusts(self) -> ssl.SSLContext | bool:
        """What proves its certificate."""
        if self.certificate is None:
            return True
        return ssl.create_default_context(cadata=self.certificate.ca)

    def _program(self, *arguments: str) -> list[str]:
        return [str(GITEA.ensure()), "--config", str(self.folder / "app.ini"), *arguments]

    def _environment(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "PATH": os.environ["PATH"], "USER": "gitea"}

    def api(self, method: str, path: str, *, user: str = ADMIN, **body: Any) -> Any:
        """What it says to one of its users; raises for an error."""
        done = self.ask(method, f"{self.url}/api/v1{path}", user, **body)
        assert done.is_success, f"{method} {path}: {done.status_code} {done.text}"
        return done.json() if done.content else None

    def ask(self, method: str, url: str, user: str, **body: Any) -> httpx.Response:
        """As one of its users, with the password that all have."""
        return httpx.request(
            method,
            url,
            auth=(user, self.password),
            json=body or None,
            timeout=30,
            verify=self.trusts(),
        )

    def merge(self, owner: str, repository: str, number: int) -> None:
        """As the repository's owner does. Gitea says for a while after each push that it does not
        know yet whether it can."""
        url = f"{self.url}/api/v1/repos/{owner}/{repository}/pulls/{number}/merge"
        wait_for(lambda: self.ask("POST", url, owner, Do="merge").is_success, 60)

    def https_url(self, owner: str, name: str) -> str:
        return f"{self.url}/{owner}/{name}.git"

    def ssh_url(self, owner: str, name: str, port: int | None = None) -> str:
        """`port`: by which it is reached; None: its own."""
        return f"ssh://git@{self.host}:{port or self.ssh_port}/{owner}/{name}.git"

    @property
    def known_hosts(self) -> str:
        """The line of its host key."""
        return self.known_at(self.ssh_port)

    def known_at(self, port: int | None) -> str:
        """The same, where it is reached by this port."""
        public = (self.folder / "ssh-host-key.pub").read_text()
        return f"[{self.host}]:{port} {public}"

    def add_user(self, name: str) -> str:
        mail = f"{name}@example.invalid"
        password: dict[str, Any] = {"password": self.password, "must_change_password": False}
        self.api("POST", "/admin/users", username=name, email=mail, **password)
        return name

    def token(self, user: str, *scopes: str) -> str:
        """A new one with these scopes, such as `write:repository`."""
        name = secrets.token_hex(6)
        told = self.api("POST", f"/users/{user}/tokens", user=user, name=name, scopes=[*scopes])
        return str(told["sha1"])

    def repository(self, owner: str, name: str) -> str:
        """Makes one with a first commit on `main`; returns its address."""
        path = f"/admin/users/{owner}/repos"
        self.api("POST", path, name=name, auto_init=True, default_branch="main")
        return self.https_url(owner, name)

    def commit(
        self, owner: str, name: str, file: str, text: str, *, branch: str, new: str | None = None
    ) -> str:
        """Adds a file on the branch, or on a `new` one made of it; returns the commit."""
        content = {"content": base64.b64encode(text.encode()).decode(), "branch": branch}
        if new is not None:
            content["new_branch"] = new
        path = f"/repos/{owner}/{name}/contents/{file}"
        return str(
            self.api("POST", path, user=owner, message="By hand", **content)["commit"]["sha"]
        )


@contextlib.contextmanager
def gitea(
    host: str = "127.0.0.1", *, tls: bool = False, ssh: bool = False, page: int = 50
) -> Iterator[Gitea]:
    """A server of its own on this address of the machine, gone at the end. `page`: objects that it
    gives at most, however many it is asked for."""
    program = GITEA.ensure()
    with tempfile.TemporaryDirectory(prefix="gitea-") as name:
        folder = Path(name)
        certificate = issue([host]) if tls else None
        ssh_port = _free_port(host) if ssh else None
        if ssh:
            ssh_key(folder / "ssh-host-key")
        server = Gitea(folder, _free_port(host), host, certificate, ssh_port)
        settings = _SETTINGS.format(
            folder=folder,
            protocol=server.protocol,
            host=host,
            port=server.port,
            static=program.parent,
            no_ssh=str(not ssh).lower(),
            ssh_port=ssh_port or 22,
            secret=secrets.token_hex(32),
            lfs_secret=secrets.token_urlsafe(32),
            page=page,
        )
        (folder / "app.ini").write_text(settings)
        if certificate is not None:
            (folder / "tls.crt").write_text(certificate.certificate)
            (folder / "tls.key").write_text(certificate.key)
        server.command("migrate")
        account = ("--username", ADMIN, "--password", server.password, "--email", "a@b.invalid")
        server.command(
            "admin", "user", "create", "--admin", *account, "--must-change-password=false"
        )
        server.start()
        try:
            yield server
        finally:
            server.stop()


def ssh_key(file: Path) -> str:
    """Writes a new private key to the file, its public half beside it; returns that half."""
    quiet = ("-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(file))
    subprocess.run(["ssh-keygen", *quiet], check=True, capture_output=True)
    return file.with_name(f"{file.name}.pub").read_text().strip()


def _free_port(host: str) -> int:
    with socket.socket() as found:
        found.bind((host, 0))
        return int(found.getsockname()[1])
