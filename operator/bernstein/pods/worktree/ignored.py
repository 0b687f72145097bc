"""What of a tree is not taken because a rule of a `.gitignore` ignores it, for people."""

from __future__ import annotations

from dataclasses import dataclass, field

from bernstein.checks.changes import shown_path
from bernstein.core import sanitise

_FIRST = 3
_CHARACTERS = 60
"""Of a path: together they leave room for the rest of a termination message."""


@dataclass(frozen=True, slots=True)
class RulePlace:
    """Where the rule stands: the path of its file, and its line from 1."""

    file: bytes
    line: int

    def __str__(self) -> str:
        return f"{_shown(self.file)}:{self.line}"


@dataclass(slots=True)
class Ignored:
    """Counts paths that are new and ignored, and holds the first of them. A folder that is ignored
    as a whole is one."""

    count: int = 0
    first: list[tuple[bytes, RulePlace]] = field(default_factory=list)

    def add(self, path: bytes, place: RulePlace, *, folder: bool) -> None:
        """One more; `place`: of the rule that ignores it."""
        self.count += 1
        if len(self.first) < _FIRST:
            self.first.append((path + b"/" * folder, place))

    def __str__(self) -> str:
        """In one line; "" where there is nothing."""
        if not self.count:
            return ""
        named = (f"{_shown(path)} ({place})" for path, place in self.first)
        what = "new path is" if self.count == 1 else "new paths are"
        return f"{self.count} {what} ignored: {sanitise.some(named, self.count)}"


def _shown(path: bytes) -> str:
    return sanitise.line(shown_path(path), _CHARACTERS)
