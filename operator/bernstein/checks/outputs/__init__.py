"""What tools print: a file for each form, and here all of them by name.

A form gives findings, of which those count that the base lacks, or measures, of which those count
that are worse than in the base. Every reader raises NoListing for what is not in its form, and gets
the folder in which the tool ran: paths may begin with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from bernstein.checks.findings import Finding
from bernstein.checks.measures import Scale
from bernstein.checks.outputs import (
    advisories,
    bandit,
    benchmark,
    coverage,
    imports,
    pyright,
    radon,
    ruff,
    vulture,
)
from bernstein.checks.renames import Content

IMPORTS = "imports"
Reader: TypeAlias = Callable[[bytes, str], Iterable[Finding]]

FINDINGS: Mapping[str, Reader] = {
    "ruff": ruff.findings,
    "pyright": pyright.findings,
    "bandit": bandit.findings,
    "vulture": vulture.findings,
    "advisories": advisories.findings,
    IMPORTS: imports.findings,
}
MEASURES: Mapping[str, Scale] = {
    "radon": radon.SCALE,
    "coverage": coverage.SCALE,
    "benchmark": benchmark.SCALE,
}


def findings_in(form: str, output: bytes, root: str, content: Content) -> Iterable[Finding]:
    """The findings in what a tool printed. `content`: what the tree has at a path; for forms that
    do not tell all that counts. Raises NoListing."""
    if form == IMPORTS:
        return imports.findings(output, root, content)
    return FINDINGS[form](output, root)
