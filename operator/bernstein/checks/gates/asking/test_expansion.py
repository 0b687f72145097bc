"""Gate `test_expansion`: a model lists the tests that the change lacks, for its author to read."""

from __future__ import annotations

from bernstein.checks.asks import Asks
from bernstein.checks.gate import Gate

GATE = Gate(
    name="test_expansion",
    condition="python_changed",
    default_on=False,
    runs=Asks(prompt="test_expansion", form="missing_tests", advises=True),
    required=False,
)
