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
_WEB_TOKEN = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?")
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
    text = _ASSIGNED.sub(rf"\1={HIDDEN}", _WEB_TOKEN.sub(HIDDEN, text))
    return _AUTHORIZATION.sub(rf"\1 {HIDDEN}", text)
