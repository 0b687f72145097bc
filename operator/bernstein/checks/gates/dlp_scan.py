"""Gate `dlp_scan`: added lines bring no binding licence, regulated data or internal address."""

from __future__ import annotations

from bernstein.api.pod import Check
from bernstein.checks.gate import Gate
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.time_limit import time_limit
from bernstein.checks.verdict import Verdict


def scan(commit: CommitReader, _check: Check) -> Verdict:
    """Scans all lines that the change adds. Raises TimeLimitError after `scan_seconds`."""
    # Their patterns take a moment to load.
    from bernstein.checks.content import own_licence, restricted, secrets

    with time_limit(commit.scan_seconds):
        # No work, and none that has landed since the start, puts the repository under another
        # licence and takes in code under it.
        files = commit.pinned_files(own_licence.FOLDERS, own_licence.is_one, own_licence.MOST_BYTES)
        return restricted.scan(commit.changed_files(), own_licence.families(files), secrets.mask)


GATE = Gate(
    name="dlp_scan",
    condition="any_changed",
    default_on=True,
    runs=Reads(scan, pinned=True),
)
