"""How much one piece of work, such as the judging of a Task, may use of models.

Before each request the most that it can use is set aside, so that the limits hold whatever a
provider does; afterwards it counts with what it has used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from bernstein.api.pod import Usage
from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm.errors import ModelError
from bernstein.llm.usage import plus

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Limits of all requests together."""

    requests: int = 32
    """Sent, with those that are sent again."""
    input_tokens: int = 1_000_000
    """With those from and to a cache."""
    output_tokens: int = 50_000


@dataclass(frozen=True, slots=True)
class Rate:
    """US dollars for a million tokens of one model, at most."""

    input: Decimal
    """Of any kind of those that it reads."""
    output: Decimal


@dataclass(frozen=True, slots=True)
class Purse:
    """US dollars that all requests together may cost. A model without a rate costs nothing here, as
    it does in every sum."""

    dollars: Decimal
    rates: Mapping[str, Rate]

    def cost(self, model: str, usage: Usage) -> Decimal:
        rate = self.rates.get(model)
        if rate is None:
            return Decimal(0)
        return (_input(usage) * rate.input + usage.output * rate.output) / _MILLION


class Allowance:
    """Counts requests, tokens and money up to a ceiling; of one event loop."""

    def __init__(self, ceiling: Ceiling, purse: Purse | None = None) -> None:
        self._ceiling = ceiling
        self._purse = purse
        self._dollars = Decimal(0)
        """Spent, and set aside."""
        self._requests = 0
        self._used: dict[str, Usage] = {}
        self._aside: list[Usage] = []
        self._exact = True

    @property
    def used(self) -> Mapping[str, Usage]:
        """Tokens so far, by the model that was asked."""
        return dict(self._used)

    @property
    def exact(self) -> bool:
        """False: of some request only the most is known that it can have used."""
        return self._exact

    @property
    def requests(self) -> int:
        """Requests so far."""
        return self._requests

    def set_aside(self, most: Usage, model: str = "") -> None:
        """For one more request. Raises ModelError(BudgetExceeded) where it may cost too much, and
        ModelError(ModelBudgetSpent) where it is too much otherwise."""
        total = most
        cost = self._cost(model, most)
        if self._purse is not None and self._dollars + cost > self._purse.dollars:
            left = max(self._purse.dollars - self._dollars, Decimal(0))
            text = f"one more request may cost ${cost:.4f}, and ${left:.4f} are left of the budget"
            raise ModelError(ModelReason.BUDGET_EXCEEDED, text)
        for usage in (*self._used.values(), *self._aside):
            total = plus(total, usage)
        for what, needed, allowed in (
            ("requests", self._requests + 1, self._ceiling.requests),
            ("tokens of questions", _input(total), self._ceiling.input_tokens),
            ("tokens of answers", total.output, self._ceiling.output_tokens),
        ):
            if needed > allowed:
                text = f"one more request may need {needed:,} {what}, and {allowed:,} are allowed"
                raise ModelError(ModelReason.MODEL_BUDGET_SPENT, text)
        self._requests += 1
        self._dollars += cost
        self._aside.append(most)

    def settle(self, model: str, most: Usage, used: Usage, *, exact: bool) -> None:
        """The request for which `most` was set aside has used so much."""
        self._aside.remove(most)
        self._dollars += self._cost(model, used) - self._cost(model, most)
        if used != Usage():
            self._used[model] = plus(self._used.get(model, Usage()), used)
        self._exact = self._exact and exact

    def _cost(self, model: str, usage: Usage) -> Decimal:
        return self._purse.cost(model, usage) if self._purse is not None else Decimal(0)


def _input(usage: Usage) -> int:
    return usage.input + usage.cache_read + usage.cache_write
