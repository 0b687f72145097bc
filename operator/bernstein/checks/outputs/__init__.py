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
    bandit,
    benchmark,
    coverage,
    imports,
    pyright,
    radon,
    ruff,
    vulture,
)

Reader: TypeAlias = Callable[[bytes, str], Iterable[Finding]]

FINDINGS: Mapping[str, Reader] = {
    "ruff": ruff.findings,
    "pyright": pyright.findings,
    "bandit": bandit.findings,
    "vulture": vulture.findings,
    "imports": imports.findings,
}
MEASURES: Mapping[str, Scale] = {
    "radon": radon.SCALE,
    "coverage": coverage.SCALE,
    "benchmark": benchmark.SCALE,
}
