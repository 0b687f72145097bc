"""Why a model gave no answer, and what the person who asked can do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bernstein.cli.errors import CliError
from bernstein.cli.models.choice import Choice
from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm.errors import ModelError

_ADDRESS = "check that --provider and --base-url belong together: https, as the provider says it"
REMEDIES: Final[Mapping[ModelReason, str]] = {
    ModelReason.MODEL_AUTH_FAILED: "check that the key is one of this provider's, and still valid",
    ModelReason.MODEL_KEY_UNREADABLE: "put the key, and nothing else, into the file",
    ModelReason.MODEL_ADDRESS_INVALID: _ADDRESS,
    ModelReason.MODEL_UNKNOWN: "name one that the provider has, and that your key may ask, with "
    "--model",
    ModelReason.MODEL_REFUSED: "say it in other words, or name another model with --model",
    ModelReason.RATE_LIMITED: "wait, or name another model with --model",
    ModelReason.USAGE_LIMITED: "raise the limit of your account, or wait until it resets",
    ModelReason.PROVIDER_UNAVAILABLE: "try again later: the provider's status page tells more",
    ModelReason.PROVIDER_UNREACHABLE: "check the network; a proxy is named by BERNSTEIN_PROXY",
    ModelReason.PROVIDER_UNTRUSTED: "name the authority of a private address by BERNSTEIN_CA",
    ModelReason.MODEL_TIMEOUT: "give it more time with --timeout, or name a faster model",
    ModelReason.PROMPT_TOO_LARGE: "say in fewer words what to plan, or name another model",
    ModelReason.REQUEST_REFUSED: "check that --model is one of this provider's",
    ModelReason.ANSWER_CUT: "allow more with --max-tokens, or ask for less at once",
    ModelReason.ANSWER_INVALID: _ADDRESS,
    ModelReason.ANSWER_TOO_LARGE: _ADDRESS,
    ModelReason.BUDGET_EXCEEDED: "name a cheaper model with --model",
    ModelReason.MODEL_BUDGET_SPENT: "try again: it was sent as often as it may be",
}
"""Those of the judges speak of Secrets and Projects."""


def explained(error: ModelError, choice: Choice) -> CliError:
    """The error in words for who asked."""
    said = f": {error.said}" if error.said else ""
    text = f"{choice.model} ({choice.provider}) gave no plan: {error.message}{said}"
    if error.retry_after is not None:
        text += f" (it asks to wait {error.retry_after:.0f} s)"
    return CliError(str(error.reason), text, REMEDIES[error.reason])
