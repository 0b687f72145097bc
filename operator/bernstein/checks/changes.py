"""What a change touches, as the conditions of gates ask for it: Python, tests, dependencies."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence

from bernstein.api.pod import Changed

_PYTHON = (".py", ".pyi", ".pyw")
_TEST_FOLDERS = {"test", "tests", "__tests__", "spec"}
_TEST_FILE = re.compile(
    r"test_.*\.py[iw]?|.*_test\.(py[iw]?|go|rb|rs|c|cc|cpp)|conftest\.py"
    r"|.*[._-](test|spec)\.[cm]?[jt]sx?|.*(Test|Tests|IT)\.(java|kt|cs|scala)|.*_spec\.rb"
)
_DEPENDENCY_FILE = re.compile(
    r"requirements([._-].*)?\.(txt|in|lock)|constraints([._-].*)?\.txt|.*-requirements\.(txt|lock)"
    r"|pyproject\.toml|setup\.(py|cfg)|Pipfile(\.lock)?|poetry\.lock|uv\.lock|pdm\.lock"
    r"|pylock(\..*)?\.toml|environment\.ya?ml|conda-lock\.yml"
    r"|package\.json|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?"
    r"|go\.(mod|sum|work)|Cargo\.(toml|lock)|Gemfile(\.lock)?|.*\.gemspec|composer\.(json|lock)"
    r"|pom\.xml|build\.gradle(\.kts)?|gradle\.lockfile|libs\.versions\.toml"
    r"|.*\.csproj|packages\.lock\.json|mix\.(exs|lock)|Package\.(swift|resolved)",
    re.IGNORECASE,
)
_DEPENDENCY_FOLDERS = {"requirements"}
MOST_PROTECTED = 4
"""Protected paths that are named; of all others their number is told."""
_SHOWN = 100
"""Characters of a path."""


def changed_from_paths(
    paths: Iterable[str | bytes], protected: Sequence[str] | None = None
) -> Changed:
    """Facts about the paths that were added, edited or deleted, relative to the repository.

    `protected`: the Project's protected paths; None where nobody knows them.
    """
    count = guarded = 0
    guard, found = Protected(protected or ()), list[str]()
    python = tests = deps = False
    for path in paths:
        text = _text(path)
        parts = text.split("/")
        if guard.holds(text):
            guarded += 1
            if len(found) < MOST_PROTECTED:
                found.append(shown_path(text))
        count += 1
        python = python or parts[-1].endswith(_PYTHON)
        tests = tests or _is_test(parts)
        deps = deps or _is_dependency(parts)
    known = "" if protected is None else digest_of(protected)
    first, *more = found or [""]
    return Changed(
        count,
        python,
        tests,
        deps,
        protected=first,
        protected_by=known,
        protected_more=tuple(more),
        protected_files=guarded,
    )


class Protected:
    """Protected paths: a folder with all below it, or a file. A single name is meant anywhere, a
    path with a `/`, be it the first character, from the root of the repository. Case makes no
    difference."""

    def __init__(self, paths: Iterable[str]) -> None:
        lower = [path.lower().rstrip("/") for path in paths]
        self._names = {path for path in lower if "/" not in path}
        self._paths = {path.strip("/") for path in lower if "/" in path}

    def holds(self, path: str) -> bool:
        """Whether a change of this path is one of what is protected."""
        parts = path.lower().split("/")
        if not self._names.isdisjoint(parts):
            return True
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        return any(each in self._paths for each in above)


def digest_of(protected: Iterable[str]) -> str:
    """Names the list, in whatever order."""
    text = json.dumps(sorted(set(protected)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def shown_path(path: str | bytes) -> str:
    """As much of the path as a status has room for, in characters that every reader sees."""
    ascii_only = _text(path)[:_SHOWN].encode("ascii", "replace").decode()
    return "".join(char if char.isprintable() else "?" for char in ascii_only)


def is_test(path: str | bytes) -> bool:
    """Whether it is a test, or lies beside tests."""
    return _is_test(_text(path).split("/"))


def is_dependency(path: str) -> bool:
    """Whether it lists what the code depends on."""
    return _is_dependency(path.split("/"))


def _text(path: str | bytes) -> str:
    return path if isinstance(path, str) else path.decode("utf-8", "surrogateescape")


def _is_test(parts: list[str]) -> bool:
    in_folder = any(part.lower() in _TEST_FOLDERS for part in parts[:-1])
    return in_folder or _TEST_FILE.fullmatch(parts[-1]) is not None


def _is_dependency(parts: list[str]) -> bool:
    above = {part.lower() for part in parts[:-1]}
    listed = parts[-1].lower().endswith((".txt", ".in")) and bool(_DEPENDENCY_FOLDERS & above)
    return listed or _DEPENDENCY_FILE.fullmatch(parts[-1]) is not None
