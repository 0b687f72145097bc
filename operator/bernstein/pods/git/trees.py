"""Reads trees and blobs of our own repositories, as bytes, without any checkout."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bernstein.api.pod import Changed
from bernstein.checks.changes import changed_from_paths
from bernstein.pods.errors import PodError
from bernstein.pods.git.client import Git

_FILE_MODES = {b"100644", b"100755"}
_SYMLINK_MODE = b"120000"
_NO_MODE = b"000000"
_NOT_THERE = b"BAD"
"""What `ls-tree` tells as the size of a blob that a partial clone left on the server."""
LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}
"""For commands that take paths: one that begins with a colon means a file of that name, and `*` an
asterisk."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One path of a tree; `size` is the blob's in bytes, and 0 for a folder or submodule."""

    mode: bytes
    object_id: str
    size: int

    @property
    def is_file(self) -> bool:
        return self.mode in _FILE_MODES

    @property
    def is_symlink(self) -> bool:
        return self.mode == _SYMLINK_MODE

    @property
    def is_folder(self) -> bool:
        return self.mode == b"040000"


def entries(repository: Git, commit: str) -> dict[bytes, TreeEntry]:
    """Every path of the commit's tree, folders too, without a leading or trailing slash."""
    return _entries(repository.run("ls-tree", "-r", "-t", "-l", "-z", "--full-tree", commit))


def entry(repository: Git, commit: str, path: str) -> TreeEntry | None:
    """What the commit's tree has at exactly this path, which no symlink leads to."""
    flags = ("ls-tree", "-l", "-z", "--full-tree", commit, "--", path)
    return _entries(repository.run(*flags, env=LITERAL)).get(os.fsencode(path))


def in_folders(repository: Git, commit: str, folders: Sequence[str]) -> dict[bytes, TreeEntry]:
    """What is directly in these folders of the commit's tree; "" is the root."""
    flags = ("ls-tree", "-l", "-z", "--full-tree", commit)
    below = [f"{folder}/" for folder in folders if folder]
    found = _entries(repository.run(*flags, "--", *below, env=LITERAL)) if below else {}
    return found | (_entries(repository.run(*flags)) if "" in folders else {})


def _entries(listing: bytes) -> dict[bytes, TreeEntry]:
    by_path = {}
    for line in filter(None, listing.split(b"\0")):
        head, path = line.split(b"\t", 1)
        mode, kind, object_id, size = head.split()
        if size == _NOT_THERE:
            raise PodError("InternalError", f"the repository lacks the blob {object_id.decode()}")
        length = int(size) if kind == b"blob" else 0
        by_path[path] = TreeEntry(mode, object_id.decode("ascii"), length)
    return by_path


def blob(repository: Git, object_id: str) -> bytes:
    """Content of a blob. Raises GitError when it is not there."""
    return repository.run("cat-file", "blob", object_id)


def blobs(repository: Git, object_ids: list[str]) -> dict[str, bytes]:
    """Contents of many blobs by id, in one call of git. Raises PodError when one is not there."""
    unique = list(dict.fromkeys(object_ids))
    request = "".join(f"{each}\n" for each in unique).encode("ascii")
    stream = repository.run("cat-file", "--batch", input=request) if unique else b""
    contents, at = {}, 0
    for each in unique:
        end = stream.index(b"\n", at)
        words = stream[at:end].split()
        if len(words) != 3 or words[1] != b"blob":
            raise PodError("InternalError", f"the repository lacks the blob {each}")
        start, length = end + 1, int(words[2])
        contents[each] = stream[start : start + length]
        at = start + length + 1
    return contents


def changed(repository: Git, base: str, head: str, protected: Sequence[str] | None) -> Changed:
    """What `head` changes against `base`, but for lines; a rename is a removal and an addition."""
    return changed_from_paths(paths_between(repository, base, head), protected)


def paths_between(repository: Git, base: str, head: str) -> list[bytes]:
    """The paths that differ between two commits or trees; of a rename both."""
    flags = ["-r", "-z", "--no-renames", "--name-only"]
    listing = repository.run("diff-tree", *flags, base, head, "--")
    return [path for path in listing.split(b"\0") if path]


