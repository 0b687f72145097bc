"""What questions to models have cost that our own programs asked.

Nobody but us has counted their tokens, so the sum is computed: tokens times the price of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from bernstein.api.meta import UsageCounts
from bernstein.api.project import Price
from bernstein.core.money.pricing import cost, price_of

CallSource = Literal["Computed", "Unpriced"]


@dataclass(frozen=True, slots=True)
class CallCost:
    usd: Decimal
    source: CallSource
    """Unpriced: of some model there is no price, and its tokens are not in the sum."""


def cost_of_calls(
    usage: Mapping[str, UsageCounts], overrides: Iterable[Price] = ()
) -> CallCost | None:
    """US dollars of the tokens of each model; None: no tokens were used.

    `overrides` are the Project's prices, which count before the built-in ones.
    """
    table = tuple(overrides)
    used = {model: tokens for model, tokens in usage.items() if tokens != UsageCounts()}
    if not used:
        return None
    prices = {model: _price(model, table) for model in used}
    total = sum(
        (cost(used[model], price) for model, price in prices.items() if price is not None),
        Decimal(0),
    )
    return CallCost(total, "Unpriced" if None in prices.values() else "Computed")


def _price(model: str, overrides: tuple[Price, ...]) -> Price | None:
    """By the whole name, else without the vendor that brokers put before it: `google/gemini-…`."""
    return price_of(model, overrides) or price_of(model.rpartition("/")[2], overrides)
