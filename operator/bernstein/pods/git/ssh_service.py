"""A conversation with `git-receive-pack` over SSH: what is said at once, and what is answered."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from bernstein.api.pod import Remote
from bernstein.pods.git import credential
from bernstein.pods.git.errors import from_output
from bernstein.pods.git.remotes import ssh_address, ssh_command

_MOST_ROWS = 1_000_000
"""Of the list of refs that comes first: one for each, whoever has made them."""
_MOST_SAID = 65536
"""Bytes of what the server says beside git's protocol."""


def received(remote: Remote, said: bytes, seconds: float) -> list[bytes]:
    """The lines that answer what is `said` to git's `receive-pack`, behind the list of refs.

    `said` is short. Raises GitError, also where the account may not push.
    """
    where = ssh_address(remote.url)
    asked = f"git-receive-pack '{where.path}'"
    host = ["-p", str(where.port), "--", where.host, asked]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*ssh_command(remote), *host],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd="/",
            env=_environment(),
        )
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            lines = _spoken(process, said)
            process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        if lines is None:
            errors.seek(0)
            words = errors.read(_MOST_SAID) or b"Could not read from remote repository"
            folder = remote.credential_dir or ""
            odd = credential.oddities(folder)
            raise from_output(words, True, where.host, Path(folder).name, oddities=odd)
    return lines


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", "LC_ALL": "C"}


def _spoken(process: subprocess.Popen[bytes], said: bytes) -> list[bytes] | None:
    """None: it ended before the end of its list of refs."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(said)
        process.stdin.close()
    except BrokenPipeError:
        return None
    if not _skip_refs(process.stdout):
        return None
    return list(_lines(process.stdout))


def _skip_refs(answer: IO[bytes]) -> bool:
    for _ in range(_MOST_ROWS):
        length = _length(answer)
        if length is None:
            return False
        if length == 0:
            return True
        answer.read(max(length - 4, 0))
    return False


def _lines(answer: IO[bytes]) -> Iterator[bytes]:
    """Until the end of the answer, or of what can be read of it."""
    for _ in range(100):
        length = _length(answer)
        if length is None:
            return
        if length > 4:
            yield answer.read(length - 4)


def _length(answer: IO[bytes]) -> int | None:
    """That of the next line, with these four digits; None: there is none."""
    try:
        return int(answer.read(4), 16)
    except ValueError:
        return None
