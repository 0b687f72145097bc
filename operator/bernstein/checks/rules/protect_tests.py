"""Rule `protect-tests`: the work deletes and weakens no test that existed before it."""

from __future__ import annotations

from bernstein.api.pod import Check
from bernstein.checks import findings
from bernstein.checks.gate import Gate
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.time_limit import time_limit
from bernstein.checks.verdict import Verdict, failed, passed

NAME = "protect-tests"
WEAKENED = "TestsWeakened"
MOST_BYTES = 16_000_000
"""Of all tests that differ, before and after: they are held in memory together."""


def scan(commit: CommitReader, _check: Check) -> Verdict:
    """Failed with each test and what was taken from it. Raises TimeLimitError."""
    # Its patterns take a moment to compile.
    from bernstein.checks.weakening.weakened import is_looked_at, support_of, weakened

    def content(path: str) -> bytes | None:
        small = commit.kind(path) == "file" and commit.size(path) <= MOST_BYTES
        return commit.content(path) if small else None

    with time_limit(commit.scan_seconds):
        links = {path for path in commit.changed_paths if commit.kind(path) == "symlink"}
        support = support_of(commit.changed_paths, commit.paths, content, links)
        both = commit.changed_contents(
            lambda path: is_looked_at(path) or support.holds(path), MOST_BYTES
        )
        if both is None:
            return failed("TooLarge", f"the tests that differ have over {MOST_BYTES} bytes")
        found = weakened(*both, support)
    if not found:
        return passed()
    hint = "tests that existed before stay, and assert no less"
    return failed(WEAKENED, f"{findings.shown(found)}\n{hint}")


RULE = Gate(name=NAME, condition="any_changed", default_on=False, runs=Reads(scan))
