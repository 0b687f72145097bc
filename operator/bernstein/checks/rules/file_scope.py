"""Rule `file-scope`: the work changes no files but those that its step declares, and what may only
be added to in no other way.

What counts is the path of everything that differs from the base: a file that is added, edited or
deleted, or gets another mode; of one that is renamed both names; of a symlink its own path.
"""

from __future__ import annotations

from io import BytesIO

from bernstein.api.pod import Check
from bernstein.checks import findings
from bernstein.checks.gate import Gate
from bernstein.checks.globs import Listed
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.time_limit import time_limit
from bernstein.checks.verdict import Verdict, failed, passed

NAME = "file-scope"
OUTSIDE = "ScopeViolation"
TOO_LARGE = "TooLarge"
ONLY_ADDING = ": only adding to it is allowed"
"""Told behind the path of a file that may only be added to, whoever declares it."""
MOST_BYTES = 16_000_000
"""Of all such files that are edited, before and after: they are held in memory together."""


def scan(commit: CommitReader, check: Check) -> Verdict:
    """Failed with the paths outside of `check.files`, and those of `check.append_only` whose change
    does more than add. A step without files may change all but the latter.

    Raises TimeLimitError.
    """
    with time_limit(commit.scan_seconds):
        own, append_only = Listed(check.files), Listed(check.append_only)
        shared = {path for path in commit.changed_paths if append_only.holds(path)}
        outside = sorted(
            path
            for path in commit.changed_paths
            if check.files and path not in shared and not own.holds(path)
        )
        edited = shared.intersection(commit.edited) if shared else set()
        rewritten = shared.difference(edited, commit.added) if shared else set()
        both = commit.changed_contents(edited.__contains__, MOST_BYTES) if edited else ({}, {})
        if both is not None:
            before, after = both
            rewritten |= {path for path in edited if not only_adds(before[path], after[path])}
    rows = [*outside, *(f"{path}{ONLY_ADDING}" for path in sorted(rewritten))]
    if rows:
        return failed(OUTSIDE, findings.shown(rows))
    if both is None:
        text = f"the files that may only be added to, and differ, have over {MOST_BYTES} bytes"
        return failed(TOO_LARGE, text)
    return passed()


def only_adds(before: bytes, after: bytes) -> bool:
    """Whether every line of the file is still there, in order, with its end; of the last one the
    end may come later. What is no text may not be changed at all."""
    if b"\0" in before or b"\0" in after:
        return False
    there = iter(BytesIO(after))
    return all(any(_is_same(line, found) for found in there) for line in BytesIO(before))


def _is_same(line: bytes, found: bytes) -> bool:
    return line == (found if line.endswith(b"\n") else found.removesuffix(b"\n"))


RULE = Gate(name=NAME, condition="any_changed", default_on=False, runs=Reads(scan))
