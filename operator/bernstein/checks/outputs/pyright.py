"""`pyright --outputjson`: errors; warnings are what a Project chose not to fail for."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.checks.findings import Finding, one_line
from bernstein.checks.outputs.document import document, relative, report_of


def findings(output: bytes, root: str) -> Iterator[Finding]:
    """Raises NoListing."""
    report = document(output)
    with report_of("pyright"):
        for each in report["generalDiagnostics"]:
            if each["severity"] == "error":
                line = int(each["range"]["start"]["line"]) + 1 if "range" in each else 0
                rule = str(each.get("rule") or "error")
                yield Finding(relative(each["file"], root), line, rule, one_line(each["message"]))
