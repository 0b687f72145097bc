"""Gate `comment_quality`: tells of new classes and functions that nobody documents."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate
from bernstein.checks.python_files import TESTS, WINDOWS

_WHERE = "--no-cache --no-respect-gitignore --exclude .git"
_TESTS = ",".join(f"{pattern}:D" for pattern in TESTS)
# Public classes, methods and functions have docstrings that are not empty, and tell of either all
# arguments or none. What tests do is in their names.
_RUFF = (
    f"ruff check --isolated --ignore-noqa {_WHERE} --select D101,D102,D103,D417,D419"
    f" --per-file-ignores '{_TESTS}' --exit-zero --output-format json-lines"
)

GATE = Gate(
    name="comment_quality",
    condition="python_changed",
    default_on=False,
    runs=Command(
        f"{_RUFF} . && {WINDOWS} {_RUFF} {{}} +",
        against_base=True,
        by_file=True,
    ),
    required=False,
)
