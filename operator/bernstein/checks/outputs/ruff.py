"""`ruff check --output-format json-lines`: one finding on each line."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.checks.findings import Finding, lines_of, listed


def findings(output: bytes, root: str) -> Iterator[Finding]:
    """Raises NoListing."""
    return listed(lines_of(output), root)
