"""Every reason has a row, and words that others have mean the same there."""

from __future__ import annotations

from bernstein.api.reasons import Reason
from bernstein.core.judging.model_reasons import POLICIES, ModelReason
from bernstein.llm.errors import ModelError

SHARED = {"ModelAuthFailed", "RateLimited", "UsageLimited", "ProviderUnavailable", "BudgetExceeded"}
"""Of an agent's session as of a question of ours: the provider said so, or no money is left."""


def test_every_reason_has_its_row_with_what_helps() -> None:
    assert set(POLICIES) == set(ModelReason)
    assert [reason for reason, row in POLICIES.items() if not row.remedy.endswith(".")] == []


def test_a_word_that_failures_of_tasks_have_too_means_the_same() -> None:
    assert {*map(str, ModelReason)} & {*map(str, Reason)} == SHARED


def test_only_what_passes_by_itself_is_tried_again() -> None:
    again = {str(reason) for reason, row in POLICIES.items() if row.again}

    assert again == {"RateLimited", "ProviderUnavailable", "ProviderUnreachable"}


def test_an_error_says_reason_text_and_what_helps() -> None:
    error = ModelError(ModelReason.MODEL_UNKNOWN, "the provider answered 404", status=404)

    assert str(error) == "ModelUnknown: the provider answered 404"
    assert error.remedy == POLICIES[ModelReason.MODEL_UNKNOWN].remedy
    assert (error.status, error.retry_after, error.again) == (404, None, False)
