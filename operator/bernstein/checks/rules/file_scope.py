"""Rule `file-scope`: the work changes no files but those that its step declares.

What counts is the path of everything that differs from the base: a file that is added, edited or
deleted, or gets another mode; of one that is renamed both names; of a symlink its own path.
"""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.pod import Check
from bernstein.checks import findings
from bernstein.checks.gate import Gate
from bernstein.checks.globs import Glob, first_wildcard, plain
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.time_limit import time_limit
from bernstein.checks.verdict import Verdict, failed, passed

NAME = "file-scope"
OUTSIDE = "ScopeViolation"


def scan(commit: CommitReader, check: Check) -> Verdict:
    """Failed with the paths outside of `check.files`. Raises TimeoutError."""
    with time_limit(commit.scan_seconds):
        owned = Owned(check.files)
        outside = sorted(path for path in commit.changed_paths if not owned.holds(path))
    return failed(OUTSIDE, findings.shown(outside)) if outside else passed()


class Owned:
    """The files of a Task: what its paths name, with all below them, and what its globs match."""

    def __init__(self, files: Iterable[str]) -> None:
        entries = [plain(entry) for entry in files]
        self._paths = {entry for entry in entries if first_wildcard(entry) is None}
        self._globs = [Glob.of(each.split("/")) for each in entries if each not in self._paths]

    def holds(self, path: str) -> bool:
        """Whether a change of this path is the Task's."""
        if "" in self._paths or path in self._paths:
            return True
        parts = path.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        if any(folder in self._paths for folder in above):
            return True
        return any(path.endswith(glob.tail) and glob.names(path) for glob in self._globs)


RULE = Gate(name=NAME, condition="any_changed", default_on=False, runs=Reads(scan))
