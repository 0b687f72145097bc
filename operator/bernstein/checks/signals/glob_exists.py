"""Signal `glob_exists`: a path of the tree matches the glob."""

from __future__ import annotations

from bernstein.api.pod import Check
from bernstein.checks.paths import InvalidPathError, normal_path
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.signal import SignalKind
from bernstein.checks.time_limit import TimeLimitError
from bernstein.checks.verdict import Verdict, errored, failed, passed


def scan(commit: CommitReader, check: Check) -> Verdict:
    """Passed with the first path that matches."""
    pattern = check.value
    try:
        path = commit.first_match(normal_path(pattern))
    except InvalidPathError as error:
        return errored("InvalidPath", str(error))
    except TimeLimitError as error:
        return errored("PatternTooSlow", f"{pattern}: {error}")
    return passed(path) if path is not None else failed("NoMatch", f"nothing matches {pattern}")


SIGNAL = SignalKind(
    type="glob_exists",
    needs=("value",),
    detail=lambda signal: signal.value or "",
    sentence=lambda signal: f"a file matches {signal.value}",
    runs=Reads(scan),
)
