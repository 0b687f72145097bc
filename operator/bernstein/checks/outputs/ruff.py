"""`ruff check --output-format json-lines`: one finding on each line."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

from bernstein.checks.findings import Finding, listed


def findings(output: bytes, root: str) -> Iterator[Finding]:
    """Raises NoListing."""
    return listed(BytesIO(output), root)  # line by line: there may be very many
