"""What a change touches, as the conditions of gates ask for it: Python, tests, dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bernstein.api.pod import Changed

_PYTHON = (".py", ".pyi")
_TEST_FOLDERS = {"test", "tests", "__tests__", "spec"}
_TEST_FILE = re.compile(
    r"test_.*\.pyi?|.*_test\.(pyi?|go|rb|rs|c|cc|cpp)|conftest\.py"
    r"|.*[._-](test|spec)\.[cm]?[jt]sx?|.*(Test|Tests|IT)\.(java|kt|cs|scala)|.*_spec\.rb"
)
_DEPENDENCY_FILE = re.compile(
    r"requirements([._-].*)?\.(txt|in|lock)|constraints([._-].*)?\.txt|.*-requirements\.txt"
    r"|pyproject\.toml|setup\.(py|cfg)|Pipfile(\.lock)?|poetry\.lock|uv\.lock|pdm\.lock"
    r"|pylock(\..*)?\.toml|environment\.ya?ml|conda-lock\.yml"
    r"|package\.json|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?"
    r"|go\.(mod|sum|work)|Cargo\.(toml|lock)|Gemfile(\.lock)?|.*\.gemspec|composer\.(json|lock)"
    r"|pom\.xml|build\.gradle(\.kts)?|gradle\.lockfile|libs\.versions\.toml"
    r"|.*\.csproj|packages\.lock\.json|mix\.(exs|lock)|Package\.(swift|resolved)"
)
_DEPENDENCY_FOLDERS = {"requirements"}


def changed_from_paths(paths: Iterable[str | bytes]) -> Changed:
    """Facts about the paths that were added, edited or deleted, relative to the repository."""
    count = 0
    python = tests = deps = False
    for path in paths:
        parts = _text(path).split("/")
        count += 1
        python = python or parts[-1].endswith(_PYTHON)
        tests = tests or _is_test(parts)
        deps = deps or _is_dependency(parts)
    return Changed(files=count, python=python, tests=tests, deps=deps)


def _text(path: str | bytes) -> str:
    return path if isinstance(path, str) else path.decode("utf-8", "surrogateescape")


def _is_test(parts: list[str]) -> bool:
    in_folder = any(part.lower() in _TEST_FOLDERS for part in parts[:-1])
    return in_folder or _TEST_FILE.fullmatch(parts[-1]) is not None


def _is_dependency(parts: list[str]) -> bool:
    listed = parts[-1].endswith((".txt", ".in")) and bool(_DEPENDENCY_FOLDERS & set(parts[:-1]))
    return listed or _DEPENDENCY_FILE.fullmatch(parts[-1]) is not None
