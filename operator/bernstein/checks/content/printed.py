"""What a check printed, without secrets: it is shown to people and to the next agent."""

from __future__ import annotations

from bernstein.checks.content import named, secrets
from bernstein.checks.content.private_keys import PrivateKeys


def without_secrets(text: str) -> str:
    """`text` with `***` in place of what has the form of a secret or stands under the name of one,
    and of lines of private keys. In linear time."""
    return secrets.mask(named.without(PrivateKeys().without(text)))


def load() -> None:
    """Load the detectors, which takes a moment, before anybody waits."""
    secrets.rules()
