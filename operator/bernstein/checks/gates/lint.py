"""Gate `lint`: the linter finds nothing in the whole tree."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate

LINTER_FILES = (
    "ruff.toml",
    ".ruff.toml",
    "pyproject.toml",
    "setup.cfg",
    ".flake8",
    ".eslintrc.json",
    ".eslintignore",
    ".gitignore",
    ".ignore",
)
"""Files that configure a linter, or say what it ignores: they are taken from the pinned commit."""

GATE = Gate(
    name="lint",
    condition="always",
    default_on=True,
    # With an ignore file the agent could hide its files from the linter.
    runs=Command("ruff check --no-cache --no-respect-gitignore .", pinned=LINTER_FILES),
)
