"""The recorder looks for secrets in hostile text while it watches the agent: what that costs grows
as the text does."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from bernstein.checks.content import printed, secrets
from bernstein.checks.content.private_keys import PrivateKeys
from bernstein.observe import redact
from bernstein.pods.session.messages import harmless

HOSTILE = [
    *("://", "sk-", "sk-" + "a" * 20, "eyJaaaaaaaa-", "xoxb-1-", "A_TOKEN=abcd ", "\x1b[mA"),
    *(
        "token=",
        "tokentoken_",
        "password='",
        "bearer ",
        "bearer aaaaaaaa",
        "secret: a1.",
        "-eyJaaaaaaaa.",
    ),
]
SMALL, FACTOR = 8_000, 8
LOOKS: dict[str, Callable[[str], object]] = {
    "mask": secrets.mask,
    "printed": printed.without_secrets,
    "redact": redact.without_secrets,
    "harmless": lambda text: harmless(text, len(text) // 4),
    "left out": lambda text: PrivateKeys().pass_over(f"-----BEGIN PRIVATE KEY\n{text}"),
}


def seconds(look: Callable[[str], object], text: str) -> float:
    """CPU time of the quickest of five."""
    found = []
    for _ in range(5):
        begin = process_time()
        look(text)
        found.append(process_time() - begin)
    return min(found)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("pattern", HOSTILE, ids=ascii)
def test_cost_grows_no_faster_than_the_text(pattern: str, look: str) -> None:
    text = pattern * (SMALL // len(pattern))
    small = seconds(LOOKS[look], text)
    large = seconds(LOOKS[look], text * FACTOR)
    print(f"\n{look}, {pattern!a}: {FACTOR} times the text costs {large / small:.1f} times as much")
    assert large < 3 * FACTOR * small
