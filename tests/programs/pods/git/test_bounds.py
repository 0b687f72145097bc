"""A git server that says too much, or too slowly: each ends in time, and fills no memory."""

from __future__ import annotations

import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bernstein.api.pod import Remote
from bernstein.checks.time_limit import TimeLimitError, time_limit
from bernstein.core.sanitise import without_quotes
from bernstein.pods import bounded
from bernstein.pods.git import client as git
from bernstein.pods.git import permission
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import certificate

WORK = "refs/bernstein/01234567/task/s1"
MB = 1 << 20


@pytest.fixture
def repository(tmp_path: Path, origin: Origin) -> git.Git:
    git.init_bare(tmp_path / "own.git")
    return git.Git(tmp_path / "own.git", origin.remote("work"))


def failing(action: Callable[[], object]) -> tuple[git.GitError, int]:
    """How it failed, and the bytes that our program held meanwhile."""
    tracemalloc.start()
    try:
        with pytest.raises(git.GitError) as raised:
            action()
        return raised.value, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_of_megabytes_that_a_hook_says_the_beginning_and_the_end_are_kept(
    repository: git.Git, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    repository.fetch(["refs/heads/main:refs/heads/main"])
    hook = origin.path / "hooks" / "pre-receive"
    hook.write_text(
        "#!/bin/sh\necho first words >&2\nhead -c 30000000 /dev/zero | tr '\\0' x >&2\nexit 1\n"
    )

    with monkeypatch.context() as unbounded:
        unbounded.setattr(bounded, "MOST_SAID", 1 << 30)
        _, held = failing(lambda: repository.push(WORK, first, None))
        assert held > 20 * MB, "all of it is held where nothing bounds it"
    error, held = failing(lambda: repository.push(WORK, first, None))

    assert error.reason == "BranchProtected", "git says so at the very end"
    assert "first words" in error.message
    assert len(error.message) < 1000
    assert held < 4 * MB


def test_a_list_of_refs_without_end_is_not_read(
    repository: git.Git, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    with (origin.path / "packed-refs").open("w") as file:
        file.writelines(f"{first} refs/bernstein/{i:09}/{WORK}\n" for i in range(30_000))
    assert repository.read_refs(WORK, "main") == [None, first]
    monkeypatch.setattr(git, "MOST_LISTED", MB)

    error, held = failing(lambda: repository.read_ref(WORK))

    assert error.reason == "RepositoryUnreachable"
    assert "more than is read of it" in without_quotes(error.message)
    assert held < 4 * MB


@pytest.fixture
def drips(tmp_path: Path) -> Iterator[Remote]:
    """A server that answers a byte every tenth of a second."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    listening, ends = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def serve() -> None:
        with context.wrap_socket(listening.accept()[0], server_side=True) as asking:
            asking.recv(65536)
            for byte in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 10_000:
                if ends.wait(0.1):
                    return
                asking.sendall(bytes([byte]))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield Remote(
        f"https://localhost:{listening.getsockname()[1]}/x.git", None, str(tmp_path / "ca.pem")
    )
    ends.set()
    thread.join(5)
    listening.close()


def test_who_answers_a_byte_now_and_then_is_given_up(
    drips: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permission, "LOOKUP_SECONDS", 1.0)
    began = time.monotonic()

    error, _ = failing(lambda: permission.may_push_somewhere(drips))

    assert time.monotonic() - began < 30
    assert error.reason == "RepositoryUnreachable"
    assert "has not answered in time" in without_quotes(error.message)


def test_whose_time_is_over_while_git_runs_is_told_so_and_not_of_gits_time(
    repository: git.Git,
) -> None:
    begun = time.monotonic()
    with pytest.raises(TimeLimitError, match=r"0\.3 s"), time_limit(0.3):
        repository.run("-c", "alias.slow=!sleep 60", "slow")
    assert time.monotonic() - begun < 30, "git has been killed"
