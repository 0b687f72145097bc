"""`bandit --format json`: results, and files that it could not read, which may hold anything."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.checks.findings import Finding, one_line
from bernstein.checks.outputs.document import document, relative, report_of


def findings(output: bytes, root: str) -> Iterator[Finding]:
    """Raises NoListing."""
    report = document(output)
    with report_of("bandit"):
        for each in report["results"]:
            path, line = relative(each["filename"], root), int(each["line_number"])
            yield Finding(path, line, str(each["test_id"]), one_line(each["issue_text"]))
        for each in report["errors"]:
            yield Finding(relative(each["filename"], root), 0, "unread", one_line(each["reason"]))
