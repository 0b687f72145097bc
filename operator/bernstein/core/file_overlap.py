"""Whether what Tasks declare as their `files` may be the same files; unsure counts as yes.

An entry lies in a folder: a path in its own, a glob in that before its first wildcard. Two globs
overlap when one's folder holds the other's; only a glob and the paths in its folder take matching.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from bernstein.core.globs import Glob, is_glob

STEPS = 500_000
"""Characters that the globs of all that is asked of one HeldFiles may read."""

Files = tuple[str, ...]


@dataclass(frozen=True)
class _Entry:
    folder: str
    """Ends with a slash, but for the root."""
    rest: tuple[str, ...]
    """The components from the first wildcard on; a path has none."""

    @cached_property
    def glob(self) -> Glob:
        return Glob.of(self.rest)


@dataclass(frozen=True)
class Overlap:
    holder: str
    sure: bool
    """False when there was too much to compare."""


class HeldFiles:
    """The files that some Tasks hold, to be asked about those of others.

    Its cost grows with the number of entries and how deep they nest, and with STEPS.
    """

    def __init__(self, declared: Iterable[Files], steps: int = STEPS) -> None:
        """`declared` are all lists that it will be told or asked about."""
        self._folders = sorted({entry.folder for files in declared for entry in _parse(files)})
        self._place = {folder: place for place, folder in enumerate(self._folders)}
        self._above = _parents(self._folders)
        size = len(self._folders)
        self._path: list[str | None] = [None] * size
        """Who holds the path that the folder is."""
        self._globs: dict[int, list[tuple[_Entry, str]]] = {}
        """The globs whose folder it is, and who holds them."""
        self._within: list[str | None] = [None] * size
        """Who holds anything in it."""
        self._globs_within: list[str | None] = [None] * size
        self._steps = steps

    def add(self, holder: str, files: Files) -> None:
        for entry in _parse(files):
            place = self._place[entry.folder]
            self._mark(self._within, place, holder)
            if entry.rest:
                self._globs.setdefault(place, []).append((entry, holder))
                self._mark(self._globs_within, place, holder)
            elif self._path[place] is None:
                self._path[place] = holder

    def overlap(self, files: Files) -> Overlap | None:
        """With whose files these may overlap; what needs no matching is looked at first."""
        entries = _parse(files)
        for entry in entries:
            holder = self._nested(entry)
            if holder is not None:
                return Overlap(holder, sure=True)
        for entry in entries:
            found = self._named_by(entry) if entry.rest else self._naming(entry)
            if found is not None:
                return found
        return None

    def _mark(self, marks: list[str | None], place: int, holder: str) -> None:
        """Also for every folder above; those above one that has a mark have one already."""
        while place >= 0 and marks[place] is None:
            marks[place] = holder
            place = self._above[place]

    def _nested(self, entry: _Entry) -> str | None:
        """Who holds an entry whose folder holds this one's, or lies in it, where that is enough."""
        place = self._place[entry.folder]
        if entry.rest:
            found = self._globs_within[place] or self._path[place]
        else:
            found = self._within[place]
        for above in self._all_above(place):
            if found is not None:
                break
            found = self._path[above]
            if found is None and entry.rest and above in self._globs:
                found = self._globs[above][0][1]
        return found

    def _naming(self, path: _Entry) -> Overlap | None:
        """The holder of a glob that may name the path."""
        for above in self._all_above(self._place[path.folder]):
            for entry, holder in self._globs.get(above, ()):
                if self._may_name(entry.glob, path.folder[len(entry.folder) : -1]):
                    return Overlap(holder, sure=self._steps >= 0)
        return None

    def _named_by(self, entry: _Entry) -> Overlap | None:
        """The holder of a path that the glob may name."""
        place = self._place[entry.folder]
        someone = self._within[place]
        if someone is None:
            return None
        for below in range(place + 1, len(self._folders)):
            folder, holder = self._folders[below], self._path[below]
            if not folder.startswith(entry.folder):
                break
            self._steps -= 1
            if self._steps < 0:
                return Overlap(someone, sure=False)
            if holder is not None and self._may_name(entry.glob, folder[len(entry.folder) : -1]):
                return Overlap(holder, sure=self._steps >= 0)
        return None

    def _may_name(self, glob: Glob, path: str) -> bool:
        """A path whose last name has no dot may be a folder in which the glob finds something."""
        is_file = "." in path.rpartition("/")[2]
        self._steps -= 1
        if is_file and not path.endswith(glob.tail):
            return self._steps < 0
        self._steps -= glob.size + len(path)
        return self._steps < 0 or (glob.names(path) if is_file else glob.names_or_enters(path))

    def _all_above(self, place: int) -> Iterator[int]:
        place = self._above[place]
        while place >= 0:
            yield place
            place = self._above[place]


def overlap(left: Iterable[str], right: Iterable[str]) -> bool:
    """True when two lists of paths and globs may name the same file; unsure counts as yes."""
    left, right = tuple(left), tuple(right)
    held = HeldFiles([left, right])
    held.add("right", right)
    return held.overlap(left) is not None


@lru_cache(maxsize=4096)
def _parse(files: Files) -> tuple[_Entry, ...]:
    return tuple(_entry(text) for text in files)


def _entry(text: str) -> _Entry:
    parts = [part for part in text.split("/") if part not in {"", "."}]
    wild = next((i for i, part in enumerate(parts) if is_glob(part)), len(parts))
    return _Entry("".join(part + "/" for part in parts[:wild]), tuple(parts[wild:]))


def _parents(folders: list[str]) -> list[int]:
    """The place of the nearest folder above each, -1 for none. Sorted, what it holds follows it."""
    found: list[int] = []
    for place, folder in enumerate(folders):
        above = place - 1
        while above >= 0 and not folder.startswith(folders[above]):
            above = found[above]
        found.append(above)
    return found
