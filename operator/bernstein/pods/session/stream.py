"""Reads files that the agent can write: its stream, its stderr, the launcher's exit record.

They are in a folder of the agent, which may at any time replace a file by a link or a FIFO, remove
it, shrink it or let it grow without end. So the folder is opened once, and no link is followed.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from bernstein.pods import nofollow

_BLOCK = 64 << 10

STREAM_BYTES = 64 << 20
LINE_BYTES = 1 << 20
_LINES = 20_000
"""Lines that one call reads, to the end of the block that the last one is in: between calls the
recorder has heartbeats and checkpoints to make."""
_REST_LINES = 500_000
"""Lines that are read after the agent's end, when there is nothing else to do."""
_FINAL_BYTES = 1 << 20
_EXIT_RECORD_BYTES = 4096


class AgentFile:
    """A file by its name in an agent's folder."""

    def __init__(self, path: str) -> None:
        """Open the folder. Raises OSError when it is not there."""
        where = Path(path)
        self._name = where.name
        self._folder = os.open(where.parent, nofollow.FOLDER)
        self._file: int | None = None

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        os.close(self._folder)

    def size(self) -> int:
        """Its size in bytes now; 0 when there is no such regular file (yet)."""
        file = self._open()
        return os.fstat(file).st_size if file is not None else 0

    def read(self, offset: int, length: int) -> bytes:
        """At most `length` bytes from `offset`; empty where there is nothing."""
        file = self._open()
        if file is None:
            return b""
        with contextlib.suppress(OSError):
            return os.pread(file, length, offset)
        return b""

    def _open(self) -> int | None:
        """The open file, or None. Once open it is kept: a file that takes its name later is not the
        one that the launcher writes."""
        if self._file is None:
            with contextlib.suppress(OSError):
                file = os.open(self._name, nofollow.FILE, dir_fd=self._folder)
                if stat.S_ISREG(os.fstat(file).st_mode):
                    self._file = file
                else:
                    os.close(file)
        return self._file


class Tail:
    """The complete lines of a growing file, each once.

    Of a file of more than `limit` bytes only the first `limit` bytes and the end are read.
    """

    def __init__(self, path: str, limit: int = STREAM_BYTES, line_limit: int = LINE_BYTES) -> None:
        self._source = AgentFile(path)
        self._left = limit
        self._line_limit = line_limit
        self._offset = 0
        self._partial = b""
        self._too_long = False
        self.seen = 0
        """The largest size in bytes that the file was seen to have; grows when the agent writes."""
        self.too_long = 0
        """Lines that were left out because they are over the line limit."""
        self.skipped = 0
        """Bytes before the last MiB that were not read even at the end."""

    def close(self) -> None:
        self._source.close()

    def lines(self, at_most: int = 8 << 20, lines: int = _LINES) -> Iterator[bytes]:
        """Lines that were completed since the last call, without their line end.

        Reads at most `at_most` bytes, and no further block once it has read `lines` lines. Lines
        over the line limit are left out.
        """
        budget = min(at_most, self._left)
        self._look()
        while budget > 0 and lines > 0:
            data = self._source.read(self._offset, min(_BLOCK, budget))
            if not data:
                break
            budget -= len(data)
            lines -= data.count(b"\n")
            self._left -= len(data)
            self._offset += len(data)
            yield from self._split(data)

    def rest(self) -> Iterator[bytes]:
        """All that is left once the writer has ended, with an incomplete last line.

        Where that is over the limits, the lines of the last MiB follow: there an agent's final
        record is.
        """
        yield from self.lines(self._left, _REST_LINES)
        start = self._source.size() - _FINAL_BYTES
        if self._offset < start:
            self.skipped = start - self._offset
            self._offset, self._partial = start, b""
            self._too_long = True  # begins in the middle of a line
        yield from self._split(self._source.read(self._offset, _FINAL_BYTES))
        if self._partial and not self._too_long:
            yield self._partial
        self._partial = b""

    def last(self) -> bytes:
        """The incomplete last line, once: what is written to it later is another line."""
        line, self._partial = self._partial, b""
        return line

    @property
    def behind(self) -> int:
        """Bytes that the file has and that are still to be read, within the limit."""
        return max(min(self._source.size() - self._offset, self._left), 0)

    @property
    def unread(self) -> bool:
        """Whether the file has more than is read of it while the agent works."""
        return self._left <= 0 and self.seen > self._offset

    def _look(self) -> None:
        size = self._source.size()
        self.seen = max(self.seen, size)
        if size < self._offset:  # truncated; appending goes on from the new end
            self._offset, self._partial, self._too_long = 0, b"", False

    def _split(self, data: bytes) -> Iterator[bytes]:
        *complete, partial = data.split(b"\n")
        for part in complete:
            line, self._partial = self._partial + part, b""
            if not self._too_long and len(line) <= self._line_limit:
                yield line
            elif not self._too_long:
                self.too_long += 1
            self._too_long = False
        self._partial += partial
        if len(self._partial) > self._line_limit:
            self.too_long += not self._too_long
            self._partial, self._too_long = b"", True


def tail_bytes(path: str, length: int) -> bytes:
    """The last `length` bytes of a file."""
    source = AgentFile(path)
    try:
        return source.read(max(source.size() - length, 0), length)
    finally:
        source.close()


def exit_code(path: str) -> int | None:
    """The exit code in the launcher's record, 128 + N for signal N; None without a record.

    The agent can forge it.
    """
    source = AgentFile(path)
    try:
        record = json.loads(source.read(0, _EXIT_RECORD_BYTES))
    except (ValueError, RecursionError):
        return None
    finally:
        source.close()
    if not isinstance(record, dict):
        return None
    code, by_signal = _small(record.get("exitCode")), _small(record.get("signal"))
    return code if by_signal is None else 128 + by_signal


def exists(path: str) -> bool:
    """Whether there is something of that name, whatever it is."""
    return os.path.lexists(path)


def _small(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= 255 else None
