"""Gate `intent_verification`: a model says that the change is what its step asks for."""

from __future__ import annotations

from bernstein.checks.asks import Asks
from bernstein.checks.gate import Gate

GATE = Gate(
    name="intent_verification",
    condition="any_changed",
    default_on=False,
    runs=Asks(prompt="intent_verification", form="intent", may_only_tell=True),
)
