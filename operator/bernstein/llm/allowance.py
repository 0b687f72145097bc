"""How much one piece of work, such as the judging of a Task, may use of models.

Before each request the most that it can use is set aside, so that the limits hold whatever a
provider does; afterwards it counts with what it has used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bernstein.api.pod import Usage
from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm.errors import ModelError
from bernstein.llm.usage import plus


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Limits of all requests together."""

    requests: int = 32
    """Sent, with those that are sent again."""
    input_tokens: int = 1_000_000
    """With those from and to a cache."""
    output_tokens: int = 50_000


class Allowance:
    """Counts requests and tokens up to a ceiling; of one event loop."""

    def __init__(self, ceiling: Ceiling) -> None:
        self._ceiling = ceiling
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

    def set_aside(self, most: Usage) -> None:
        """For one more request. Raises ModelError(ModelBudgetSpent) where that is too much."""
        total = most
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
        self._aside.append(most)

    def settle(self, model: str, most: Usage, used: Usage, *, exact: bool) -> None:
        """The request for which `most` was set aside has used so much."""
        self._aside.remove(most)
        if used != Usage():
            self._used[model] = plus(self._used.get(model, Usage()), used)
        self._exact = self._exact and exact


def _input(usage: Usage) -> int:
    return usage.input + usage.cache_read + usage.cache_write
