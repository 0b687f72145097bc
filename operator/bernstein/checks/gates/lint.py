"""Gate `lint`: the linter finds nothing in the whole tree, or nothing that its base lacks."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate
from bernstein.checks.linter_files import LINTER_FILES
from bernstein.checks.python_files import WINDOWS

_RUFF = "ruff check --no-cache --no-respect-gitignore --exclude .git"
_LISTS = "--exit-zero --output-format json-lines"

GATE = Gate(
    name="lint",
    condition="always",
    default_on=True,
    # With an ignore file the agent could hide its files from the linter, and in folders with names
    # that ruff passes over by itself: so what is passed over is said here.
    runs=Command(
        f"{_RUFF} . && {WINDOWS} {_RUFF} --force-exclude {{}} +",
        pinned=LINTER_FILES,
        findings=f"{_RUFF} {_LISTS} . && {WINDOWS} {_RUFF} --force-exclude {_LISTS} {{}} +",
        by_file=True,
    ),
)
