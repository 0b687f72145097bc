"""Gate `large_file`: tells of files that get so many new lines that nobody reads them all."""

from __future__ import annotations

from bernstein.api.pod import Check
from bernstein.checks import findings
from bernstein.checks.added import added_lines
from bernstein.checks.gate import Gate
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.time_limit import time_limit
from bernstein.checks.verdict import Verdict, failed, passed

MOST_LINES = 500
"""New lines of one file."""


def scan(commit: CommitReader, _check: Check) -> Verdict:
    """Failed with the files and how many lines each got. Raises TimeLimitError."""
    with time_limit(commit.scan_seconds):
        added = (
            (sum(1 for _ in added_lines(file.before, file.after)), file.path)
            for file in commit.changed_files()
        )
        large = sorted((each for each in added if each[0] > MOST_LINES), key=lambda each: -each[0])
    if not large:
        return passed()
    rows = findings.shown([f"{path} gets {lines} new lines" for lines, path in large])
    return failed("LargeFile", f"{rows}\n{MOST_LINES} are the most")


GATE = Gate(
    name="large_file",
    condition="any_changed",
    default_on=False,
    runs=Reads(scan),
    required=False,
)
