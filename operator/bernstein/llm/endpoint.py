"""Where a model is asked, and with which key."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

import httpx

from bernstein.core import sanitise
from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm.errors import ModelError
from bernstein.llm.providers import BY_NAME, Provider
from bernstein.web import address
from bernstein.web.address import AddressError
from bernstein.web.secret import Secret, UnreadableSecretError


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider's API, as a configuration has it. Nothing that is shown of it is secret."""

    provider: str
    """Name of one of PROVIDERS."""
    key_source: str | Secret
    """File with the key, which is read for every request, since Secrets change; or the key."""
    base_url: str | None = None
    """None: the provider's own."""
    ca_file: str | None = None
    """Certificate authority of the address, in place of those that everybody trusts."""
    plain_http: bool = False
    """Let the key and all that is asked travel in clear text to other machines, too."""

    @property
    def speaks(self) -> Provider:
        """Raises ModelError(ModelAddressInvalid) for a provider that nobody knows."""
        provider = BY_NAME.get(self.provider)
        if provider is None:
            known = ", ".join(BY_NAME)
            name = sanitise.line(self.provider, 63)
            raise _invalid(f"there is no provider '{name}', only {known}")
        return provider

    def url(self, path: str) -> httpx.URL:
        """The address with the path below it. Raises ModelError(ModelAddressInvalid)."""
        base = self.base_url or self.speaks.base_url
        try:
            return address.below(base, path, plain_http=self.plain_http)
        except AddressError as error:
            raise _invalid(f"the model's address {error}") from None

    @property
    def host(self) -> str:
        """Of the address, for messages. Raises ModelError(ModelAddressInvalid)."""
        return sanitise.line(self.url("/").host, 253)

    def key(self) -> Secret:
        """Raises ModelError(ModelKeyUnreadable)."""
        if isinstance(self.key_source, Secret):
            return self.key_source
        try:
            return Secret.read(self.key_source)
        except UnreadableSecretError as error:
            text = f"the model's key {error}"
            raise ModelError(ModelReason.MODEL_KEY_UNREADABLE, text) from None

    def trusted(self) -> ssl.SSLContext:
        """Whose certificates count. Raises ModelError(ProviderUntrusted)."""
        try:
            return address.trusted(self.ca_file)
        except OSError as error:
            text = f"the certificate authority cannot be read: {type(error).__name__}"
            raise ModelError(ModelReason.PROVIDER_UNTRUSTED, text) from None


def _invalid(message: str) -> ModelError:
    return ModelError(ModelReason.MODEL_ADDRESS_INVALID, message)
