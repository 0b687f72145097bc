"""The review of a change by models of other makers than the one that has written it.

It is asked for by a field of the Project, `gates.crossModel`, and told as gates are. No gate of a
Project can have its name, which holds a hyphen.
"""

from __future__ import annotations

from typing import Final

from bernstein.api.vocabulary import GateCondition
from bernstein.checks.asks import Asks

NAME: Final = "cross-model"
CONDITION: Final[GateCondition] = "any_changed"
ASKS: Final = Asks(prompt="cross_model", form="cross_review")
