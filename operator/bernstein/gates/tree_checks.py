"""Signals that only look at a tree: path_exists, glob_exists, file_contains.

A tree is a listing here; nothing is checked out and no symlink is ever followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from bernstein.gates.time_limit import time_limit
from bernstein.gates.verdict import Verdict, errored, failed, passed

MATCH_SECONDS = 10.0
"""A pattern that takes longer is Errored(PatternTooSlow)."""

CONTENT_BYTES = 20_000_000

Kind = Literal["file", "symlink", "folder", "submodule"]


class InvalidPathError(ValueError):
    """A path that is absolute, empty or leaves the repository."""


def normal_path(path: str) -> str:
    """`path` without `./` and a slash at its end. Raises InvalidPathError."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or not parts or "\0" in path or ".." in parts or ".git" in parts:
        raise InvalidPathError(f"{path!r} must be a path below the repository, without '..'")
    return "/".join(parts)


def path_exists(path: str, kind: Kind | None, symlink_above: str | None) -> Verdict:
    """`kind` is what stands at the path, None if nothing; see `symlink_above`."""
    if kind is None:
        return failed("PathMissing", _missing(path, symlink_above))
    if path.endswith("/") and kind not in {"folder", "submodule"}:
        return failed("NotAFolder", f"{path} is a {kind}, not a folder")
    return passed()


def glob_exists(pattern: str, paths: Iterable[str]) -> Verdict:
    """Whether one of the paths matches; `**` spans folders, a leading dot is like any character."""
    try:
        normal = normal_path(pattern)
        with time_limit(MATCH_SECONDS):
            matches = _glob(normal)
            found = next((path for path in paths if any(m.match(path) for m in matches)), None)
    except InvalidPathError as error:
        return errored("InvalidPath", str(error))
    except TimeoutError as error:
        return errored("PatternTooSlow", f"{pattern}: {error}")
    return passed(found) if found is not None else failed("NoMatch", f"nothing matches {pattern}")


def file_contains(path: str, content: bytes, wanted: str, regex: bool) -> Verdict:
    """Whether the text holds `wanted`, a substring or (with `^` and `$` per line) an expression."""
    if len(content) > CONTENT_BYTES:
        return errored("TooLarge", f"{path} has over {CONTENT_BYTES} bytes")
    text = content.decode("utf-8", "replace")
    try:
        with time_limit(MATCH_SECONDS):
            holds = _search(wanted, text) if regex else wanted in text
    except re.error as error:
        return errored("InvalidPattern", f"{wanted!r} is no regular expression: {error}")
    except (TimeoutError, RecursionError, MemoryError) as error:
        return errored("PatternTooSlow", f"{wanted!r} on {path}: {error}")
    verb = "match" if regex else "contain"
    return passed() if holds else failed("NotFound", f"{path} does not {verb} {wanted!r}")


def not_a_file(path: str, kind: Kind | None, symlink_above: str | None) -> Verdict | None:
    """The verdict of file_contains where there is no regular file."""
    if kind == "file":
        return None
    if kind is None:
        return failed("PathMissing", _missing(path, symlink_above))
    followed = "; symlinks are not followed" if kind == "symlink" else ""
    return failed("NotAFile", f"{path} is a {kind}{followed}")


def _missing(path: str, symlink_above: str | None) -> str:
    why = f": {symlink_above} is a symlink, which is not followed" if symlink_above else ""
    return f"{path} does not exist{why}"


def _search(pattern: str, text: str) -> bool:
    return re.compile(pattern, re.MULTILINE).search(text) is not None


def _glob(pattern: str) -> list[re.Pattern[str]]:
    from wcmatch import glob

    included, _ = glob.translate(pattern, flags=glob.GLOBSTAR | glob.DOTGLOB)
    return [re.compile(each) for each in included]
