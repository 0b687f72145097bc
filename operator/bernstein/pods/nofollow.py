"""How files that an agent can replace are opened: no link is followed, nothing is waited for."""

from __future__ import annotations

import os
import stat
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
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        return file.read(most)


def _step(folder: int, name: str, flags: int) -> int:
    """Opens what is in the folder, and closes the folder."""
    try:
        return os.open(name, flags, dir_fd=folder)
    finally:
        os.close(folder)
