"""A real Gitea as a process of this machine: a forge with users, repositories and pull requests."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.cluster.binaries.programs import GITEA

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
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://127.0.0.1:{port}/
STATIC_ROOT_PATH = {static}
OFFLINE_MODE = true
DISABLE_SSH = true
LFS_START_SERVER = false
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
    password: str = field(default_factory=lambda: secrets.token_hex(12))
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns when it answers."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._program("web"), stdout=log, stderr=log, env=self._environment()
            )
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/api/healthz").is_success:
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

    def _program(self, *arguments: str) -> list[str]:
        return [str(GITEA.ensure()), "--config", str(self.folder / "app.ini"), *arguments]

    def _environment(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "PATH": os.environ["PATH"], "USER": "gitea"}

    def api(self, method: str, path: str, *, user: str = ADMIN, **body: Any) -> Any:
        """As one of its users, with the password that all have; raises for an error."""
        url = f"{self.url}/api/v1{path}"
        done = httpx.request(method, url, auth=(user, self.password), json=body or None, timeout=30)
        assert done.is_success, f"{method} {path}: {done.status_code} {done.text}"
        return done.json() if done.content else None

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
        return f"{self.url}/{owner}/{name}.git"

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
def gitea() -> Iterator[Gitea]:
    """A server of its own, gone at the end."""
    program = GITEA.ensure()
    with tempfile.TemporaryDirectory(prefix="gitea-") as name:
        folder = Path(name)
        server = Gitea(folder, _free_port())
        settings = _SETTINGS.format(
            folder=folder, port=server.port, static=program.parent, secret=secrets.token_hex(32)
        )
        (folder / "app.ini").write_text(settings)
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


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
