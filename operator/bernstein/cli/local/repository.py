"""What a folder holds, as far as a model is told of it: names of files, and the beginning of a few.

In a clone these are the files that git knows; elsewhere those that are found, without what is
hidden or made by tools. No link is followed.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from bernstein.cli.errors import CliError
from bernstein.cli.local import git
from bernstein.cli.local.git import GitFailed
from bernstein.core.drafts import context
from bernstein.core.drafts.context import Seen
from bernstein.core.sanitise import line
from bernstein.observe.redact import without_secrets

_LISTING_BYTES = 8 << 20
_MOST_FILES = 5000
"""Of a folder that is no clone."""
_MOST_LEVELS = 8
_MADE_BY_TOOLS = frozenset(
    {"node_modules", "venv", "__pycache__", "target", "dist", "build", "vendor"}
)
_REGULAR = ("100644", "100755")
_SECONDS = 30.0


async def look(folder: Path) -> Seen:
    """What is there. Raises CliError where git cannot say what belongs to the repository: then
    nobody knows what may be told."""
    paths, all_of_it = await _tracked(folder) if _is_clone(folder) else _found(folder)
    texts = {path: text for path in context.read_first(paths) if (text := _read(folder / path))}
    return Seen(paths, texts, all_of_it)


def _is_clone(folder: Path) -> bool:
    here = folder.absolute()
    return any(os.path.lexists(each / ".git") for each in (here, *here.parents))


async def _tracked(folder: Path) -> tuple[tuple[str, ...], bool]:
    listing = ("-c", "core.fsmonitor=false", "ls-files", "-z", "--stage")
    try:
        out = await git.run(
            *("-C", str(folder), *listing), seconds=_SECONDS, at_most=_LISTING_BYTES, offline=True
        )
    except GitFailed as error:
        text = f"git does not list the files of '{folder}': {line(str(error), 300)}"
        remedy = "mend that, or name another folder with --workdir"
        raise CliError("GitFailed", text, remedy) from error
    *entries, _ = out.decode(errors="replace").split("\0")  # behind the last one nothing, or a part
    return tuple(dict.fromkeys(_regular(entries))), len(out) <= _LISTING_BYTES


def _regular(entries: list[str]) -> Iterator[str]:
    for entry in entries:
        about, _, path = entry.partition("\t")
        if about.startswith(_REGULAR):
            yield path


def _found(folder: Path) -> tuple[tuple[str, ...], bool]:
    paths: list[str] = []
    waiting = deque([(folder, "", 1)])
    while waiting:
        at, prefix, level = waiting.popleft()
        for entry in _entries(at):
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if len(paths) == _MOST_FILES:
                return tuple(paths), False
            if entry.is_file(follow_symlinks=False):
                paths.append(f"{prefix}{entry.name}")
            elif level < _MOST_LEVELS and _is_entered(entry):
                waiting.append((at / entry.name, f"{prefix}{entry.name}/", level + 1))
    return tuple(paths), True


def _is_entered(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and entry.name not in _MADE_BY_TOOLS


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _read(path: Path) -> str:
    """The beginning of a regular file without its secrets; "" where there is nothing to read."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return ""
        data = file.read(context.LONGEST_FILE)
    return "" if b"\0" in data else without_secrets(data.decode(errors="replace"))
