"""What vulture prints: a line for each unused piece of code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bernstein.checks.findings import Finding, NoListing, lines_of, one_line
from bernstein.checks.outputs.document import relative

_LINE = re.compile(r"(.{1,4000}?):(\d{1,9}): (.{1,1000}) \(\d{1,3}% confidence\)")


def findings(output: bytes, root: str) -> Iterator[Finding]:
    """Raises NoListing."""
    for number, line in enumerate(filter(None, lines_of(output))):
        match = _LINE.fullmatch(line.decode("utf-8", "replace"))
        if match is None:
            raise NoListing(f"line {number + 1} is no finding of vulture")
        path, row, unused = match.groups()
        # The name is part of what is unused: the line of an import may hold several.
        yield Finding(relative(path, root), int(row), one_line(unused), "")
