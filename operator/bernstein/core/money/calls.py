"""What questions to models have cost that our own programs asked.

Nobody but us has counted their tokens, so the sum is computed: tokens times the price of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from bernstein.api.meta import UsageCounts
from bernstein.api.money import CallSource, SpendSource
from bernstein.api.project import Price
from bernstein.api.task import TaskStatus
from bernstein.api.verification import ModelCalls
from bernstein.core.money.pricing import add, cost, money, price_of


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
    prices = {model: price_of_calls(model, table) for model in used}
    total = sum(
        (cost(used[model], price) for model, price in prices.items() if price is not None),
        Decimal(0),
    )
    return CallCost(total, "Unpriced" if None in prices.values() else "Computed")


def price_of_calls(model: str, overrides: tuple[Price, ...]) -> Price | None:
    """Of a model that our own programs ask; None: nobody knows it.

    By the whole name, else without the vendor that brokers put before it: `google/gemini-…`.
    """
    return price_of(model, overrides) or price_of(model.rpartition("/")[2], overrides)


def charged(status: TaskStatus, prices: Iterable[Price] = ()) -> TaskStatus:
    """The status of a Task whose sums have what was used of models for its verification.

    What says its source is in them: so each counts once, whatever crashes.
    """
    judged = status.verification
    if judged is None or all(call.source is not None for call in judged.calls or ()):
        return status
    table, calls, models = tuple(prices), [], Decimal(status.models_usd or 0)
    spent, usage, source = Decimal(status.spend_usd), status.usage, status.spend_source
    for call in judged.calls or ():
        if call.source is None:
            call = _priced(call, table)
            spent += Decimal(call.spend_usd)
            models += Decimal(call.spend_usd)
            usage, source = add(usage, call.usage), _source(source, call.source)
        calls.append(call)
    sums = {"spend_usd": money(spent), "usage": usage, "spend_source": source}
    judged = judged.model_copy(update={"calls": tuple(calls)})
    update = {**sums, "models_usd": money(models), "verification": judged}
    return status.model_copy(update=update)


def _priced(call: ModelCalls, table: tuple[Price, ...]) -> ModelCalls:
    found = cost_of_calls({call.model: call.usage}, table) or CallCost(Decimal(0), "Computed")
    return call.model_copy(update={"spend_usd": money(found.usd), "source": found.source})


def _source(before: SpendSource | None, of_call: CallSource | None) -> SpendSource | None:
    """How the whole is known: what is not known of a part stays so."""
    if before == "Unreported" or of_call is None:
        return before
    return "Unpriced" if of_call == "Unpriced" else before or "Computed"
