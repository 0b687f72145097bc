"""Signal `file_contains`: a file holds a substring, or text that a regular expression matches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bernstein.api.pod import Check
from bernstein.checks.paths import missing, normal_path
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.signal import SignalKind
from bernstein.checks.time_limit import MATCH_SECONDS, TimeLimitError, time_limit
from bernstein.checks.verdict import Verdict, errored, failed, passed

if TYPE_CHECKING:
    from bernstein.api.signals import Signal

CONTENT_BYTES = 20_000_000


def scan(commit: CommitReader, check: Check) -> Verdict:
    """There must be a file at the path; a symlink is not followed."""
    path = normal_path(check.path)
    kind = commit.kind(path)
    if kind is None:
        return missing(commit, path)
    if kind != "file":
        followed = "; symlinks are not followed" if kind == "symlink" else ""
        return failed("NotAFile", f"{path} is a {kind}{followed}")
    size = commit.size(path)
    if size > CONTENT_BYTES:
        return errored("TooLarge", f"{path} has {size} bytes")
    return _contains(path, commit.content(path), check.contains, check.regex)


def _contains(path: str, content: bytes, pattern: str, regex: bool) -> Verdict:
    """The verdict on whether the text holds `pattern`: a substring, or a regular expression in
    which `^` and `$` match at every line."""
    text = content.decode("utf-8", "replace")
    try:
        with time_limit(MATCH_SECONDS):
            holds = _search(pattern, text) if regex else pattern in text
    except re.error as error:
        return errored("InvalidPattern", f"{pattern!r} is no regular expression: {error}")
    except (TimeLimitError, RecursionError, MemoryError) as error:
        return errored("PatternTooSlow", f"{pattern!r} on {path}: {error}")
    verb = "match" if regex else "contain"
    return passed() if holds else failed("NotFound", f"{path} does not {verb} {pattern!r}")


def _search(pattern: str, text: str) -> bool:
    return re.compile(pattern, re.MULTILINE).search(text) is not None


def _sentence(signal: Signal) -> str:
    verb = "matches the regular expression" if signal.regex else "contains"
    return f"{signal.path} {verb} {signal.contains!r}"


SIGNAL = SignalKind(
    type="file_contains",
    needs=("path", "contains"),
    takes=("regex",),
    detail=lambda signal: f"{signal.path} contains {signal.contains!r}",
    sentence=_sentence,
    runs=Reads(scan),
)
