"""Gate `merge_conflict`: the work merges with the tip of the branch that it will land on."""

from __future__ import annotations

from bernstein.api.pod import Check
from bernstein.checks.gate import Gate
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.verdict import Verdict, failed, passed


def scan(commit: CommitReader, _check: Check) -> Verdict:
    """Failed with the paths in conflict, if there are any."""
    conflicts = commit.conflicts()
    if not conflicts:
        return passed()
    return failed("Conflict", "conflicts with the base tip in:\n" + "\n".join(conflicts))


GATE = Gate(
    name="merge_conflict",
    condition="any_changed",
    default_on=False,
    runs=Reads(scan, merges=True),
    lasts=False,  # the tip moves
)
