"""Swaps folders and files for links to where other containers of the pod keep their secrets.

    python3 swapper.py SECONDS

Goes on for SECONDS. Meanwhile a careless reader of its own reads a folder that is swapped in the
same way for a link out of the tree. Prints {"rounds": reads, "leaks": from outside} as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from multiprocessing import Process
from pathlib import Path

TREE = Path("/workspace")
OUTSIDE = Path("/home/agent/outside")
TREASURE = "treasure\n"
TARGETS = ("/var/run/bernstein", "/secrets/work", "/tmp/repo.git", "/session", "/proc/self")
FILES = ("/var/run/bernstein/token", "/secrets/work/password", "/proc/self/environ")
HELD = ("token", "password", "username", "environ")
EXCHANGE = 2
AT_FDCWD = -100


def main() -> int:
    seconds = float(sys.argv[1])
    OUTSIDE.mkdir()
    for name in HELD:
        (OUTSIDE / name).write_text(TREASURE)
    pairs = [_folder(f"folder-{n}", target) for n, target in enumerate(TARGETS)]
    pairs += [_file(f"file-{n}", target) for n, target in enumerate(FILES)]
    own = _folder("watched", str(OUTSIDE))
    until = time.time() + seconds
    swapping = Process(target=_swap, args=([*pairs, own], until))
    swapping.start()
    rounds = leaks = 0
    while time.time() < until:
        rounds += 1
        leaks += _careless(own[0]) + _careless(own[1])
        time.sleep(0.001)
    swapping.join()
    print(json.dumps({"rounds": rounds, "leaks": leaks}))
    return 0


def _folder(name: str, target: str) -> tuple[Path, Path]:
    folder, link = TREE / name, TREE / f"{name}-other"
    folder.mkdir()
    for held in HELD:
        (folder / held).write_text("nothing\n")
    link.symlink_to(target)
    return folder, link


def _file(name: str, target: str) -> tuple[Path, Path]:
    file, link = TREE / name, TREE / f"{name}-other"
    file.write_text("nothing\n")
    link.symlink_to(target)
    return file, link


def _swap(pairs: list[tuple[Path, Path]], until: float) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    names = [(os.fsencode(left), os.fsencode(right)) for left, right in pairs]
    while time.time() < until:
        for left, right in names:
            if libc.renameat2(AT_FDCWD, left, AT_FDCWD, right, EXCHANGE):
                raise OSError(ctypes.get_errno(), "renameat2")


def _careless(folder: Path) -> int:
    """Takes the folder for what it was when it was looked at, as git does."""
    if folder.is_symlink() or not folder.is_dir():
        return 0
    leaks = 0
    for name in HELD:
        try:
            leaks += (folder / name).read_text() == TREASURE
        except OSError:
            continue
    return leaks


if __name__ == "__main__":
    sys.exit(main())
