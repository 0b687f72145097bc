"""Reads a tree that somebody else is writing, without ever following a link out of it.

Every folder is opened relative to its parent with O_NOFOLLOW, so that a folder that is swapped for
a symlink is at worst missing. Files and symlinks are taken, all else (FIFOs, sockets, devices) is
left out. git is not used: on such a tree it would execute settings of nested repositories and
follow links.

The tree holds what `git add --all` would take: files of the base that still exist, and new files
that no `.gitignore` names. Files of a nested repository are plain files here; its `.git` is not
read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

from bernstein.api.pod import TreeLimits
from bernstein.pods import nofollow
from bernstein.pods.worktree import forbidden_names
from bernstein.pods.worktree.folders import Unseen
from bernstein.pods.worktree.gitignore import RuleBudget, Rules, RulesTooLargeError
from bernstein.pods.worktree.ignored import Ignored, RulePlace
from bernstein.pods.worktree.limits import (
    IgnoreRulesTooLargeError,
    TreeTooLargeError,
    WalkLimits,
)

REGULAR, EXECUTABLE, SYMLINK, GITLINK = 0o100644, 0o100755, 0o120000, 0o160000

_PATH_BYTES = 3900
"""Longer paths cannot be checked out on Linux (PATH_MAX 4096)."""
_IGNORE_FILE_BYTES = 1 << 20
_SETTLED_NS = 2_000_000_000
"""A file that changed less than this before it was read may change again without a new time
stamp, so it is read again next time."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a tree: git's mode and the object's id in hexadecimal."""

    mode: int
    object_id: str


class BlobStore(Protocol):
    """Where the walker puts contents of files."""

    def __contains__(self, object_id: str) -> bool: ...

    def add(self, object_id: str, data: bytes) -> None: ...


@dataclass(slots=True)
class Tree:
    """What one walk found, by path."""

    entries: dict[bytes, Entry]
    skipped: int
    """Paths left out although no rule ignores them: not regular, unreadable, refused by git."""
    ignored: Ignored = field(default_factory=Ignored)


_StatKey = tuple[int, int, int, int, int]


@dataclass(slots=True)
class _Walk:
    """What one walk has gathered so far."""

    store: BlobStore
    budget: RuleBudget
    started: int = field(default_factory=time.time_ns)
    entries: dict[bytes, Entry] = field(default_factory=dict)
    cache: dict[bytes, tuple[_StatKey, Entry]] = field(default_factory=dict)
    skipped: int = 0
    ignored: Ignored = field(default_factory=Ignored)
    latest_change: int = 0
    added_bytes: int = 0
    added_files: int = 0
    too_large: TreeTooLargeError | None = None
    """The first limit that was met; from then on only times of changes are read."""
    names: int = 0
    """Names that were looked at."""
    seen_since: int = 0
    """Names that were looked at after that."""


_Scope = tuple[tuple[int, Rules], ...]
"""The `.gitignore` rules that apply in a folder, outermost first, each with the depth of the folder
that holds its file."""


