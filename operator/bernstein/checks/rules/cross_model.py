"""The review of a change by models of other makers than the one that has written it.

The Project's field is `gates.crossModel`. It is none of RULES, which only read: models answer it.
"""

from __future__ import annotations

from typing import Final

from bernstein.api.vocabulary import GateCondition
from bernstein.checks.asks import Asks

NAME: Final = "cross-model"
CONDITION: Final[GateCondition] = "any_changed"
ASKS: Final = Asks(prompt="cross_model", form="cross_review")
