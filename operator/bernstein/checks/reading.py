"""Checks that only read a commit: how they are declared, and what they can ask of the commit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from bernstein.api.pod import Check
from bernstein.checks.verdict import Verdict, errored

EntryKind = Literal["file", "symlink", "folder", "submodule"]


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file with new content; `before` is empty for a new file."""

    path: str
    before: bytes
    after: bytes


class CommitReader(Protocol):
    """One commit, as the program `inspect` gives it to checks: a listing and contents.

    Nothing is checked out and no symlink is ever followed. Every method may raise PodError, which
    makes the check Errored.
    """

    @property
    def scan_seconds(self) -> int:
        """Seconds that a scan of the whole change may take; the scan has to end itself."""

    @property
    def paths(self) -> Collection[str]:
        """Paths of everything in the tree, folders included."""

    def kind(self, path: str) -> EntryKind | None:
        """What is at the path; None: nothing."""

    def size(self, path: str) -> int:
        """Size of a file or symlink, in bytes."""

    def content(self, path: str) -> bytes:
        """Content of a file; of a symlink its target."""

    def first_match(self, pattern: str) -> str | None:
        """A path that the glob matches; `**` spans folders, a leading dot is like any character.

        It is a method of the commit, because the library behind it may take minutes: so no check
        imports it, and it never gets into the operator's loop. Raises TimeLimitError.
        """

    def changed_files(self) -> Iterator[ChangedFile]:
        """Every file or symlink with new content."""

    @property
    def changed_paths(self) -> Collection[str]:
        """Paths of everything that differs: added, edited, deleted, of another mode; submodules,
        too. Of what is renamed these are both names."""

    def changed_contents(
        self, is_wanted: Callable[[str], bool], most: int
    ) -> tuple[Mapping[str, bytes], Mapping[str, bytes]] | None:
        """What differs and is wanted, as it was and as it is, by path; of a symlink its target.
        None: they have over `most` bytes together."""

    @property
    def added(self) -> Collection[str]:
        """Paths of files, no symlinks, where nothing was."""

    @property
    def edited(self) -> Collection[str]:
        """Paths of files that are files still, of the same mode, and hold something else."""

    @property
    def deleted(self) -> Collection[str]:
        """Paths of files and symlinks that the change takes away."""

    def pinned_files(
        self, folders: Sequence[str], is_wanted: Callable[[str], bool], most: int
    ) -> Mapping[str, bytes]:
        """Files, no symlinks, of up to `most` bytes, directly in these folders ("" is the root) of
        the commit that the work's Plan started from; needs `Reads.pinned`."""

    def conflicts(self) -> tuple[str, ...]:
        """Paths in conflict with the tip that the work will land on; needs `Reads.merges`."""


Scan: TypeAlias = Callable[[CommitReader, Check], Verdict]
"""A function that makes the verdict of a check that only reads. What it raises becomes Errored."""


@dataclass(frozen=True)
class Reads:
    """The check executes nothing, and shares the inspect Job with all others that only read.

    `scan` imports heavy libraries only when it is called.
    """

    scan: Scan
    merges: bool = False
    """Whether it calls `CommitReader.conflicts`, for which the Job fetches the whole history."""
    pinned: bool = False
    """Whether it calls `CommitReader.pinned_files`."""


def _unknown(_commit: CommitReader, check: Check) -> Verdict:
    return errored("InvalidConfig", f"no check is called {check.type!r}")


UNKNOWN = Reads(_unknown)
"""For a signal or gate that this version does not know: it is Errored, never passed over."""
