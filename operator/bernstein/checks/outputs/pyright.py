"""`pyright --outputjson`: errors; warnings are what a Project chose not to fail for."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.checks.findings import UNREADABLE, Finding, NoListing, said
from bernstein.checks.outputs.document import document, relative


def findings(output: bytes, root: str) -> Iterator[Finding]:
    """Raises NoListing."""
    report = document(output)
    try:
        for each in report["generalDiagnostics"]:
            if each["severity"] == "error":
                line = int(each["range"]["start"]["line"]) + 1 if "range" in each else 0
                rule = str(each.get("rule") or "error")
                yield Finding(relative(each["file"], root), line, rule, said(each["message"]))
    except UNREADABLE as error:
        raise NoListing("it is no report of pyright") from error
