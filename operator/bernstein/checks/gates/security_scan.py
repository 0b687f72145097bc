"""Gate `security_scan`: the work brings no dangerous code that the scanner knows."""

from __future__ import annotations

from bernstein.api.vocabulary import Severity
from bernstein.checks.gate import Command, Gate


def _bandit(severity: Severity) -> Command:
    # No configuration of the repository counts, and no comment that excuses a line: whatever the
    # base has is known, so only new code has to do without.
    flags = "--ini /dev/null --ignore-nosec --exclude ./.git/ --exit-zero"
    return Command(
        f"bandit -r . -q -f json {flags} --severity-level {severity}",
        output="bandit",
        against_base=True,
        of_severity=_bandit,
        by_file=True,
    )


GATE = Gate(
    name="security_scan",
    condition="python_changed",
    default_on=False,
    runs=_bandit("high"),
)
