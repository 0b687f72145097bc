"""Gate `review_rubric`: a model rates the change from five sides, and it is good enough."""

from __future__ import annotations

from bernstein.checks.asks import Asks
from bernstein.checks.gate import Gate

GATE = Gate(
    name="review_rubric",
    condition="python_changed",
    default_on=False,
    runs=Asks(prompt="review_rubric", form="rubric", least=6.0),
)