class Walker:
    """Reads one tree again and again, and each time only the files that changed since."""

    def __init__(
        self,
        worktree: str,
        base: Mapping[bytes, Entry],
        limits: TreeLimits,
        walks: WalkLimits | None = None,
        unkept: Collection[bytes] = (),
        unseen: Mapping[bytes, Entry] | None = None,
    ) -> None:
        """Open the tree; `base` holds the entries of the commit that it started from, and what is
        at the paths `unkept` stays as it is there, as does `unseen`, which was not checked out.

        The root is opened once, so that whatever is put in its place later is never read.
        """
        self._root = os.open(worktree, nofollow.FOLDER)
        self._base = base
        self._limits = limits
        self._walks = walks or WalkLimits()
        self._unkept, self._kept = frozenset(unkept), unseen or {}
        self._unseen = Unseen(self._kept)
        self._base_folders = {folder for path in base for folder in _parents(path)}
        self._cache: dict[bytes, tuple[_StatKey, Entry]] = {}
        self._refused: set[str] = set()
        self._refuses_checked_names = False
        self.latest_change = 0
        """Newest ctime in nanoseconds of all that any walk saw: also of folders and of ignored
        entries, and also in walks that failed."""

    def close(self) -> None:
        os.close(self._root)

    def refuse(self, object_ids: set[str]) -> None:
        """From now on leave out files with these contents, except where the base has them."""
        self._refused |= object_ids

    def refuse_checked_names(self) -> None:
        """From now on leave out files whose contents git checks, except as the base has them."""
        self._refuses_checked_names = True

    def forget(self) -> None:
        """Read every file again next time, because the store no longer has the contents."""
        self._cache.clear()

    def read(self, path: bytes, most: int) -> bytes | None:
        """The first `most` bytes of a file that is new since the base; None: there is none.

        Raises OSError where it is no regular file, or may not be entered; a link is no folder.
        """
        if path in self._base:
            return None
        *folders, name = path.split(b"/")
        with ExitStack() as opened:
            folder = self._root
            for part in folders:
                try:
                    folder = os.open(part, nofollow.FOLDER, dir_fd=folder)
                except PermissionError:
                    raise  # there may be one
                except OSError:
                    return None
                opened.callback(os.close, folder)
            try:
                file, _ = opened.enter_context(nofollow.regular(name, folder))
            except FileNotFoundError:
                return None
            return nofollow.read_all(file, most)

    def walk(self, store: BlobStore) -> Tree:
        """Read the tree; contents that `store` does not have are added to it.

        Raises TreeTooLargeError.
        """
        budget = RuleBudget(self._walks.rules, self._walks.rule_seconds)
        current = _Walk(store, budget, entries={**self._kept})
        root = os.open(".", nofollow.FOLDER, dir_fd=self._root)  # a listing starts at the top
        try:
            self._folder(current, root, b"", (), ignored=None)
        finally:
            os.close(root)
            self.latest_change = max(self.latest_change, current.latest_change)
        if current.too_large is not None:
            raise current.too_large
        self._cache = current.cache
        return Tree(current.entries, current.skipped, current.ignored)

    def _folder(
        self, current: _Walk, fd: int, prefix: bytes, scope: _Scope, *, ignored: RulePlace | None
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
            try:
                rules = _read_rules(fd, current.budget)
                scope = (*scope, (depth, rules)) if rules else scope
            except RulesTooLargeError as error:
                too_large = IgnoreRulesTooLargeError(prefix + b".gitignore", str(error))
                current.too_large = current.too_large or too_large
        for name in listing:
            if current.seen_since >= self._limits.files:
                return
            try:
                st = os.stat(name, dir_fd=fd, follow_symlinks=False)
            except OSError:
                continue  # gone since
            current.latest_change = max(current.latest_change, st.st_ctime_ns)
            current.seen_since += current.too_large is not None
            current.names += 1
            try:
                self._entry(current, fd, prefix + name, name, st, scope, ignored=ignored)
            except TreeTooLargeError as error:
                current.too_large = current.too_large or error

    def _entry(
        self,
        current: _Walk,
        fd: int,
        path: bytes,
        name: bytes,
        st: os.stat_result,
        scope: _Scope,
        *,
        ignored: RulePlace | None,
    ) -> None:
        if current.names > self._walks.names:
            raise TreeTooLargeError(path, "names are", self._walks.names)
        if self._is_left_out(current, path, name):
            return
        folder = stat.S_ISDIR(st.st_mode)
        self._unseen.expect_nothing(path, folder=folder)
        if folder or path not in self._base:
            ignored = ignored or _ignored_by(current, scope, path, folder)
            if ignored and path not in self._base_folders and path not in self._base:
                current.ignored.add(path, ignored, folder=folder)
                return
        if forbidden_names.is_refused(name, stat.S_ISLNK(st.st_mode)):
            self._skip(current, path)
            self._keep_base_below(current, path + b"/")
        elif folder:
            self._enter(current, fd, path, name, scope, ignored=ignored)
        elif current.too_large is not None:
            pass  # the walk fails anyway, and the time of the file's change is noted
        elif stat.S_ISREG(st.st_mode):
            self._file(current, fd, path, name, st)
        elif stat.S_ISLNK(st.st_mode):
            self._symlink(current, fd, path, name)
        else:
            current.skipped += 1

    def _is_left_out(self, current: _Walk, path: bytes, name: bytes) -> bool:
        if path in self._unkept:
            self._keep_base(current, path)
            return True
        return forbidden_names.is_git_directory(name)

    def _enter(
        self,
        current: _Walk,
        fd: int,
        path: bytes,
        name: bytes,
        scope: _Scope,
        *,
        ignored: RulePlace | None,
    ) -> None:
        if path.count(b"/") >= self._limits.depth:
            raise TreeTooLargeError(path, "folders in folders are", self._limits.depth)
        try:
            child = os.open(name, nofollow.FOLDER, dir_fd=fd)
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
        """Whether the base has a submodule at this path, and the open folder `fd` still looks like
        one: it is empty, or holds a `.git`."""
        entry = self._base.get(path)
        if entry is None or entry.mode != GITLINK:
            return False
        listing = os.listdir(fd)
        return not listing or any(
            forbidden_names.is_git_directory(os.fsencode(name)) for name in listing
        )

    def _file(self, current: _Walk, fd: int, path: bytes, name: bytes, st: os.stat_result) -> None:
        cached = self._cache.get(path)
        if cached and cached[0] == _key(st):
            self._take(current, path, cached[1], st.st_size)
            current.cache[path] = cached
            return
        try:
            with nofollow.regular(name, fd) as (file, opened):
                entry, final = self._read(current, file, path, opened)
        except OSError as error:
            if error.errno != errno.ENOENT:
                self._skip(current, path)
            return
        self._take(current, path, entry, opened.st_size)
        if _key(opened) == _key(final) and final.st_ctime_ns < current.started - _SETTLED_NS:
            current.cache[path] = (_key(final), entry)

    def _read(
        self, current: _Walk, file: int, path: bytes, st: os.stat_result
    ) -> tuple[Entry, os.stat_result]:
        """Read one file and store it; returns its entry, and its stat after it was read.

        A file over the limit is taken only if it is the base's, unchanged.
        """
        mode = EXECUTABLE if st.st_mode & stat.S_IXUSR else REGULAR
        if st.st_size > self._limits.file_bytes:
            object_id = self._id_of_large(file, path, st)
            return Entry(mode, object_id), os.fstat(file)
        data = nofollow.read_all(file, self._limits.file_bytes + 1)
        if len(data) > self._limits.file_bytes:
            raise TreeTooLargeError(path, "its bytes are", self._limits.file_bytes)
        return Entry(mode, self._store(current, path, data)), os.fstat(file)

    def _id_of_large(self, file: int, path: bytes, st: os.stat_result) -> str:
        base = self._base.get(path)
        if base is None:
            raise TreeTooLargeError(path, "its bytes are", self._limits.file_bytes)
        digest = _blob_digest(st.st_size)
        while block := os.read(file, 1 << 20):
            digest.update(block)
        if digest.hexdigest() != base.object_id:
            raise TreeTooLargeError(path, "its bytes are", self._limits.file_bytes)
        return base.object_id

    def _symlink(self, current: _Walk, fd: int, path: bytes, name: bytes) -> None:
        try:
            target = os.readlink(name, dir_fd=fd)
        except OSError:
            return  # gone, or something else by now
        object_id = self._store(current, path, target)
        self._take(current, path, Entry(SYMLINK, object_id), len(target))

    def _store(self, current: _Walk, path: bytes, data: bytes) -> str:
        digest = _blob_digest(len(data))
        digest.update(data)
        object_id = digest.hexdigest()
        if object_id not in current.store and object_id not in self._refused:
            self._check_total(current.added_bytes + len(data), path)
            current.store.add(object_id, data)
        return object_id

    def _take(self, current: _Walk, path: bytes, entry: Entry, size: int) -> None:
        """Make the entry part of the tree. Limits count only what differs from the base."""
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
            raise TreeTooLargeError(path, "new and changed files are", self._limits.files)
        self._check_total(current.added_bytes, path)
        if len(path) > _PATH_BYTES:
            raise TreeTooLargeError(path, "the path's bytes are", _PATH_BYTES)
        current.entries[path] = entry

    def _refuses(self, path: bytes) -> bool:
        return self._refuses_checked_names and forbidden_names.is_checked(path.rpartition(b"/")[2])

    def _check_total(self, total: int, path: bytes) -> None:
        if total > self._limits.total_bytes:
            raise TreeTooLargeError(path, "new and changed bytes are", self._limits.total_bytes)

    def _skip(self, current: _Walk, path: bytes) -> None:
        """Leave a path out; if the base has a file there, the tree keeps that."""
        current.skipped += 1
        self._keep_base(current, path)

    def _keep_base(self, current: _Walk, path: bytes) -> None:
        if path in self._base:
            current.entries[path] = self._base[path]

    def _keep_base_below(self, current: _Walk, prefix: bytes) -> None:
        """Keep the base's files below a folder that cannot be read."""
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
    """What changes whenever the file's content or mode does."""
    return (st.st_size, st.st_mtime_ns, st.st_ino, st.st_ctime_ns, st.st_mode)


def _comparable(mode: int) -> int:
    """The mode as the walker gives it: old repositories hold others, such as 100664."""
    if stat.S_ISREG(mode):
        return EXECUTABLE if mode & stat.S_IXUSR else REGULAR
    return mode


def _read_rules(folder: int, budget: RuleBudget) -> Rules | None:
    try:
        with nofollow.regular(b".gitignore", folder) as (file, _):
            return Rules(nofollow.read_all(file, _IGNORE_FILE_BYTES), budget)
    except OSError:
        return None  # git does not follow a .gitignore that is a symlink either


def _ignored_by(current: _Walk, scope: _Scope, path: bytes, folder: bool) -> RulePlace | None:
    if not scope:
        return None
    components = path.split(b"/")
    try:
        with current.budget.spend():
            for depth, rules in reversed(scope):
                decides = rules.deciding(components[depth:], folder)
                if decides is not None:
                    file = b"/".join((*components[:depth], b".gitignore"))
                    return None if decides.negative else RulePlace(file, decides.line)
    except RulesTooLargeError as error:
        raise IgnoreRulesTooLargeError(path, str(error)) from error
    return None
