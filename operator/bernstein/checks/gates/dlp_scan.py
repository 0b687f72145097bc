"""Gate `dlp_scan`: added lines bring no binding licence, regulated data or internal address."""

from __future__ import annotations

from bernstein.api.pod import Check
from bernstein.checks.gate import Gate
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.time_limit import time_limit
from bernstein.checks.verdict import Verdict


def scan(commit: CommitReader, _check: Check) -> Verdict:
    """Scans all lines that the change adds. Raises TimeoutError after `scan_seconds`."""
    from bernstein.checks.content import restricted, secrets  # their patterns take a moment to load

    with time_limit(commit.scan_seconds):
        own = _own(commit)
        return restricted.scan(commit.changed_files(), own, secrets.mask)


def _own(commit: CommitReader) -> frozenset[str]:
    """Families of licences that the repository was under before the change: no work puts it under
    another one and names that at the same time."""
    from bernstein.checks.content import restricted

    paths = [path for path in commit.paths if restricted.is_licence(path)]
    if not paths:
        return frozenset()
    changed = {file.path: file.before for file in commit.changed_files() if file.path in paths}
    texts = [
        changed[path] if path in changed else commit.content(path)
        for path in paths
        if commit.kind(path) == "file" and commit.size(path) <= restricted.LICENCE_BYTES
    ]
    found = (restricted.families_in(text.decode("utf-8", "replace")) for text in texts)
    return frozenset().union(*found)


GATE = Gate(name="dlp_scan", condition="any_changed", default_on=True, runs=Reads(scan))
