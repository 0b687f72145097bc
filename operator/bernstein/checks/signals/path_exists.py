"""Signal `path_exists`: there is something at the path; a slash at its end asks for a folder."""

from __future__ import annotations

from bernstein.api.pod import Check
from bernstein.checks.paths import missing, normal_path
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.signal import SignalKind
from bernstein.checks.verdict import Verdict, failed, passed


def scan(commit: CommitReader, check: Check) -> Verdict:
    """A symlink counts as existing, wherever it leads."""
    path = check.path
    kind = commit.kind(normal_path(path))
    if kind is None:
        return missing(commit, path)
    if path.endswith("/") and kind not in {"folder", "submodule"}:
        return failed("NotAFolder", f"{path} is a {kind}, not a folder")
    return passed()


SIGNAL = SignalKind(
    type="path_exists",
    needs=("path",),
    detail=lambda signal: signal.path or "",
    sentence=lambda signal: f"the path {signal.path} exists",
    runs=Reads(scan),
)
