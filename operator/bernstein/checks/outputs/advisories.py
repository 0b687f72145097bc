"""What `bernstein.checks.tools.advisories` prints: known weaknesses of pinned dependencies."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.api.reasons import VerdictReason
from bernstein.checks.findings import Finding, Unanswered, one_line
from bernstein.checks.outputs.document import document, report_of

_REMEDY = (
    "let the checks of the Project connect to it (network.checks), or name one that they reach in "
    "the gate's 'database'"
)


def findings(output: bytes, _root: str) -> Iterator[Finding]:
    """One is known by its package and its name, in whatever version and file. Raises NoListing, and
    Unanswered where the database could not be asked."""
    report = document(output)
    with report_of("the program that asks for weaknesses"):
        if "silent" in report:
            said = one_line(report["silent"])
            if report["denied"]:
                text = f"the database of weaknesses cannot be reached; {_REMEDY}"
                raise Unanswered(VerdictReason.NETWORK_DENIED, text, said)
            text = "the database of weaknesses was not asked to the end"
            raise Unanswered(VerdictReason.NO_VERDICT, text, said)
        for each in report["found"]:
            fixed = ", ".join(map(str, each["fixed"])) or "no version yet"
            text = f"{each['version']} of {each['path']}: {each['severity']}, fixed in {fixed}"
            yield Finding(str(each["package"]), 0, str(each["id"]), one_line(text))
