"""Finds secrets in what is logged, by the name of their key and by their form."""

from __future__ import annotations

import re

from bernstein import urls

HIDDEN = "[redacted]"

_SECRET_KEY = re.compile(
    r"(?:^|[_.-])(?:token|password|passwd|authorization|api[_-]?key|secret|credentials?|cookie|"
    r"private[_-]?key|bearer)$",
    re.IGNORECASE,
)
_AUTHORIZATION = re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
_WEB_TOKEN = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}+(?P<rest>\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?)?")
"""Without its rest it is none; what was read of it is not read again from a later `eyJ`."""
_ASSIGNED = re.compile(
    r"\b([A-Z][A-Z0-9_]*?(?:TOKEN|PASSWORD|PASSWD|SECRET|API_?KEY|CREDENTIALS?|PRIVATE_KEY))=\S{4,}"
)
"""As `env` prints a variable."""


def is_secret(key: str) -> bool:
    """Whether values under this key are never shown: those of `token`, but not `input_tokens`."""
    return _SECRET_KEY.search(key) is not None


def without_secrets(text: str) -> str:
    """`text` with bearer and basic credentials, JSON Web Tokens, users in URLs, and the values of
    environment variables that are called like a secret replaced."""
    text = urls.without_users(text, f"{HIDDEN}@")
    # Most texts of a log are names and single words: what no pattern can match is seen at once.
    if "eyJ" in text:
        text = _WEB_TOKEN.sub(lambda match: HIDDEN if match["rest"] else match[0], text)
    if "=" in text:
        text = _ASSIGNED.sub(rf"\1={HIDDEN}", text)
    if len(text.split(maxsplit=1)) > 1:
        text = _AUTHORIZATION.sub(rf"\1 {HIDDEN}", text)
    return text


def found(text: str) -> set[str]:
    """What `without_secrets` replaces, but for users in URLs, with the names beside it."""
    tokens = (match[0] for match in _WEB_TOKEN.finditer(text) if match["rest"])
    named = (match[0] for form in (_ASSIGNED, _AUTHORIZATION) for match in form.finditer(text))
    return {*tokens, *named}
