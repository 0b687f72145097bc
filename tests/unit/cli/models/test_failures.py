"""What a person can do where a model gave no answer."""

from __future__ import annotations

import pytest

from bernstein.cli.models.choice import choose
from bernstein.cli.models.failures import REMEDIES, explained
from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm.errors import ModelError

CHOICE = choose("anthropic", None, None, None, {"ANTHROPIC_API_KEY": "sk-0123456789abcdef"})


@pytest.mark.parametrize("reason", ModelReason)
def test_every_reason_has_a_remedy_for_who_has_neither_secrets_nor_projects(
    reason: ModelReason,
) -> None:
    error = explained(ModelError(reason, "what happened"), CHOICE)

    assert (error.reason, error.code) == (reason.value, 1)
    assert error.remedy == REMEDIES[reason]
    assert not {"Secret", "Project", "baseUrl", "pods"} & {*error.remedy.split()}


def test_the_providers_own_words_and_the_time_it_asks_for_are_told() -> None:
    limited = ModelError(
        ModelReason.RATE_LIMITED, "the provider answered 429", said="slow down", retry_after=61.4
    )

    assert explained(limited, CHOICE).message == (
        "claude-haiku-4-5 (anthropic) gave no plan: the provider answered 429: slow down "
        "(it asks to wait 61 s)"
    )
