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
LONG_SEARCHES = ["/", "///", "//a", "sk-0", "sk-a_"]
"""Where a pattern that goes on for as long as it can is begun anew at each of its letters."""
WORDS = "2026-11-26T10:00:00Z src/app.py:12 imported but unused, 3 of 17 tests have failed\n"
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


@pytest.mark.parametrize("pattern", [*HOSTILE, *LONG_SEARCHES], ids=ascii)
def test_no_text_costs_many_times_as_much_as_words(pattern: str) -> None:
    """The operator does so with every log that it keeps, a megabyte each."""
    usual, hostile = (seconds(secrets.mask, (t * SMALL)[:SMALL]) for t in (WORDS, pattern))
    print(f"\n{pattern!a} costs {hostile / usual:.1f} times as much as words")
    assert hostile < 5 * usual
