"""Gate `lint`: the linter finds nothing in the whole tree, or nothing that its base lacks."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate
from bernstein.checks.linter_files import LINTER_FILES

_RUFF = "ruff check --no-cache --no-respect-gitignore --exclude .git"

GATE = Gate(
    name="lint",
    condition="always",
    default_on=True,
    # With an ignore file the agent could hide its files from the linter, and in folders with names
    # that ruff passes over by itself: so what is passed over is said here.
    runs=Command(
        f"{_RUFF} .",
        pinned=LINTER_FILES,
        findings=f"{_RUFF} --exit-zero --output-format json-lines .",
        by_file=True,
    ),
)
