"""What tokens cost: prices of models, and sums of usage."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from bernstein.api.meta import UsageCounts
from bernstein.api.money import MOST_DOLLARS
from bernstein.api.prices import built_in
from bernstein.api.project import CopiedPrice, Price
from bernstein.core.money.plausible import MOST_TOKENS

NOTHING = UsageCounts()
_MILLION = Decimal(1_000_000)
_CENT_OF_A_CENT = Decimal("0.0001")
_MOST = MOST_DOLLARS + 1 - _CENT_OF_A_CENT
"""What a status can hold; a sum that would be more stays there."""


def price_of(model: str, overrides: Iterable[Price] = ()) -> Price | None:
    """The Project's price before the built-in one; in each, that of the longest matching prefix."""
    for table in (tuple(overrides), built_in()):
        matching = [price for price in table if model.startswith(price.model)]
        if matching:
            return max(matching, key=lambda price: len(price.model))
    return None


def cost(usage: UsageCounts, price: CopiedPrice) -> Decimal:
    """US dollars of these tokens."""
    return (
        usage.input * Decimal(price.input)
        + usage.output * Decimal(price.output)
        + usage.cache_read * Decimal(price.cache_read)
        + usage.cache_write * Decimal(price.cache_write)
    ) / _MILLION


def money(amount: Decimal) -> str:
    """A decimal string with at most four decimal places, as statuses carry it; at most _MOST."""
    rounded = min(amount, _MOST).quantize(_CENT_OF_A_CENT).normalize()
    return format(rounded, "f") if rounded else "0"


def add(left: UsageCounts, right: UsageCounts) -> UsageCounts:
    """The tokens of both, of each kind at most MOST_TOKENS."""
    return total((left, right))


def total(counts: Iterable[UsageCounts]) -> UsageCounts:
    """The tokens of all, of each kind at most MOST_TOKENS."""
    some = [usage for usage in counts if usage != NOTHING]
    return UsageCounts(
        input=min(sum(usage.input for usage in some), MOST_TOKENS),
        output=min(sum(usage.output for usage in some), MOST_TOKENS),
        cache_read=min(sum(usage.cache_read for usage in some), MOST_TOKENS),
        cache_write=min(sum(usage.cache_write for usage in some), MOST_TOKENS),
    )
