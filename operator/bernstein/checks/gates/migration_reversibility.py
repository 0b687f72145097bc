"""Gate `migration_reversibility`: every migration that the change brings can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
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
    """Failed with the migrations that have no way back. Raises TimeoutError."""
    with time_limit(commit.scan_seconds):
        shown = list(islice(_problems(commit), _SHOWN))
    return failed("NotReversible", "\n".join(shown)) if shown else passed()


def _problems(commit: CommitReader) -> Iterator[str]:
    from bernstein.checks.content import migrations

    def content(path: str) -> str | None:
        is_file = commit.kind(path) == "file" and commit.size(path) <= MOST_BYTES
        return _text(commit.content(path)) if is_file else None

    for file in commit.changed_files():
        if not migrations.is_migration(file.path) or commit.kind(file.path) != "file":
            continue
        if len(file.after) > MOST_BYTES:
            if file.path.endswith(".sql"):
                yield f"{file.path} is longer than {MOST_BYTES} bytes"
            continue
        problem = migrations.problem(file.path, _text(file.after), content)
        if problem is not None:
            yield f"{file.path} {problem}"


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


GATE = Gate(
    name="migration_reversibility",
    condition="any_changed",
    default_on=False,
    runs=Reads(scan),
)
