"""Paths that checks name: how they are written, and the verdict where there is nothing."""

from __future__ import annotations

from bernstein.checks.reading import CommitReader
from bernstein.checks.verdict import Verdict, failed


class InvalidPathError(ValueError):
    """A path that is absolute, empty or leaves the repository."""


def normal_path(path: str) -> str:
    """`path` without `.` components and without a slash at its end. Raises InvalidPathError."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or not parts or "\0" in path or ".." in parts or ".git" in parts:
        raise InvalidPathError(f"{path!r} must be a path below the repository, without '..'")
    return "/".join(parts)


def missing(commit: CommitReader, path: str) -> Verdict:
    """The verdict where there is nothing at `path`.

    It names a symlink among the folders of the path, which is a likely cause.
    """
    parts = normal_path(path).split("/")
    above = ("/".join(parts[:i]) for i in range(1, len(parts)))
    link = next((each for each in above if commit.kind(each) == "symlink"), None)
    why = f": {link} is a symlink, which is not followed" if link else ""
    return failed("PathMissing", f"{path} does not exist{why}")
