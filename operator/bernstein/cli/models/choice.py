"""Which model is asked, where, and with which key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bernstein.cli.errors import INVALID, CliError
from bernstein.core.plans.field_errors import did_you_mean, quoted
from bernstein.llm.endpoint import Endpoint
from bernstein.llm.providers import BY_NAME, Provider
from bernstein.web.secret import Secret, UnreadableSecretError

PROVIDER: Final = "anthropic"
"""That is asked where nobody says another."""
_MODELS: Final[Mapping[str, str]] = {
    "anthropic": "claude-haiku-4-5",
    "openrouter": "anthropic/claude-haiku-4.5",
}
"""Haiku 4.5, by the name that a provider has for it."""


@dataclass(frozen=True)
class Choice:
    """A model, and where it is asked."""

    model: str
    endpoint: Endpoint

    @property
    def provider(self) -> str:
        return self.endpoint.provider


def choose(
    provider: str,
    model: str | None,
    key_file: str | None,
    base_url: str | None,
    environment: Mapping[str, str],
) -> Choice:
    """Raises CliError for a provider that nobody knows, and where model or key are not said."""
    known = BY_NAME.get(provider)
    if known is None:
        text = f"there is no provider {quoted(provider)}{did_you_mean(provider, BY_NAME)}"
        remedy = f"choose with --provider among {', '.join(BY_NAME)}"
        raise CliError("ProviderUnknown", text, remedy, INVALID)
    chosen = model or _MODELS.get(provider)
    if chosen is None:
        text = f"no model was said, and none is usual for the provider {provider}"
        raise CliError("Usage", text, "say it with --model", INVALID)
    return Choice(chosen, Endpoint(provider, _key(known, key_file, environment), base_url))


def _key(provider: Provider, file: str | None, environment: Mapping[str, str]) -> Secret:
    """The file's before that of the environment. No text of an error holds anything of it."""
    names = provider.key_variables
    remedy = f"set {' or '.join(names)}, or name a file that holds nothing else with --api-key-file"
    found = next((name for name in names if environment.get(name)), None)
    try:
        if file is not None:
            return Secret.read(file)
        if found is not None:
            return Secret.of(environment[found].encode(errors="surrogateescape"))
    except UnreadableSecretError as error:
        where = f"of the file {quoted(file)}" if file is not None else f"in {found}"
        text = f"the key {where} {error}"
        raise CliError("ModelKeyUnreadable", text, remedy, INVALID) from None
    text = f"there is no key for the provider {provider.name}"
    raise CliError("ModelKeyMissing", text, remedy, INVALID)
