"""Reads a tree that somebody else is writing, without ever following a link out of it.

Every folder is opened relative to its parent with O_NOFOLLOW, so that swapping a folder for a
symlink gives at worst a missing folder; files and symlinks are taken, all else (FIFOs, sockets,
devices) is left out. git is not involved: run on such a tree it executes nested repositories'
settings and follows links.

What belongs to the snapshot is what `git add --all` means: files of the base that still exist and
new files that no `.gitignore` names. A nested repository's files are plain files here; its `.git`
is not read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from bernstein.api.pod import SnapshotLimits
from bernstein.pods import names
from bernstein.pods.errors import PodError
from bernstein.pods.gitignore import Rules

REGULAR, EXECUTABLE, SYMLINK, GITLINK = 0o100644, 0o100755, 0o120000, 0o160000

_PATH_BYTES = 3900
"""Longer paths cannot be checked out on Linux (PATH_MAX 4096)."""
_IGNORE_FILE_BYTES = 1 << 20
_SETTLED_NS = 2_000_000_000
"""A file changed so shortly before it was read may change again without a new time stamp."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class SnapshotTooLargeError(PodError):
    """The tree is over one of the limits."""

    def __init__(self, path: bytes, what: str, limit: int) -> None:
        shown = path.decode("utf-8", "backslashreplace")
        super().__init__(
            "SnapshotTooLarge",
            f"{shown}: {what} over the limit of {limit}; let .gitignore leave it out",
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a tree: git's mode and the object's id in hexadecimal."""

    mode: int
    object_id: str


class BlobStore(Protocol):
    """Where contents go."""

    def __contains__(self, object_id: str) -> bool: ...

    def add(self, object_id: str, data: bytes) -> None: ...


@dataclass(slots=True)
class Snapshot:
    entries: dict[bytes, Entry]
    skipped: int
    """Paths left out though no rule ignores them: not regular, unreadable, refused by git."""


_StatKey = tuple[int, int, int, int, int]


@dataclass(slots=True)
class _Pass:
    """What one walk has gathered so far."""

    store: BlobStore
    started: int = field(default_factory=time.time_ns)
    entries: dict[bytes, Entry] = field(default_factory=dict)
    cache: dict[bytes, tuple[_StatKey, Entry]] = field(default_factory=dict)
    skipped: int = 0
    latest_change: int = 0
    added_bytes: int = 0
    added_files: int = 0
    too_large: SnapshotTooLargeError | None = None
    """The first limit that was met; from then on only changes are looked for."""
    seen_since: int = 0
    """Names looked at after that."""


_Scope = tuple[tuple[int, Rules], ...]
"""Rules that apply in a folder, outermost first, each with its own folder's depth."""


class Walker:
    """Takes snapshots of one tree, reading only what changed since the one before."""

    def __init__(
        self,
        worktree: str,
        base: Mapping[bytes, Entry],
        limits: SnapshotLimits,
    ) -> None:
        """Open the tree; `base` is what the commit it started from holds.

        The root is opened once: whatever is put in its place later is not what we look at.
        """
        self._root = os.open(worktree, _FOLDER)
        self._base = base
        self._limits = limits
        self._base_folders = {folder for path in base for folder in _parents(path)}
        self._cache: dict[bytes, tuple[_StatKey, Entry]] = {}
        self._refused: set[str] = set()
        self._refuses_checked_names = False
        self.latest_change = 0
        """Newest ctime in nanoseconds of all that was ever seen, folders and ignored entries too;
        also what a snapshot saw that failed."""

    def close(self) -> None:
        os.close(self._root)

    def refuse(self, object_ids: set[str]) -> None:
        """Leave out files with these contents from now on (the base's stay)."""
        self._refused |= object_ids

    def refuse_checked_names(self) -> None:
        """Leave out all files whose contents git checks from now on (the base's stay)."""
        self._refuses_checked_names = True

    def forget(self) -> None:
        """Read everything again next time (the store has lost it)."""
        self._cache.clear()

    def snapshot(self, store: BlobStore) -> Snapshot:
        """Walk the tree and hand contents that `store` does not have to it.

        Raises SnapshotTooLargeError.
        """
        current = _Pass(store)
        root = os.open(".", _FOLDER, dir_fd=self._root)  # a position of its own for every listing
        try:
            self._folder(current, root, b"", (), ignored=False)
        finally:
            os.close(root)
            self.latest_change = max(self.latest_change, current.latest_change)
        if current.too_large is not None:
            raise current.too_large
        self._cache = current.cache
        return Snapshot(current.entries, current.skipped)

    def _folder(
        self, current: _Pass, fd: int, prefix: bytes, scope: _Scope, *, ignored: bool
    ) -> None:
        """Take what is in the open folder `fd`; if `ignored`, only paths of the base."""
        try:
            listing = sorted(os.fsencode(name) for name in os.listdir(fd))
        except OSError:
            self._skip(current, prefix.removesuffix(b"/"))
            self._keep_base_below(current, prefix)
            return
        depth = prefix.count(b"/")
        if b".gitignore" in listing and not ignored:
            rules = _read_rules(fd)
            scope = (*scope, (depth, rules)) if rules else scope
        for name in listing:
            if current.seen_since >= self._limits.files:
                return
            try:
                st = os.stat(name, dir_fd=fd, follow_symlinks=False)
            except OSError:
                continue  # gone since
            current.latest_change = max(current.latest_change, st.st_ctime_ns)
            current.seen_since += current.too_large is not None
            try:
                self._entry(current, fd, prefix + name, name, st, scope, ignored=ignored)
            except SnapshotTooLargeError as error:
                current.too_large = current.too_large or error

    def _entry(
        self,
        current: _Pass,
        fd: int,
        path: bytes,
        name: bytes,
        st: os.stat_result,
        scope: _Scope,
        *,
        ignored: bool,
    ) -> None:
        if names.is_git_directory(name):
            return
        folder = stat.S_ISDIR(st.st_mode)
        if folder or path not in self._base:
            ignored = ignored or _is_ignored(scope, path, folder)
            if ignored and path not in self._base_folders and path not in self._base:
                return
        if names.is_refused(name, stat.S_ISLNK(st.st_mode)):
            self._skip(current, path)
            self._keep_base_below(current, path + b"/")
        elif folder:
            self._enter(current, fd, path, name, scope, ignored=ignored)
        elif current.too_large is not None:
            pass  # its change is all that counts
        elif stat.S_ISREG(st.st_mode):
            self._file(current, fd, path, name, st)
        elif stat.S_ISLNK(st.st_mode):
            self._symlink(current, fd, path, name)
        else:
            current.skipped += 1

    def _enter(
        self, current: _Pass, fd: int, path: bytes, name: bytes, scope: _Scope, *, ignored: bool
    ) -> None:
        if path.count(b"/") >= self._limits.depth:
            raise SnapshotTooLargeError(path, "folders in folders are", self._limits.depth)
        try:
            child = os.open(name, _FOLDER, dir_fd=fd)
        except OSError as error:
            if error.errno == errno.EACCES:
                self._skip(current, path)
                self._keep_base_below(current, path + b"/")
            return  # gone, or something else by now
        try:
            if self._is_submodule(path, child):
                current.entries[path] = self._base[path]
            else:
                self._folder(current, child, path + b"/", scope, ignored=ignored)
        finally:
            os.close(child)

    def _is_submodule(self, path: bytes, fd: int) -> bool:
        """Whether the base has a submodule here that is as it was: empty, or a repository."""
        entry = self._base.get(path)
        if entry is None or entry.mode != GITLINK:
            return False
        listing = os.listdir(fd)
        return not listing or any(names.is_git_directory(os.fsencode(name)) for name in listing)

    def _file(self, current: _Pass, fd: int, path: bytes, name: bytes, st: os.stat_result) -> None:
        cached = self._cache.get(path)
        if cached and cached[0] == _key(st):
            self._take(current, path, cached[1], st.st_size)
            current.cache[path] = cached
            return
        try:
            with _open_regular(name, fd) as (file, opened):
                entry, final = self._read(current, file, path, opened)
        except OSError as error:
            if error.errno != errno.ENOENT:
                self._skip(current, path)
            return
        self._take(current, path, entry, opened.st_size)
        if _key(opened) == _key(final) and final.st_ctime_ns < current.started - _SETTLED_NS:
            current.cache[path] = (_key(final), entry)

    def _read(
        self, current: _Pass, file: int, path: bytes, st: os.stat_result
    ) -> tuple[Entry, os.stat_result]:
        """Read one file and store it; a file over the limit is taken only if the base has it."""
        mode = EXECUTABLE if st.st_mode & stat.S_IXUSR else REGULAR
        if st.st_size > self._limits.file_bytes:
            object_id = self._id_of_large(file, path, st)
            return Entry(mode, object_id), os.fstat(file)
        data = _read_all(file, self._limits.file_bytes + 1)
        if len(data) > self._limits.file_bytes:
            raise SnapshotTooLargeError(path, "its bytes are", self._limits.file_bytes)
        return Entry(mode, self._store(current, path, data)), os.fstat(file)

    def _id_of_large(self, file: int, path: bytes, st: os.stat_result) -> str:
        base = self._base.get(path)
        if base is None:
            raise SnapshotTooLargeError(path, "its bytes are", self._limits.file_bytes)
        digest = _blob_digest(st.st_size)
        while block := os.read(file, 1 << 20):
            digest.update(block)
        if digest.hexdigest() != base.object_id:
            raise SnapshotTooLargeError(path, "its bytes are", self._limits.file_bytes)
        return base.object_id

    def _symlink(self, current: _Pass, fd: int, path: bytes, name: bytes) -> None:
        try:
            target = os.readlink(name, dir_fd=fd)
        except OSError:
            return  # gone, or something else by now
        object_id = self._store(current, path, target)
        self._take(current, path, Entry(SYMLINK, object_id), len(target))

    def _store(self, current: _Pass, path: bytes, data: bytes) -> str:
        digest = _blob_digest(len(data))
        digest.update(data)
        object_id = digest.hexdigest()
        if object_id not in current.store and object_id not in self._refused:
            self._check_total(current.added_bytes + len(data), path)
            current.store.add(object_id, data)
        return object_id

    def _take(self, current: _Pass, path: bytes, entry: Entry, size: int) -> None:
        """Make the entry part of the snapshot; only what the base lacks counts against limits."""
        base = self._base.get(path)
        if base is not None and base.object_id == entry.object_id:
            same = _comparable(base.mode) == entry.mode
            current.entries[path] = base if same else entry
            return
        if entry.object_id in self._refused or self._refuses(path):
            self._skip(current, path)
            return
        current.added_files += 1
        current.added_bytes += size
        if current.added_files > self._limits.files:
            raise SnapshotTooLargeError(path, "new and changed files are", self._limits.files)
        self._check_total(current.added_bytes, path)
        if len(path) > _PATH_BYTES:
            raise SnapshotTooLargeError(path, "the path's bytes are", _PATH_BYTES)
        current.entries[path] = entry

    def _refuses(self, path: bytes) -> bool:
        return self._refuses_checked_names and names.is_checked(path.rpartition(b"/")[2])

    def _check_total(self, total: int, path: bytes) -> None:
        if total > self._limits.total_bytes:
            raise SnapshotTooLargeError(path, "new and changed bytes are", self._limits.total_bytes)

    def _skip(self, current: _Pass, path: bytes) -> None:
        """Leave a path out; what the base has there stays as it is."""
        current.skipped += 1
        if path in self._base:
            current.entries[path] = self._base[path]

    def _keep_base_below(self, current: _Pass, prefix: bytes) -> None:
        if prefix.removesuffix(b"/") in self._base_folders:
            kept = {path: e for path, e in self._base.items() if path.startswith(prefix)}
            current.entries.update(kept)


def _blob_digest(size: int) -> hashlib._Hash:
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)


