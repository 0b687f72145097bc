"""Gate `dep_audit`: the work pins no dependency with a severe weakness that is known."""

from __future__ import annotations

from bernstein.api.vocabulary import Severity
from bernstein.checks.gate import Command, Gate


def _audit(severity: Severity) -> Command:
    return Command(
        f'python3 -I "$TOOLS/advisories.py" {severity}',
        output="advisories",
        against_base=True,
        tool="advisories",
        of_severity=_audit,
        database="PIP_AUDIT_OSV_URL",
    )


GATE = Gate(
    name="dep_audit",
    condition="deps_changed",
    default_on=False,
    runs=_audit("high"),
    lasts=False,  # a weakness is known today that was not yesterday
)
