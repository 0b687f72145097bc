"""A program that is run with bounds: of its time, and of what is kept of its words.

Whoever it talks to may have it say gigabytes: they are read, so that it ends, and not kept.
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import IO, BinaryIO

MOST_SAID = 65536
"""Bytes that are kept of stderr: half of its beginning, half of its end."""
_BLOCK = 65536


class TooMuchError(Exception):
    """It has printed more than was allowed."""


class _Words:
    """Beginning and end of what is said."""

    def __init__(self) -> None:
        self._first, self._last, self._cut = bytearray(), bytearray(), False

    def add(self, block: bytes) -> None:
        room = MOST_SAID // 2 - len(self._first)
        self._first += block[:room]
        self._last += block[room:]
        if len(self._last) > MOST_SAID // 2:
            del self._last[: -MOST_SAID // 2]
            self._cut = True

    def kept(self) -> bytes:
        return bytes(self._first) + (b"\n" if self._cut else b"") + bytes(self._last)


def run(
    argv: Sequence[str],
    env: dict[str, str],
    said: bytes,
    stdout: BinaryIO | None,
    *,
    seconds: float,
    most: int | None = None,
) -> tuple[int, bytes, bytes]:
    """Exit code, stdout (empty where it goes to the file `stdout`), and what is kept of stderr.

    `most`: bytes that it may print. Raises TooMuchError, TimeoutError: then it has been killed.
    """
    with _process(argv, env, stdout) as process:
        until = time.monotonic() + seconds
        printed, words = _heard(process, said, until, most)
        try:
            process.wait(max(until - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
    return process.returncode, printed, words


def _heard(
    process: subprocess.Popen[bytes], said: bytes, until: float, most: int | None
) -> tuple[bytes, bytes]:
    printed, words, left = bytearray(), _Words(), memoryview(said)
    assert process.stdin is not None
    with selectors.DefaultSelector() as waiting:
        for pipe in filter(None, (process.stdout, process.stderr)):
            waiting.register(pipe, selectors.EVENT_READ)
        waiting.register(process.stdin, selectors.EVENT_WRITE)
        while waiting.get_map():
            seconds = until - time.monotonic()
            if seconds <= 0:
                raise TimeoutError
            for key, _ in waiting.select(seconds):
                if key.fileobj is process.stdin:
                    left = _told(key.fd, left)
                    if not left:
                        _leave(waiting, process.stdin)
                elif not (block := os.read(key.fd, _BLOCK)):
                    waiting.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    words.add(block)
                else:
                    printed += block
                    if most is not None and len(printed) > most:
                        raise TooMuchError
    return bytes(printed), words.kept()


def _told(pipe: int, left: memoryview) -> memoryview:
    """What is left to be written. Who reads no more is told no more."""
    try:
        return left[os.write(pipe, left[: select.PIPE_BUF]) :] if left else left
    except BrokenPipeError:
        return left[:0]


def _leave(waiting: selectors.BaseSelector, pipe: IO[bytes]) -> None:
    waiting.unregister(pipe)
    with contextlib.suppress(OSError):
        pipe.close()


@contextlib.contextmanager
def _process(
    argv: Sequence[str], env: dict[str, str], stdout: BinaryIO | None
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own; where the block raises, the whole group is killed."""
    process = subprocess.Popen(
        argv,
        env=env,
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=stdout if stdout is not None else subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        bufsize=0,
    )
    try:
        yield process
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    finally:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
