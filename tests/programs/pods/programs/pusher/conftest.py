"""A session on a repository of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bernstein.pods.programs import pusher
from tests.programs.pods.agent_pod import Volumes
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import GitServer
from tests.programs.pods.programs.pusher.session import Session, checked_out


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pusher, "_POLL_SECONDS", 0.02)


@pytest.fixture(scope="session")
def example(
    git_server: GitServer, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Origin, Volumes]:
    """A repository and a checkout of it, shallow as in a pod; copied for every test."""
    origin = Origin(git_server, "example", git_server.create("example"))
    old = origin.commit({"a.py": "a\n", "sub/b.py": "b\n"})
    origin.commit({"a.py": "aa\n"}, old, ref="refs/heads/main")
    return origin, checked_out(origin, tmp_path_factory.mktemp("example"))


@pytest.fixture
def session(
    tmp_path: Path, git_server: GitServer, example: tuple[Origin, Volumes]
) -> Iterator[Session]:
    shared, volumes = example
    name = f"session-{tmp_path.name}"
    shutil.copytree(shared.path, git_server.repository(name))
    origin = Origin(git_server, name, git_server.repository(name))
    session = Session(tmp_path / "pod", origin, volumes)
    yield session
    session.ended.set()
    if session.thread is not None:
        session.thread.join(90)
