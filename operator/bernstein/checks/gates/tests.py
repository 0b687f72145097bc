"""Gate `tests`: the repository's tests pass."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate

GATE = Gate(
    name="tests",
    condition="python_changed",
    default_on=False,
    runs=Command("python3 -m pytest -q -p no:cacheprovider"),
)