def _parents(path: bytes) -> Iterator[bytes]:
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        yield path


def _key(st: os.stat_result) -> _StatKey:
    return (st.st_size, st.st_mtime_ns, st.st_ino, st.st_ctime_ns, st.st_mode)


def _comparable(mode: int) -> int:
    """Old repositories hold modes such as 100664."""
    if stat.S_ISREG(mode):
        return EXECUTABLE if mode & stat.S_IXUSR else REGULAR
    return mode


@contextmanager
def _open_regular(name: bytes, folder: int) -> Iterator[tuple[int, os.stat_result]]:
    """Raises OSError when it is no regular file (any more)."""
    file = os.open(name, _FILE, dir_fd=folder)
    try:
        st = os.fstat(file)
        if not stat.S_ISREG(st.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        yield file, st
    finally:
        os.close(file)


def _read_all(file: int, limit: int) -> bytes:
    blocks = []
    while limit > 0 and (block := os.read(file, min(limit, 1 << 20))):
        blocks.append(block)
        limit -= len(block)
    return b"".join(blocks)


def _read_rules(folder: int) -> Rules | None:
    try:
        with _open_regular(b".gitignore", folder) as (file, _):
            return Rules(_read_all(file, _IGNORE_FILE_BYTES))
    except OSError:
        return None  # git does not follow a .gitignore that is a symlink either


def _is_ignored(scope: _Scope, path: bytes, folder: bool) -> bool:
    if not scope:
        return False
    components = path.split(b"/")
    for depth, rules in reversed(scope):
        verdict = rules.verdict(components[depth:], folder)
        if verdict is not None:
            return verdict
    return False
