"""Why a model gave no answer that can be used: stable words, and what follows from each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from bernstein.api.programs.remote import Policy


class ModelReason(StrEnum):
    MODEL_AUTH_FAILED = "ModelAuthFailed"
    """The provider refuses the key."""
    MODEL_KEY_UNREADABLE = "ModelKeyUnreadable"
    """The file of the key is not there, or holds no key."""
    MODEL_ADDRESS_INVALID = "ModelAddressInvalid"
    """The address is none of a provider's API, or would send the key in clear text."""
    MODEL_UNKNOWN = "ModelUnknown"
    """The provider has no such model, or not for this key."""
    MODEL_REFUSED = "ModelRefused"
    """The model, or a filter before it, declined to answer."""
    RATE_LIMITED = "RateLimited"
    """The provider limits the rate of requests."""
    USAGE_LIMITED = "UsageLimited"
    """An allowance of the provider's is used up."""
    PROVIDER_UNAVAILABLE = "ProviderUnavailable"
    """The provider is overloaded, or answers with a server error."""
    PROVIDER_UNREACHABLE = "ProviderUnreachable"
    """There is no connection to the provider, or it broke."""
    PROVIDER_UNTRUSTED = "ProviderUntrusted"
    """Nobody whom we trust has signed the provider's certificate."""
    MODEL_TIMEOUT = "ModelTimeout"
    """The answer was not there in time."""
    PROMPT_TOO_LARGE = "PromptTooLarge"
    """The question is longer than we send, or than the model reads."""
    REQUEST_REFUSED = "RequestRefused"
    """The provider takes the request for a wrong one."""
    ANSWER_CUT = "AnswerCut"
    """The answer reached the limit of its tokens before its end."""
    ANSWER_INVALID = "AnswerInvalid"
    """What came is no answer in the provider's format."""
    ANSWER_TOO_LARGE = "AnswerTooLarge"
    """What came has more bytes than any answer to this question."""
    BUDGET_EXCEEDED = "BudgetExceeded"
    """It may cost more than what is left of the budget."""
    MODEL_BUDGET_SPENT = "ModelBudgetSpent"
    """The tokens or calls that this work may use are used up."""


POLICIES: Final[Mapping[ModelReason, Policy]] = {
    ModelReason.MODEL_AUTH_FAILED: Policy("Put a key that is valid for the model into its Secret."),
    ModelReason.MODEL_KEY_UNREADABLE: Policy(
        "Put the key, and nothing else, into the Secret: one line of visible ASCII characters."
    ),
    ModelReason.MODEL_ADDRESS_INVALID: Policy(
        "Correct the model's baseUrl: https, and as the provider documents it."
    ),
    ModelReason.MODEL_UNKNOWN: Policy(
        "Correct the model's name, or let the key's account have the model."
    ),
    ModelReason.MODEL_REFUSED: Policy("Name another model for this, or look at what it was asked."),
    ModelReason.RATE_LIMITED: Policy(
        "Wait for the time it names, or raise the provider's limit.", again=True
    ),
    ModelReason.USAGE_LIMITED: Policy("Wait for the provider's limit to reset, or raise it."),
    ModelReason.PROVIDER_UNAVAILABLE: Policy("Look at the provider's status page.", again=True),
    ModelReason.PROVIDER_UNREACHABLE: Policy(
        "Check the model's baseUrl, and that pods may reach it (network.models, where its address "
        "is a private one).",
        again=True,
    ),
    ModelReason.PROVIDER_UNTRUSTED: Policy(
        "Name the certificate authority of the address, where it is a private one."
    ),
    ModelReason.MODEL_TIMEOUT: Policy("Name a faster model, or give it more time."),
    ModelReason.PROMPT_TOO_LARGE: Policy("Ask about less, or name a model that reads more."),
    ModelReason.REQUEST_REFUSED: Policy(
        "Read the provider's message; check that the model is one of this provider's."
    ),
    ModelReason.ANSWER_CUT: Policy(
        "Name a model that needs fewer tokens for its answer, such as one that does not think."
    ),
    ModelReason.ANSWER_INVALID: Policy(
        "Check that provider and baseUrl belong together, and what stands between."
    ),
    ModelReason.ANSWER_TOO_LARGE: Policy(
        "Check that provider and baseUrl belong together, and what stands between."
    ),
    ModelReason.BUDGET_EXCEEDED: Policy("Raise the Plan's budget, or ask a cheaper model."),
    ModelReason.MODEL_BUDGET_SPENT: Policy("Allow more tokens for this, or ask less."),
}

MARK_IN_DATA = "MarkInData"
"""Errored: the change, or what was asked for, holds the mark of its own question."""
NOT_IN_FORM = "AnswerNotInForm"
"""Errored: what the model has answered is not in the form that was asked for."""

REMEDIES: Final[Mapping[str, str]] = {
    MARK_IN_DATA: "Look at the change: it holds a word that was drawn for its question alone.",
    NOT_IN_FORM: "Look at the change for text that speaks to whoever judges it; else name another "
    "model, one that keeps to a form, in models of the Project.",
}
"""What helps where question or answer cannot be used, by reason; all others have the table."""
