"""Gate `pii_scan`: no secrets and no personal data in the lines that the change adds."""

from __future__ import annotations

from bernstein.api.pod import Check
from bernstein.checks.gate import Gate
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.time_limit import time_limit
from bernstein.checks.verdict import Verdict


def scan(commit: CommitReader, _check: Check) -> Verdict:
    """Scans all lines that the change adds. Raises TimeLimitError after `scan_seconds`."""
    from bernstein.checks.content import secrets  # its patterns take a moment to load

    with time_limit(commit.scan_seconds):
        return secrets.scan(commit.changed_files())


GATE = Gate(name="pii_scan", condition="any_changed", default_on=True, runs=Reads(scan))
