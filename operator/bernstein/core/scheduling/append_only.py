"""Which of the `files` that Tasks declare lie within the append-only ones of their Project.

Whoever changes such a file only adds to it: nobody holds it, and nobody waits for it. Unsure counts
as not within: then it is held as any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from bernstein.checks.globs import UNKNOWN
from bernstein.core.scheduling.file_overlap import Entry, Globs, parse

STEPS = 20_000
"""Steps of matching that the files of one Task may take, whatever others declare; the rest of them
is held."""

_WILDCARDS = re.compile(r"[*?]+")
_ANY_DEPTH = re.compile(r"\*\*+")


@lru_cache(maxsize=4096)
def held(files: Globs, append_only: Globs) -> Globs:
    """Those of the files that do not lie within the append-only ones; of the lists that were asked
    about last it is known."""
    if not append_only:
        return files
    within = _Within(parse(append_only))
    both = zip(files, parse(files), strict=True)
    return tuple(text for text, entry in both if not within.holds(entry))


class _Within:
    """Append-only paths and globs, to be asked about the files of one Task."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._folders = tuple(entry.folder for entry in entries if not entry.rest)
        self._globs = [entry for entry in entries if entry.rest]
        self._same = frozenset(self._globs)
        self._steps = STEPS

    def holds(self, entry: Entry) -> bool:
        """Whether all that the entry may name is append-only."""
        if entry.folder.startswith(self._folders) or entry in self._same:
            return True
        folder, path = _read_by_others(entry)
        return any(
            self._names(glob, folder[len(glob.folder) :], path[len(glob.folder) :])
            for glob in self._globs
            if entry.folder.startswith(glob.folder)
        )

    def _names(self, entry: Entry, folder: str, path: str) -> bool:
        """Whether the glob names all in the folder, or the path, if there is one."""
        self._steps -= 1
        if self._steps < 0:
            return False
        glob = entry.glob
        may_name = bool(path) and path.endswith(glob.tail)
        if not glob.is_open and not may_name:
            return False
        self._steps -= 2 * glob.size + len(folder) + len(path)
        if self._steps < 0:
            return False
        return glob.names_all_in(folder) or (may_name and glob.names(path))


def _read_by_others(entry: Entry) -> tuple[str, str]:
    """The folder that all is in which the entry may name, and the path of that, if it is one file;
    characters that are not known are UNKNOWN.

    Only a path whose last name has no dot is taken for a folder alone.
    """
    if not entry.rest:
        path = entry.folder[:-1]
        return entry.folder, path if "." in path.rpartition("/")[2] else ""
    folder = entry.folder
    *above, last = entry.rest.split("/")
    for component in above:
        if _ANY_DEPTH.fullmatch(component):
            return folder, ""
        folder += f"{_known(component)}/"
    return folder, "" if _ANY_DEPTH.fullmatch(last) else folder + _known(last)


def _known(component: str) -> str:
    rare = "[" in component or "\\" in component
    return UNKNOWN if rare else _WILDCARDS.sub(UNKNOWN, component)
