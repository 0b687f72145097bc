"""What vulture prints: a line for each unused piece of code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bernstein.checks.findings import MOST, Finding, NoListing, one_line
from bernstein.checks.outputs.document import relative

_LINE = re.compile(r"(.{1,4000}?):(\d{1,9}): (.{1,1000}) \(\d{1,3}% confidence\)")


def findings(output: bytes, root: str) -> Iterator[Finding]:
    """Raises NoListing."""
    for number, line in enumerate(filter(None, output.decode("utf-8", "replace").split("\n"))):
        if number >= MOST:
            raise NoListing(f"there are over {MOST} findings")
        match = _LINE.fullmatch(line)
        if match is None:
            raise NoListing(f"line {number + 1} is no finding of vulture")
        path, row, unused = match.groups()
        # The name is part of what is unused: the line of an import may hold several.
        yield Finding(relative(path, root), int(row), one_line(unused), "")
