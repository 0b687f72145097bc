"""Which paths of a tree are checked out, where a Project names the folders to work in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from bernstein.api.reasons import Reason
from bernstein.core.sanitise import line
from bernstein.pods.worktree.limits import TreeTooLargeError

_NAME = 200
"""Characters of a path in a message."""

_Entry = TypeVar("_Entry")


class Folders:
    """The folders with all below them, and the files beside each of them and above: those at the
    root, in `a` and in `a/b` of `a/b`. Without any folder it is the whole tree."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._named = {os.fsencode(folder) for folder in folders}
        self._above = {b"", *(above for folder in self._named for above in _above(folder))}

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return bool(self._named)

    def holds(self, path: bytes) -> bool:
        """Whether the file at this path is checked out."""
        if not self._named:
            return True
        return path.rpartition(b"/")[0] in self._above or any(
            above in self._named for above in _above(path)
        )

    def left_out(self, entries: Mapping[bytes, _Entry]) -> dict[bytes, _Entry]:
        """Those of the entries that are not checked out."""
        return {path: entry for path, entry in entries.items() if not self.holds(path)}

    def patterns(self) -> str:
        """The same as git's file `info/sparse-checkout` says it, in its form of folders alone."""
        lines = ["/*", "!/*/"]
        for folder in sorted(self._above - {b""}):
            if not self.holds(folder + b"/all/below"):
                lines += [f"/{os.fsdecode(folder)}/", f"!/{os.fsdecode(folder)}/*/"]
        lines += [f"/{os.fsdecode(folder)}/" for folder in sorted(self._named)]
        return "".join(f"{each}\n" for each in lines)


class OutsideCheckoutError(TreeTooLargeError):
    """Something was put where the repository has files that were not checked out."""

    def __init__(self, path: bytes) -> None:
        shown = line(path.decode("utf-8", "backslashreplace"), _NAME)
        text = (
            f"{shown}: the repository has something here that was not checked out, so nobody can "
            "tell what becomes of it"
        )
        super(TreeTooLargeError, self).__init__(Reason.OUTSIDE_CHECKOUT, text)


class Unseen:
    """What the base has outside of the folders that were checked out: a tree keeps it."""

    def __init__(self, paths: Iterable[bytes]) -> None:
        self._paths = frozenset(paths)
        self._folders = {folder for path in self._paths for folder in _above(path)}

    def expect_nothing(self, path: bytes, *, folder: bool) -> None:
        """Raise OutsideCheckoutError where what was found at this path would replace any of it."""
        if path in self._paths or (not folder and path in self._folders):
            raise OutsideCheckoutError(path)


def _above(path: bytes) -> list[bytes]:
    """The folders that the path is in, without the root."""
    parts = path.split(b"/")
    return [b"/".join(parts[:count]) for count in range(1, len(parts))]
