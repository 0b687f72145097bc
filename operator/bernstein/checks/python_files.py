"""Files of Python that tools pass over, and files of tests, as they are called."""

from __future__ import annotations

WINDOWS = "find . -name .git -prune -o -name '*.pyw' ! -type d -exec"
"""Begins a command of a shell that runs a tool on programs with windows, which ruff does not look
for by itself; the tool follows, then `{} +`."""

TESTS = ("**/test/**", "**/tests/**", "**/test_*.py*", "**/*_test.py*", "**/conftest.py")
"""Of Python, as the conditions of gates know them."""
