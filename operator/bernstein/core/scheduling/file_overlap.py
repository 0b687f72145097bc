"""Whether the `files` that Tasks declare may overlap; unsure counts as yes.

Every entry has a folder: of a glob what stands before its first wildcard; of a path the path
itself, which may be one. Entries overlap when their folders are the same or one holds the other,
with one exception: where a glob's folder holds a path, the glob must match it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from bernstein.checks.globs import Glob, first_wildcard, plain

STEPS = 500_000
"""Steps of matching that one HeldFiles spends on all its questions; then it answers: unsure."""

_STEPS_TO_MAKE = 4
"""What it costs to make a glob out of its text, in steps for each of its characters."""

Globs = tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A path or glob."""

    folder: str
    """Ends with a slash, but for the root."""
    rest: str
    """From the component with the first wildcard on; of a path nothing."""

    @cached_property
    def glob(self) -> Glob:
        return Glob.of(self.rest.split("/"))


@dataclass(frozen=True)
class Overlap:
    """Somebody's files may be these files."""

    holder: str
    """The name of the Task that holds them."""
    sure: bool
    """False when there was too much to compare."""


class HeldFiles:
    """The files that some Tasks hold, to be asked about the files of others.

    Where several Tasks hold the same files, the answer names the one that was added last.

    Time is linear in the number of entries and in how deep they nest; STEPS bounds the matching.
    """

    def __init__(
        self, declared: Iterable[Globs], steps: int = STEPS, made: set[Entry] | None = None
    ) -> None:
        """`declared`: every list that will be added or asked about; `made`: the entries whose globs
        were made at the cost of other steps."""
        self._folders = sorted({entry.folder for files in declared for entry in parse(files)})
        self._index = {folder: index for index, folder in enumerate(self._folders)}
        self._above = _parents(self._folders)
        size = len(self._folders)
        # By the index of a folder:
        self._path: list[str | None] = [None] * size
        """Who holds it as a path."""
        self._globs: dict[int, list[tuple[Entry, str]]] = {}
        """The globs whose folder it is, each with its holder."""
        self._within: list[str | None] = [None] * size
        """Who holds it, or anything in it."""
        self._globs_within: list[str | None] = [None] * size
        """Who holds a glob whose folder it is, or lies in it."""
        self._made = set() if made is None else made
        self._steps = steps

    def anew(self, declared: Iterable[Globs]) -> HeldFiles:
        """One that holds nothing yet and knows other lists, with what is left of the steps."""
        return HeldFiles(declared, self._steps, self._made)

    def add(self, holder: str, files: Globs) -> None:
        """From now on the Task `holder` holds these files."""
        for entry in parse(files):
            index = self._index[entry.folder]
            self._mark(self._within, index, holder)
            if entry.rest:
                self._globs.setdefault(index, []).append((entry, holder))
                self._mark(self._globs_within, index, holder)
            else:
                self._path[index] = holder

    def overlap(self, files: Globs) -> Overlap | None:
        """Whose files may overlap with these; None: nobody's. Folders first, then matching."""
        entries = parse(files)
        for entry in entries:
            holder = self._nested_with(entry)
            if holder is not None:
                return Overlap(holder, sure=True)
        for entry in entries:
            matched = self._path_named_by(entry) if entry.rest else self._glob_naming(entry)
            if matched is not None:
                return matched
        return None

    def _mark(self, marks: list[str | None], index: int, holder: str) -> None:
        """Marks the folder and all above it."""
        while index >= 0:
            marks[index] = holder
            index = self._above[index]

    def _nested_with(self, entry: Entry) -> str | None:
        """Who holds an entry that overlaps with this one by their folders alone."""
        index = self._index[entry.folder]
        if entry.rest:
            holder = self._globs_within[index] or self._path[index]
        else:
            holder = self._within[index]
        for above in self._all_above(index):
            if holder is not None:
                break
            holder = self._path[above]
            if holder is None and entry.rest and above in self._globs:
                holder = self._globs[above][-1][1]
        return holder

    def _glob_naming(self, path: Entry) -> Overlap | None:
        """The holder of a glob that may name the path."""
        for above in self._all_above(self._index[path.folder]):
            for entry, holder in reversed(self._globs.get(above, ())):
                if self._may_name(entry, path.folder[len(entry.folder) : -1]):
                    return Overlap(holder, sure=self._steps >= 0)
        return None

    def _path_named_by(self, entry: Entry) -> Overlap | None:
        """The holder of a path that the glob may name."""
        index = self._index[entry.folder]
        any_holder = self._within[index]
        if any_holder is None:
            return None
        for below in range(index + 1, len(self._folders)):
            folder, holder = self._folders[below], self._path[below]
            if not folder.startswith(entry.folder):
                break
            self._steps -= 1
            if self._steps < 0:
                return Overlap(any_holder, sure=False)
            if holder is not None and self._may_name(entry, folder[len(entry.folder) : -1]):
                return Overlap(holder, sure=self._steps >= 0)
        return None

    def _glob(self, entry: Entry) -> Glob:
        """It counts once as made here, even if it is still known: the answer is the same then."""
        glob = entry.glob
        if entry not in self._made:
            self._made.add(entry)
            self._steps -= _STEPS_TO_MAKE * len(entry.rest) + glob.size
        return glob

    def _may_name(self, entry: Entry, path: str) -> bool:
        """Whether the glob may name the path, or something in it.

        Only a path whose last name has no dot is taken for a folder.
        """
        is_file = "." in path.rpartition("/")[2]
        self._steps -= 1
        if self._steps < 0:
            return True
        glob = self._glob(entry)
        if is_file and not path.endswith(glob.tail):
            return self._steps < 0
        self._steps -= glob.size + len(path)
        return self._steps < 0 or (glob.names(path) if is_file else glob.names_or_enters(path))

    def _all_above(self, index: int) -> Iterator[int]:
        index = self._above[index]
        while index >= 0:
            yield index
            index = self._above[index]


@lru_cache(maxsize=4096)
def parse(files: Globs) -> tuple[Entry, ...]:
    """Reads the list; of those that were read last it is known."""
    return tuple(_entry(text) for text in files)


def _entry(text: str) -> Entry:
    text = plain(text)
    wild = first_wildcard(text)
    if wild is None:
        return Entry(f"{text}/" if text else "", "")
    folder = text[: text.rfind("/", 0, wild) + 1]
    return Entry(folder, text[len(folder) :])


def _parents(folders: list[str]) -> list[int]:
    """For each folder the index of the nearest one above it; -1: none.

    `folders` is sorted: what a folder holds follows it.
    """
    parents: list[int] = []
    for index, folder in enumerate(folders):
        above = index - 1
        while above >= 0 and not folder.startswith(folders[above]):
            above = parents[above]
        parents.append(above)
    return parents
