"""A key or token of ours for somebody's API, which no representation shows."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from bernstein.core import sanitise
from bernstein.observe.redact import HIDDEN, without_secrets

_BYTES = 4096
_TELLTALE = 16
"""Characters in a row by which it is recognized in a text: all keys of a provider begin with the
same ten or so."""
_LONGEST_TEXT = 300


class UnreadableSecretError(Exception):
    """Where it should be there is none; the text ends a sentence that begins with its name."""


class Secret:
    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    @classmethod
    def read(cls, file: str) -> Self:
        """Raises UnreadableSecretError."""
        try:
            with Path(file).open("rb") as opened:
                data = opened.read(_BYTES + 1)
        except OSError as error:
            raise UnreadableSecretError(f"cannot be read: {error.strerror}") from None
        return cls.of(data)

    @classmethod
    def of(cls, data: bytes) -> Self:
        """That which stands alone in a file or a variable. Raises UnreadableSecretError."""
        try:
            value = data.decode("ascii").strip()
        except UnicodeDecodeError:
            raise UnreadableSecretError("has characters that are not ASCII") from None
        if not value or len(data) > _BYTES:
            raise UnreadableSecretError("is empty, or too large for one")
        if not all("!" <= character <= "~" for character in value):
            raise UnreadableSecretError("has spaces or line breaks in it")
        return cls(value)

    def __repr__(self) -> str:
        return HIDDEN

    def reveal(self) -> str:
        """For the header of a request."""
        return self._value

    def is_in(self, text: str) -> bool:
        """Whether the text has it, or 16 characters of it in a row."""
        size = min(_TELLTALE, len(self._value))
        starts = range(len(self._value) - size + 1)
        return any(self._value[start : start + size] in text for start in starts)

    def shown(self, text: str) -> str:
        """Somebody else's text on one line, safe to show, at most 300 characters."""
        bounded = text[: 4 * _LONGEST_TEXT]
        line = sanitise.line(without_secrets(bounded), _LONGEST_TEXT)
        # What nobody sees may have stood between its characters.
        return HIDDEN if self.is_in(bounded) or self.is_in(line) else line