@dataclass(frozen=True, slots=True)
class PathChange:
    """A path that differs. `before` and `after` are ids of blobs, and empty where there is none."""

    path: bytes
    before: str
    after: str
    modes: tuple[bytes, bytes]
    """Before and after; zeros where there is nothing."""

    @property
    def is_submodule(self) -> bool:
        """Before or after."""
        return b"160000" in self.modes

    @property
    def is_link(self) -> bool:
        """A symbolic link, whatever it was before."""
        return self.modes[1] == _SYMLINK_MODE

    @property
    def is_new(self) -> bool:
        """Whatever it is, nothing was there before."""
        return self.modes[0] == _NO_MODE

    @property
    def is_new_file(self) -> bool:
        """A file where nothing was."""
        before, after = self.modes
        return before == _NO_MODE and after in _FILE_MODES

    @property
    def is_edit(self) -> bool:
        """A file before and after, of the same mode."""
        before, after = self.modes
        return before == after and after in _FILE_MODES


def changed_paths(repository: Git, base: str, head: str) -> list[PathChange]:
    """Every path that `head` changes against `base`, deletions and submodules too."""
    found = []
    for modes, ids, path in _raw_changes(repository, base, head):
        before, after = (
            object_id if mode in {*_FILE_MODES, _SYMLINK_MODE} else ""
            for mode, object_id in zip(modes, ids, strict=True)
        )
        found.append(PathChange(path, before, after, modes))
    return found


def _raw_changes(
    repository: Git, base: str, head: str
) -> Iterator[tuple[tuple[bytes, bytes], tuple[str, str], bytes]]:
    """Both modes and both ids of each path that differs."""
    listing = repository.run("diff-tree", "-r", "-z", "--no-renames", "--raw", base, head, "--")
    fields = listing.split(b"\0")[:-1]
    for modes_and_ids, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old, new, _status = modes_and_ids.lstrip(b":").split()
        yield (old_mode, new_mode), (old.decode("ascii"), new.decode("ascii")), path


def both_contents(
    repository: Git, changes: Sequence[PathChange], most: int
) -> tuple[dict[str, bytes], dict[str, bytes]] | None:
    """What these paths held before and hold after, by path; None: over `most` bytes together."""
    ids = [each for change in changes for each in (change.before, change.after) if each]
    if sum(sizes(repository, ids).values()) > most:
        return None
    contents = blobs(repository, ids)
    before = {os.fsdecode(c.path): contents[c.before] for c in changes if c.before}
    return before, {os.fsdecode(c.path): contents[c.after] for c in changes if c.after}


@dataclass(frozen=True, slots=True)
class ContentChange:
    """A file or symlink with new content. `before` and `after` are object ids; `before` is empty
    for a new path."""

    path: bytes
    before: str
    after: str


def changed_contents(repository: Git, base: str, head: str) -> list[ContentChange]:
    """The files and symlinks that `head` adds or edits against `base`.

    Deletions, changes of a mode and submodules are left out: they hold no new content.
    """
    readable = {*_FILE_MODES, _SYMLINK_MODE}
    changes = []
    for (old_mode, new_mode), (old, new), path in _raw_changes(repository, base, head):
        if new_mode in readable and old != new:
            changes.append(ContentChange(path, old if old_mode in readable else "", new))
    return changes


def sizes(repository: Git, object_ids: list[str]) -> dict[str, int]:
    """Sizes of blobs in bytes, by id. Raises PodError when one is not there."""
    if not object_ids:
        return {}
    request = "".join(f"{each}\n" for each in dict.fromkeys(object_ids)).encode("ascii")
    listing = repository.run("cat-file", "--batch-check", input=request).decode("ascii", "replace")
    bytes_of = {}
    for line in listing.splitlines():
        words = line.split()
        if len(words) != 3 or words[1] != "blob":
            raise PodError("InternalError", f"the repository lacks a blob: {line[:100]}")
        bytes_of[words[0]] = int(words[2])
    return bytes_of
