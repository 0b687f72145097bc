"""Gate `migration_reversibility`: every migration that the change touches can be taken back."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import islice

from bernstein.api.pod import Check
from bernstein.checks.gate import Gate
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.time_limit import time_limit
from bernstein.checks.verdict import Verdict, failed, passed

MOST_BYTES = 4_000_000
"""A longer file is not looked at: no tool's migration is."""
_SHOWN = 20


def scan(commit: CommitReader, _check: Check) -> Verdict:
    """Failed with the migrations that have no way back. Raises TimeLimitError."""
    with time_limit(commit.scan_seconds):
        shown = list(islice(_problems(commit), _SHOWN))
    return failed("NotReversible", "\n".join(shown)) if shown else passed()


def _problems(commit: CommitReader) -> Iterator[str]:
    from bernstein.checks.content import migrations

    def content(path: str) -> str | None:
        is_file = commit.kind(path) == "file" and commit.size(path) <= MOST_BYTES
        return _text(commit.content(path)) if is_file else None

    judged, ways_back = set[str](), {*filter(migrations.is_way_back, commit.deleted)}
    for file in commit.changed_files():
        if migrations.is_way_back(file.path):
            ways_back.add(file.path)
        if not migrations.is_migration(file.path) or commit.kind(file.path) != "file":
            continue
        judged.add(file.path)
        if len(file.after) > MOST_BYTES:
            if file.path.endswith(".sql"):
                yield f"{file.path} is longer than {MOST_BYTES} bytes"
            continue
        problem = migrations.problem(file.path, _text(file.after), content)
        if problem is not None:
            yield f"{file.path} {problem}"
    for path in sorted(_left_behind(commit, ways_back) - judged):
        problem = migrations.problem(path, content(path) or "", content)
        if problem is not None:
            yield f"{path} {problem}"


def _left_behind(commit: CommitReader, ways_back: Set[str]) -> set[str]:
    """Migrations in SQL whose way back the change edits or deletes, and not themselves."""
    from bernstein.checks.content import migrations

    return {
        path
        for path in (commit.paths if ways_back else ())
        if path.endswith(".sql") and migrations.is_migration(path)
        if not ways_back.isdisjoint(migrations.ways_back(path))
    }


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


GATE = Gate(
    name="migration_reversibility",
    condition="any_changed",
    default_on=False,
    runs=Reads(scan),
)
