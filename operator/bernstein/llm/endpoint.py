"""Where a model is asked, and with which key."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

import httpx

from bernstein.core import sanitise
from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm.errors import ModelError
from bernstein.llm.providers import BY_NAME, Provider
from bernstein.observe.redact import HIDDEN, without_secrets

_KEY_BYTES = 4096
_TELLTALE = 16
"""Characters of a key in a row by which it is recognized in a text: all keys of a provider begin
with the same ten or so."""
_LONGEST_TEXT = 300


class Key:
    """A provider's key, which no representation shows."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return HIDDEN

    def reveal(self) -> str:
        """For the header of a request."""
        return self._value

    def is_in(self, text: str) -> bool:
        """Whether the text has the key, or 16 characters of it in a row."""
        size = min(_TELLTALE, len(self._value))
        starts = range(len(self._value) - size + 1)
        return any(self._value[start : start + size] in text for start in starts)

    def shown(self, text: str) -> str:
        """A text of a provider on one line, safe to show, at most 300 characters."""
        bounded = text[: 4 * _LONGEST_TEXT]
        line = sanitise.line(without_secrets(bounded), _LONGEST_TEXT)
        # What nobody sees may have stood between its characters.
        return HIDDEN if self.is_in(bounded) or self.is_in(line) else line


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider's API, as a configuration has it. Nothing in it is secret."""

    provider: str
    """Name of one of PROVIDERS."""
    key_file: str
    """File with the key; it is read for every request, since Secrets change."""
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
        text = self.base_url or self.speaks.base_url
        try:
            base = httpx.URL(text)
            if base.scheme not in {"http", "https"} or not base.host:
                raise _invalid("the model's address must start with https://")
            if base.userinfo or base.query or base.fragment:
                raise _invalid("the model's address may hold no user, query or fragment")
            if base.scheme == "http" and not self.plain_http and not _is_loopback(base.host):
                raise _invalid("the model's address would send the key in clear text: use https")
            return base.copy_with(raw_path=base.raw_path.rstrip(b"/") + path.encode("ascii"))
        except (httpx.InvalidURL, ValueError):
            raise _invalid("the model's address is no URL") from None

    @property
    def host(self) -> str:
        """Of the address, for messages. Raises ModelError(ModelAddressInvalid)."""
        return sanitise.line(self.url("/").host, 253)

    def key(self) -> Key:
        """Raises ModelError(ModelKeyUnreadable)."""
        try:
            with Path(self.key_file).open("rb") as file:
                data = file.read(_KEY_BYTES + 1)
            value = data.decode("ascii").strip()
        except OSError as error:
            raise _unreadable(f"the file of the model's key: {error.strerror}") from None
        except UnicodeDecodeError:
            raise _unreadable("the model's key has characters that are not ASCII") from None
        if not value or len(data) > _KEY_BYTES:
            raise _unreadable("the file of the model's key is empty, or too large for one")
        if not all("!" <= character <= "~" for character in value):
            raise _unreadable("the model's key has spaces or line breaks in it")
        return Key(value)

    def trusted(self) -> ssl.SSLContext:
        """Whose certificates count. Raises ModelError(ProviderUntrusted)."""
        try:
            if self.ca_file is not None:
                return ssl.create_default_context(cafile=self.ca_file)
            return httpx.create_ssl_context(trust_env=False)
        except OSError as error:
            text = f"the certificate authority cannot be read: {type(error).__name__}"
            raise ModelError(ModelReason.PROVIDER_UNTRUSTED, text) from None


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _invalid(message: str) -> ModelError:
    return ModelError(ModelReason.MODEL_ADDRESS_INVALID, message)


def _unreadable(message: str) -> ModelError:
    return ModelError(ModelReason.MODEL_KEY_UNREADABLE, message)
