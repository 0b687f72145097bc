"""How files that an agent can replace are opened: no link is followed, nothing is waited for."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Without O_NONBLOCK, opening a FIFO would wait for whoever writes to it."""


def read_below(root: Path, path: str, most: int) -> bytes | None:
    """The first `most` bytes of the regular file at `path` below `root`.

    None where there is none, or where a part of the path is a symlink or `..`.
    """
    *folders, name = path.split("/")
    if ".." in (*folders, name):
        return None
    try:
        descriptor = os.open(root, FOLDER)
        for folder in filter(None, folders):
            descriptor = _step(descriptor, folder, FOLDER)
        descriptor = _step(descriptor, name, FILE)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # what is a folder, no file object opens
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


@contextmanager
def regular(name: bytes, folder: int) -> Iterator[tuple[int, os.stat_result]]:
    """Open the file of that name in the open folder; raises OSError when it is no regular file."""
    file = os.open(name, FILE, dir_fd=folder)
    try:
        st = os.fstat(file)
        if not stat.S_ISREG(st.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        yield file, st
    finally:
        os.close(file)


def read_all(file: int, limit: int) -> bytes:
    """The first `limit` bytes of an open file, a block at a time."""
    blocks = []
    while limit > 0 and (block := os.read(file, min(limit, 1 << 20))):
        blocks.append(block)
        limit -= len(block)
    return b"".join(blocks)


def _step(folder: int, name: str, flags: int) -> int:
    """Opens what is in the folder, and closes the folder."""
    try:
        return os.open(name, flags, dir_fd=folder)
    finally:
        os.close(folder)
