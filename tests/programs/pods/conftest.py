"""A git server and small repositories for the tests of the programs in pods."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import Remote
from bernstein.pods.worktree import walker
from tests.programs.pods.agent_pod import Taker, Volumes
from tests.programs.pods.git_server import GitServer, plain_env


@dataclass
class Origin:
    """A repository on the test's server, with a shortcut to make commits straight in it."""

    server: GitServer
    name: str
    path: Path
    _counter: Iterator[int] = field(default_factory=lambda: iter(range(1_000_000)))

    def git(self, *args: str, input: bytes | None = None, env: dict[str, str] | None = None) -> str:  # noqa: A002
        """stdout of plain git in the repository on the server."""
        done = subprocess.run(
            ["git", *args],
            input=input if input is not None else b"",
            env=plain_env() | {"GIT_DIR": str(self.path)} | (env or {}),
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def tree(self, files: dict[str, bytes | str | None], base: str | None = None) -> str:
        """Tree `base` with `files` written over it.

        Content is bytes (regular file), `->TARGET` (symlink), `!SHA` (gitlink), `+x TEXT`
        (executable), any other text (regular file), or None (removed).
        """
        index = {"GIT_INDEX_FILE": str(self.path / f"index-{next(self._counter)}")}
        if base:
            self.git("read-tree", base, env=index)
        for path, content in files.items():
            if content is None:
                self.git("rm", "--cached", "-q", "-r", "--", path, env=index | self._nowhere())
            else:
                mode, sha = self._entry(content)
                entry = f"{mode} {sha} 0\t{path}\0".encode("utf-8", "surrogateescape")
                self.git("update-index", "--replace", "-z", "--index-info", input=entry, env=index)
        return self.git("write-tree", "--missing-ok", env=index)

    def commit(
        self,
        files: dict[str, bytes | str | None],
        *parents: str,
        ref: str | None = None,
        message: str = "change",
    ) -> str:
        """A commit whose tree is the first parent's with `files` over it; moves `ref` to it."""
        tree = self.tree(files, parents[0] if parents else None)
        args = [arg for parent in parents for arg in ("-p", parent)]
        sha = self.git("commit-tree", tree, *args, "-m", message)
        if ref:
            self.git("update-ref", ref, sha)
        return sha

    def tip(self, ref: str) -> str:
        return self.git("rev-parse", "--verify", ref)

    def remote(self, user: str | None = "read") -> Remote:
        return self.server.remote(self.name, user)

    def _entry(self, content: bytes | str) -> tuple[str, str]:
        if isinstance(content, str) and content.startswith("!"):
            return "160000", content[1:]
        mode = "100644"
        if isinstance(content, str) and content.startswith("->"):
            mode, content = "120000", content[2:]
        elif isinstance(content, str) and content.startswith("+x "):
            mode, content = "100755", content[3:]
        data = content.encode() if isinstance(content, str) else content
        return mode, self.git("hash-object", "-w", "--stdin", input=data)

    def _nowhere(self) -> dict[str, str]:
        return {"GIT_WORK_TREE": str(self.path / "objects")}


@pytest.fixture(scope="session")
def git_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    """One HTTPS git server for the whole run; repositories are made per test."""
    server = GitServer(tmp_path_factory.mktemp("git-server"))
    yield server
    server.close()


@pytest.fixture
def new_origin(git_server: GitServer) -> Callable[[], Origin]:
    """Makes fresh, empty repositories on the server."""

    def make() -> Origin:
        name = f"repository-{len(list((git_server.folder / 'repositories').glob('*')))}"
        return Origin(git_server, name, git_server.create(name))

    (git_server.folder / "repositories").mkdir(exist_ok=True)
    return make


@pytest.fixture
def origin(new_origin: Callable[[], Origin]) -> Origin:
    """A fresh, empty repository on the server."""
    return new_origin()


# --- an agent's tree ----------------------------------------------------------------------------

BASE: dict[str, bytes | str] = {
    "a.py": "a = 1\n",
    "docs/one.md": "one\n",
    "docs/two.md": "two\n",
    "link": "->a.py",
}


@pytest.fixture
def volumes(tmp_path: Path) -> Volumes:
    return Volumes(tmp_path / "pod")


@pytest.fixture
def started(volumes: Volumes) -> Volumes:
    """With the usual base."""
    volumes.start_from(BASE)
    return volumes


@pytest.fixture
def take(started: Volumes) -> Callable[[], dict[str, bytes]]:
    """Takes a snapshot and returns its files."""
    taker = Taker(started)
    return lambda: taker.files(taker.take())


@pytest.fixture
def files_read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Paths that walkers read, in order."""
    read: list[bytes] = []
    really_read = walker.Walker._read

    def spy(self: Any, current: Any, file: int, path: bytes, st: os.stat_result) -> Any:
        read.append(path)
        return really_read(self, current, file, path, st)

    monkeypatch.setattr(walker.Walker, "_read", spy)
    return read
