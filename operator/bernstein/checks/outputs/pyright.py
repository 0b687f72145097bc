"""`pyright --outputjson`, a report of each call.

Errors count; warnings are what a Project chose not to fail for.
"""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.checks.findings import Finding, NoListing, one_line
from bernstein.checks.outputs.document import documents, relative, report_of


def findings(output: bytes, root: str) -> Iterator[Finding]:
    """Raises NoListing."""
    reports = documents(output)
    if not reports:
        raise NoListing("there is no report of pyright")
    with report_of("pyright"):
        for report in reports:
            for each in report["generalDiagnostics"]:
                if each["severity"] == "error":
                    line = int(each["range"]["start"]["line"]) + 1 if "range" in each else 0
                    rule = str(each.get("rule") or "error")
                    yield Finding(
                        relative(each["file"], root), line, rule, one_line(each["message"])
                    )
