"""Gate `lint`: the linter finds nothing in the whole tree."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate
from bernstein.checks.linter_files import LINTER_FILES

GATE = Gate(
    name="lint",
    condition="always",
    default_on=True,
    # With an ignore file the agent could hide its files from the linter, and in folders with names
    # that ruff passes over by itself: so what is passed over is said here.
    runs=Command(
        "ruff check --no-cache --no-respect-gitignore --exclude .git .",
        pinned=LINTER_FILES,
        by_file=True,
    ),
)
