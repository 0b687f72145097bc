"""Gate `lint_suppression`: the change adds no comment that silences a linter for a whole file, and
leaves no configuration that no linter can read.

Where the linter looks is ours to say, and its configuration is pinned. Such a comment is the way
that is left to hide a file. One that silences a single line stays in sight beside that line.
Since the configuration is pinned, one that is broken would fail nobody but those who come after.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from bernstein.api.pod import Check
from bernstein.checks.added import readings
from bernstein.checks.content import settings_files
from bernstein.checks.gate import Gate
from bernstein.checks.reading import ChangedFile, CommitReader, Reads
from bernstein.checks.suppressions import MOST_BYTES, TooLong, added
from bernstein.checks.time_limit import time_limit
from bernstein.checks.verdict import Verdict, failed, passed

_SHOWN = 20


def scan(commit: CommitReader, _check: Check) -> Verdict:
    """Failed with places and words of what was added. Raises TimeLimitError."""
    with time_limit(commit.scan_seconds):
        files = (file for file in commit.changed_files() if settings_files.configures(file.path))
        unreadable = (_broken(file) for file in files if commit.kind(file.path) == "file")
        told = list(islice(filter(None, unreadable), _SHOWN))
        if told:
            hint = "leave a file that the tool can read"
            return failed("ConfigurationBroken", "\n".join([*told, hint]))
        found = (place for file in commit.changed_files() for place in _added(file))
        try:
            shown = list(islice(found, _SHOWN))
        except TooLong as error:
            return failed("TooLarge", f"{error} is longer than {MOST_BYTES} bytes")
    if not shown:
        return passed()
    hint = "mend what the linter finds, or silence single lines and say why"
    return failed("SuppressionAdded", "\n".join([*shown, hint]))


def _broken(file: ChangedFile) -> str:
    why = settings_files.broken(file.path, file.before, file.after)
    return f"{file.path} configures checks, and {why}" if why else ""


def _added(file: ChangedFile) -> Iterator[str]:
    """Places, each once: several readings of a file may show the same."""
    seen: set[str] = set()
    for before, after in readings(file):
        for silenced in added(file.path, before, after):
            place = f"{file.path}:{silenced.line}" if silenced.line else file.path
            shown = f"{place} {silenced.words}"
            if shown not in seen:
                seen.add(shown)
                yield shown


GATE = Gate(name="lint_suppression", condition="any_changed", default_on=True, runs=Reads(scan))
