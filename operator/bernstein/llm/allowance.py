"""How much one piece of work, such as the judging of a Task, may use of models.

    fits with the most that it can use ─▶ it is asked, beside the others
    it would, without the others ───────▶ it waits until they have told what they have used
    nobody else is asked ───────────────▶ it is asked if it will likely cost no more than is left
    else ───────────────────────────────▶ it is refused

Before each request the most that it can use is set aside; afterwards it counts with what it has
used. So tokens and requests stay within their limits whatever a provider does. Money does, but for
what one single request may cost more than was likely: the most that it can be, a token for each
byte, is several times of what is used, and would refuse what there is money for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
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
        """Spent."""
        self._requests = 0
        self._used: dict[str, Usage] = {}
        self._aside: list[tuple[str, Usage]] = []
        """For requests under way: the model, and the most that it can use."""
        self._settled = asyncio.Event()
        """That of the next one that tells what it has used."""
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

    async def set_aside(self, most: Usage, model: str = "", likely: Usage | None = None) -> None:
        """For one more request, once there is room for it; `likely`: what it will use, None: the
        most that it can.

        Raises ModelError(BudgetExceeded) where it may cost too much, and
        ModelError(ModelBudgetSpent) where it is too much otherwise.
        """
        while True:
            refusal = self._refusal(model, most, likely or most, ())
            if refusal is not None:
                raise refusal
            if not self._aside or self._refusal(model, most, most, self._aside) is None:
                break
            await self._settled.wait()
        self._requests += 1
        self._aside.append((model, most))

    def settle(self, model: str, most: Usage, used: Usage, *, exact: bool) -> None:
        """The request for which `most` was set aside has used so much."""
        self._aside.remove((model, most))
        self._dollars += self._cost(model, used)
        if used != Usage():
            self._used[model] = plus(self._used.get(model, Usage()), used)
        self._exact = self._exact and exact
        self._settled.set()
        self._settled = asyncio.Event()

    def _refusal(
        self, model: str, most: Usage, priced: Usage, beside: Sequence[tuple[str, Usage]]
    ) -> ModelError | None:
        """Why the request does not fit beside these; None: it does. It costs what `priced` does."""
        cost = self._cost(model, priced)
        if self._purse is not None:
            spent = self._dollars + sum(self._cost(*each) for each in beside)
            left = max(self._purse.dollars - spent, Decimal(0))
            if cost > left:
                text = f"one more request may cost ${cost:.4f}, and ${left:.4f} are left"
                return ModelError(ModelReason.BUDGET_EXCEEDED, f"{text} of the budget")
        total = most
        for usage in (*self._used.values(), *(usage for _, usage in beside)):
            total = plus(total, usage)
        for what, needed, allowed in (
            ("requests", self._requests + 1, self._ceiling.requests),
            ("tokens of questions", _input(total), self._ceiling.input_tokens),
            ("tokens of answers", total.output, self._ceiling.output_tokens),
        ):
            if needed > allowed:
                text = f"one more request may need {needed:,} {what}, and {allowed:,} are allowed"
                return ModelError(ModelReason.MODEL_BUDGET_SPENT, text)
        return None

    def _cost(self, model: str, usage: Usage) -> Decimal:
        return self._purse.cost(model, usage) if self._purse is not None else Decimal(0)


def _input(usage: Usage) -> int:
    return usage.input + usage.cache_read + usage.cache_write
